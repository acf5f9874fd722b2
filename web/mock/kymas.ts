// What the mock says of a Kyma as a whole: what helps, where a new one can be, and what deeds would change.
import type { Module, Preview } from '../src/api'
import type { Fix, KymaDeed, NewKyma } from '../src/api'
import type { World } from './state'

/** fixesOf is what helps a module of a Kyma. */
export function fixesOf(m: Module): Fix[] {
  const kyma = m.kyma ?? ''
  const of = (fix: Partial<Fix>): Fix => ({ kind: 'channel', title: '', module: m.name, deed: null, allowed: true, ...fix })
  switch (m.installation.reason) {
    case 'ChannelNotFound':
      return [
        of({ title: 'Follow channel fast (1.1.0)', deed: { kind: 'channel', kyma, module: m.name, channel: 'fast' } }),
        of({ title: "Follow the Kyma's channel regular (1.0.0)", deed: { kind: 'channel', kyma, module: m.name } }),
      ]
    case 'DeletionBlocked':
      return [of({ kind: 'delete', title: 'See what holds the deletion' })]
    case 'RuntimeUnauthorized':
      return [of({ kind: 'connect', title: 'Connect it with a kubeconfig', module: undefined })]
  }
  return []
}

/** place is what the server says of where a Kyma can be created. */
export function newKyma(world: World): NewKyma {
  if (world.scenario === 'empty')
    return {
      allowed: false,
      why: 'You may not create Kymas. Ask an administrator of the cluster for permission.',
      namespaces: [],
      unread: [],
    }
  const channels = (regular: string, fast: string) => [
    { channel: 'fast', version: fast },
    { channel: 'regular', version: regular, missing: regular === '' },
  ]
  return {
    allowed: true,
    unread: [],
    namespaces: [
      {
        namespace: 'kcp-system',
        connect: true,
        channels: ['fast', 'regular'],
        releases: ['2.2'],
        modules: [
          { name: 'greeter', channels: channels('1.2.0', '1.3.0') },
          { name: 'beacon', channels: channels('', '0.2.0') },
        ],
        kymas: world.kymas.map((kyma) => kyma.name),
      },
      { namespace: 'tenant', connect: false, channels: [], releases: [], modules: [], kymas: [] },
    ],
  }
}

/** previewOfKyma is what the mock says would become of a Kyma. */
export function previewOfKyma(world: World, deed: KymaDeed): Preview {
  const [namespace = '', name = ''] = deed.kyma.split('/')
  const object = { apiVersion: 'operator.kyma-project.io/v1beta2', kind: 'Kyma', namespace, name }
  const lists = { diff: [], blocking: [], warnings: [], dependents: [], templates: [] }
  const plain: Preview = { way: 'KymaItself', why: '', confirm: '', refused: '', ...lists }
  const secret = { object: { apiVersion: 'v1', kind: 'Secret', namespace, name }, change: 'Create' as const, fields: [] }
  switch (deed.kind) {
    case 'create':
      return {
        ...plain,
        why: deed.kubeconfig
          ? 'the lifecycle manager installs its modules into the cluster of the kubeconfig'
          : 'nothing is installed before it is connected',
        warnings: deed.kubeconfig || deed.new.local ? [] : ['nothing leads to its cluster yet: connect it with a kubeconfig afterwards'],
        diff: [
          ...(deed.kubeconfig ? [secret] : []),
          { object, change: 'Create', fields: [{ path: 'spec.channel', from: '', to: deed.channel ?? '' }] },
        ],
      }
    case 'connect':
      return deed.kubeconfig.includes('wrong')
        ? { ...plain, refused: 'the cluster does not accept the credentials of the kubeconfig' }
        : { ...plain, why: 'the lifecycle manager uses this kubeconfig from then on', diff: [secret] }
    case 'deleteKyma':
      return {
        ...plain,
        why: 'its modules are removed first, and then the Kyma; the cluster itself and its access Secret stay',
        confirm: name,
        diff: [
          { object, change: 'Delete', fields: null },
          ...world.modules
            .filter((m) => m.kyma === deed.kyma)
            .map((m) => ({ object: { ...object, kind: 'Module', namespace: '', name: m.name }, change: 'Delete' as const, fields: null })),
        ],
      }
    case 'suspend':
    case 'resume':
      return {
        ...plain,
        why:
          deed.kind === 'suspend'
            ? 'what runs stays as it is until the Kyma is resumed'
            : 'the lifecycle manager takes up what was changed meanwhile',
        diff: [{ object, change: 'Update', fields: [{ path: 'metadata.labels.skip-reconciliation', from: '', to: 'true' }] }],
      }
  }
}

/** done is what a deed about a Kyma changes in the mock's world. */
export function done(world: World, deed: KymaDeed, line: World['kymas'][number]): void {
  if (deed.kind === 'suspend') world.suspended.add(deed.kyma)
  if (deed.kind === 'resume') world.suspended.delete(deed.kyma)
  if (deed.kind === 'create') world.kymas = [...world.kymas, line]
  if (deed.kind === 'deleteKyma') world.kymas = world.kymas.filter((kyma) => `${kyma.namespace}/${kyma.name}` !== deed.kyma)
}

/** isOfKyma tells deeds about a Kyma as a whole apart. */
export const isOfKyma = (deed: { kind: string }): deed is KymaDeed =>
  ['create', 'connect', 'deleteKyma', 'suspend', 'resume'].includes(deed.kind)
