// The objects of the mock's modules: a Deployment whose pod fails, what the operator made, what is missing, and what may not be read.
import type { Json, JsonObject, Module, State } from '../src/api'
import type { Container, ObjectDetail, ObjectNode, ObjectTree, WantedObject } from '../src/api'
import { idOf } from '../src/explorer/tree'
import { nothing, ok, wrong, type Reply } from './lists'
import type { World } from './state'

const minutes = (n: number) => new Date(Date.now() - n * 60_000).toISOString()

interface Made {
  apiVersion: string
  kind: string
  name: string
  parent?: string
  state?: State
}

/** hostile is text that a page must show as text. */
export const hostile = '<img src=x onerror="window.hacked=1">\u202egnp.exe'

function nodeOf(namespace: string, { parent, ...one }: Made, over: Partial<ObjectNode> = {}): ObjectNode {
  const ref = { apiVersion: one.apiVersion, kind: one.kind, namespace, name: one.name }
  return {
    ...ref,
    id: idOf(ref),
    parent,
    uid: `uid-${one.kind}-${one.name}`,
    origin: parent ? 'Owned' : 'Applied',
    presence: 'Present',
    state: one.state ?? 'Ready',
    worst: one.state ?? 'Ready',
    created: minutes(90),
    ...over,
  }
}

/** absent is what is not known of an object that was not read. */
const absent: Partial<ObjectNode> = { state: undefined, worst: undefined, uid: undefined, created: undefined }

const image = 'registry.example.com/beacon:1.1.0'

/** treeOf are the objects of a module, as the server orders them: the worst branches first. */
export function treeOf(m: Module): ObjectTree {
  const ns = `${m.name}-system`
  const bad = m.state === 'Error'
  const at = (one: Made, over?: Partial<ObjectNode>) => nodeOf(ns, one, over)
  const state: State = bad ? 'Error' : 'Ready'
  const deployment = at({ apiVersion: 'apps/v1', kind: 'Deployment', name: `${m.name}-manager`, state })
  const replicas = at({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${m.name}-manager-5d8`, parent: deployment.id, state })
  const pod = at(
    { apiVersion: 'v1', kind: 'Pod', name: `${m.name}-manager-5d8c`, parent: replicas.id, state },
    bad
      ? {
          reason: 'ImageNotFound',
          message: `Container manager has been waiting for its image for 34 min: image ${image} is not in its registry`,
          remedy: "Correct the image in the module's content, or publish it.",
        }
      : {},
  )
  const own = at({ apiVersion: 'operator.kyma-project.io/v1alpha1', kind: 'Greeter', name: 'default' }, { origin: 'Resource' })
  const failed = { state: 'Error', worst: 'Error', reason: 'Missing', message: 'it does not exist' } as const
  const gone: Partial<ObjectNode> = { ...absent, ...failed, presence: 'Missing' }
  const nodes: ObjectNode[] = [
    deployment,
    replicas,
    pod,
    ...(bad ? [at({ apiVersion: 'v1', kind: 'Service', name: 'beacon' }, gone)] : []),
    own,
    at({ apiVersion: 'v1', kind: 'ConfigMap', name: 'made-by-operator', parent: own.id }),
    at({ apiVersion: 'v1', kind: 'Secret', name: 'credentials', parent: own.id }),
    at(
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', name: 'reader' },
      { ...absent, presence: 'Unread', message: 'you may not read Role reader' },
    ),
    ...Array.from({ length: 14 }, (_, i) => at({ apiVersion: 'v1', kind: 'ConfigMap', name: `settings-${i}` })),
  ]
  return {
    nodes,
    total: nodes.length,
    cuts: [],
    unread: [{ kind: 'Event', namespace: ns, reason: 'Forbidden', message: `you may not list Event in namespace ${ns}` }],
  }
}

const containers: Container[] = [
  { name: 'setup', kind: 'init', image: 'setup:1', state: 'terminated', reason: 'Completed', ready: true, restarts: 0, previous: false },
  { name: 'manager', kind: 'container', image, state: 'waiting', reason: 'ImagePullBackOff', ready: false, restarts: 3, previous: true },
  { name: 'proxy', kind: 'sidecar', image: 'proxy:2', state: 'running', ready: true, restarts: 0, previous: false },
]

function liveOf(node: ObjectNode): JsonObject {
  const metadata = { name: node.name, namespace: node.namespace ?? '', labels: { app: 'beacon', note: hostile }, uid: node.uid ?? '' }
  const base: JsonObject = { apiVersion: node.apiVersion, kind: node.kind, metadata }
  if (node.kind === 'Secret') return { ...base, data: { password: '(hidden, 21 bytes)' } }
  return { ...base, spec: { replicas: 2, template: { image } } as Json }
}

const late = { reason: 'Timeout', message: 'the registry did not answer in time', remedy: 'try again' }

function wantedOf(node: ObjectNode): WantedObject {
  const none: WantedObject = { state: 'None', problem: null, object: null, difference: null }
  const made = `${node.kind} ${node.name} is not installed by the module: its owner, or a user, made it`
  if (node.origin === 'Owned') return { ...none, note: made }
  if (node.kind === 'ConfigMap')
    return { ...none, state: 'Unreadable', problem: late }
  const object: JsonObject = { apiVersion: node.apiVersion, kind: node.kind, spec: { replicas: 1 } }
  return { state: 'Done', problem: null, version: '1.1.0', object, difference: [{ path: 'spec.replicas', wanted: '1', live: '2' }] }
}

const waiting = () => ({ type: 'Ready', status: 'False', reason: 'Waiting', message: hostile, since: minutes(34) })

function detailOf(node: ObjectNode, url: URL): ObjectDetail {
  const there = node.presence === 'Present'
  const wanted = url.searchParams.get('wanted') === 'true'
  return {
    ref: { apiVersion: node.apiVersion, kind: node.kind, namespace: node.namespace, name: node.name },
    id: node.id,
    resource: node.kind.toLowerCase() + 's' + (node.apiVersion.includes('/') ? '.' + (node.apiVersion.split('/')[0] ?? '') : ''),
    presence: node.presence,
    state: node.state,
    message: node.message,
    uid: node.uid,
    created: node.created,
    deleting: false,
    owners: there && node.kind === 'Pod' ? [{ ...refOfParent(node), controller: true }] : [],
    conditions: there && node.kind !== 'Secret' ? [waiting()] : [],
    containers: there && node.kind === 'Pod' ? containers : [],
    events: there
      ? [
          {
            type: 'Warning',
            reason: 'Failed',
            message: `Failed to pull image "${image}" ${hostile}`,
            object: { apiVersion: 'v1', kind: node.kind, namespace: node.namespace, name: node.name },
            count: 14,
            last: minutes(1),
          },
        ]
      : [],
    unread: [],
    live: there ? liveOf(node) : null,
    notes: node.kind === 'Secret' ? ['the values of Secrets are not shown, only how long they are'] : [],
    wanted: wanted ? wantedOf(node) : null,
  }
}

const refOfParent = (node: ObjectNode) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  namespace: node.namespace,
  name: node.name.replace(/.$/, ''),
})

function logOf(url: URL): Reply {
  const asked = (name: string) => url.searchParams.get(name) ?? ''
  const line = (n: number, text: string) => ({ at: minutes(n), text })
  const first = asked('previous') ? line(9, 'this was before the restart') : line(8, `container ${asked('container')} begins`)
  return ok({ lines: [first, line(7, hostile), line(6, 'the last line')], end: 'Complete' })
}

/** answer is what the server says of the objects of a module. */
export function answer(world: World, m: Module, what: 'tree' | 'object' | 'logs', url: URL): Reply {
  if (what === 'logs') {
    if (world.scenario === 'blind')
      return wrong(403, 'Forbidden', 'you may not read logs in namespace x: ask an administrator of the cluster for permission')
    return logOf(url)
  }
  const tree = nothing(world) ? { nodes: [], total: 0, cuts: [], unread: [] } : treeOf(m)
  if (what === 'tree') return ok(tree)
  const id = idOf({
    apiVersion: url.searchParams.get('apiVersion') ?? 'v1',
    kind: url.searchParams.get('kind') ?? '',
    namespace: url.searchParams.get('namespace') ?? '',
    name: url.searchParams.get('name') ?? '',
  })
  const node = tree.nodes?.find((one) => one.id === id)
  if (node) return ok(detailOf(node, url))
  const missing = nodeOf(url.searchParams.get('namespace') ?? '', {
    apiVersion: url.searchParams.get('apiVersion') ?? 'v1',
    kind: url.searchParams.get('kind') ?? '',
    name: url.searchParams.get('name') ?? '',
  })
  return ok(detailOf({ ...missing, ...absent, presence: 'Missing', message: 'it does not exist' }, url))
}
