// What the mock says would happen, for each kind of deed.
import type { Deed, Preview } from '../src/api'
import { isOfKyma, previewOfKyma } from './kymas'
import { dependents } from './reviews'
import type { World } from './state'

const kymaRef = { apiVersion: 'operator.kyma-project.io/v1beta2', kind: 'Kyma', namespace: 'kcp-system', name: 'demo' }
const greeting = (name: string, uid: string, over = {}) => ({
  ref: { apiVersion: 'operator.kyma-project.io/v1alpha1', kind: 'Greeting', namespace: 'shop', name },
  uid,
  deleting: false,
  finalizers: [],
  ...over,
})

/** previewOf is what the mock says would happen. */
export function previewOf(world: World, deed: Deed): Preview {
  if (isOfKyma(deed)) return previewOfKyma(world, deed)
  const lists = { diff: [], blocking: [], warnings: [], dependents: [], templates: [] }
  const plain: Preview = { way: 'Kyma', why: '', confirm: '', refused: '', ...lists }
  switch (deed.kind) {
    case 'add': {
      const there = deed.modules.find((m) => deed.direct && world.modules.some((have) => have.name === m.name && have.kyma))
      if (there) return { ...plain, way: 'Refused', refused: `the Kyma has module ${there.name} already: remove it from the Kyma first` }
      const way = deed.direct ? 'DirectConfirmed' : deed.community ? 'Direct' : 'Kyma'
      const names = deed.modules.map((m) => m.name)
      return {
        ...plain,
        way,
        confirm: deed.direct ? (names[0] ?? '') : '',
        templates:
          way === 'Kyma'
            ? []
            : deed.modules.map((m) => ({
                module: m.name,
                version: m.version ?? '1.0.0',
                namespace: m.namespace ?? '',
                hub: '',
                origin: deed.source ? 'https://example.com/all-modules.yaml' : '',
              })),
        warnings: deed.modules.some((m) => m.name === 'beacon') ? ['version 1.1.0 needs Kubernetes 1.30 or newer'] : [],
        diff:
          way === 'Kyma'
            ? [
                {
                  object: { ...kymaRef, name: deed.kyma?.split('/')[1] ?? '' },
                  change: 'Update',
                  fields: names.map((name, i) => ({
                    path: `spec.modules[${i + 3}]`,
                    from: '',
                    to: `name: ${name}\ncustomResourcePolicy: CreateAndDelete`,
                  })),
                },
              ]
            : names.map((name) => ({
                object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kyma-system', name },
                change: 'Create' as const,
                fields: [{ path: 'spec.replicas', from: '', to: '1' }],
              })),
      }
    }
    case 'delete': {
      const blocking =
        deed.module === 'greeter' || deed.module === 'docker-registry'
          ? [greeting('hello', 'u1'), greeting('bye', 'u2', { deleting: true, finalizers: ['example.com/clean-up'] })]
          : []
      const needing = dependents(deed.module)
      const unnamed = needing.filter(({ module }) => !(deed.with ?? []).includes(module)).map(({ module }) => module)
      const refused =
        unnamed.length > 0
          ? `module ${deed.module} cannot be deleted: ${unnamed.join(' and ')} need it`
          : blocking.length > 0 && !deed.cascade
            ? 'delete these first: Greeting shop/hello, Greeting shop/bye'
            : ''
      return {
        ...plain,
        blocking,
        dependents: needing,
        refused,
        confirm: deed.module,
        warnings: deed.cascade ? ['2 objects that people made are deleted with it'] : [],
        diff: [
          ...(deed.cascade ? blocking.map((b) => ({ object: b.ref, change: 'Delete' as const, fields: null })) : []),
          { object: kymaRef, change: 'Update' as const, fields: [{ path: 'spec.modules', from: `name: ${deed.module}`, to: '' }] },
        ],
      }
    }
    case 'upgrade':
      return {
        ...plain,
        diff: deed.items.map((item) => ({
          object: kymaRef,
          change: 'Update',
          fields: [{ path: `spec.modules[${item.module}].version`, from: '1.0.0', to: item.version ?? '' }],
        })),
      }
    case 'configure':
      return {
        ...plain,
        diff: [
          {
            object: { apiVersion: 'operator.kyma-project.io/v1alpha1', kind: 'Greeter', namespace: 'kyma-system', name: 'default' },
            change: 'Update',
            fields: [{ path: 'spec.greeting', from: 'Hello', to: 'Good morning' }],
          },
          { object: kymaRef, change: 'Unchanged', fields: null },
        ],
      }
    case 'rollout':
      return {
        ...plain,
        way: 'Rollout',
        why: deed.action === 'pause' ? 'no further Kyma begins; upgrades that have begun continue' : 'further Kymas get 1.3.0',
        warnings: deed.action === 'resume' && deed.target ? ['the failure of Kymas is forgiven: 2, among them shop-asia, shop-europe'] : [],
        diff: [
          {
            object: { ...kymaRef, kind: 'ModuleRollout', name: deed.rollout.split('/')[1] ?? '' },
            change: 'Update',
            fields:
              deed.action === 'pause'
                ? [{ path: 'spec.paused', from: '', to: 'true' }]
                : [{ path: 'spec.decision', from: '', to: `action: ${deed.action}\nwave: ${deed.wave ?? ''}` }],
          },
          ...(deed.version
            ? [
                {
                  object: { ...kymaRef, kind: 'ModuleReleaseMeta', name: deed.rollout.split('/')[1] ?? '' },
                  change: 'Update' as const,
                  fields: [{ path: `spec.channels[${deed.channel}].version`, from: '1.3.0', to: deed.version }],
                },
              ]
            : []),
        ],
      }
    case 'approve':
    case 'strategy':
      return {
        ...plain,
        diff: [
          {
            object: { ...kymaRef, name: deed.kyma?.split('/')[1] ?? '' },
            change: 'Update',
            fields: [
              deed.kind === 'approve'
                ? { path: `spec.modules[${deed.module}].approved`, from: '', to: deed.target ?? '' }
                : { path: `spec.modules[${deed.module}].upgradeStrategy`, from: '', to: deed.strategy ?? '' },
            ],
          },
        ],
      }
    case 'back':
    case 'retry':
      return {
        ...plain,
        way: 'Kyma',
        confirm: deed.kind === 'back' ? deed.module : '',
        warnings: deed.kind === 'back' ? [`the author does not vouch for that: the ModuleTemplate does not say so`] : [],
        diff: [
          {
            object: { ...kymaRef, name: deed.kyma?.split('/')[1] ?? '' },
            change: 'Update',
            fields: [{ path: `spec.modules[${deed.module}].avoid`, from: '', to: deed.kind === 'back' ? (deed.target ?? '') : '' }],
          },
        ],
      }
    case 'promote':
      if (deed.channel === 'fast' && deed.version === '3.4.1')
        return { ...plain, refused: 'channel fast of api-gateway offers 3.5.0, and 3.4.1 is lower: clusters would keep what they have' }
      return {
        ...plain,
        way: '',
        warnings: ['12 Kymas follow this channel and are upgraded'],
        diff: [
          {
            object: { ...kymaRef, kind: 'ModuleReleaseMeta', name: deed.release.split('/')[1] ?? '' },
            change: 'Update',
            fields: [{ path: `spec.channels[${deed.channel}].version`, from: '1.0.0', to: deed.version }],
          },
        ],
      }
  }
  return {
    ...plain,
    diff: [
      {
        object: kymaRef,
        change: 'Update',
        fields: [{ path: 'spec.channel', from: 'regular', to: 'channel' in deed ? (deed.channel ?? '') : 'true' }],
      },
    ],
  }
}
