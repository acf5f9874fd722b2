// What the mock says happened to a Kyma or a module.
import type { History, HistoryEntry } from '../src/api'
import { ok, type Reply } from './lists'
import { timeline } from './rollouts'
import type { World } from './state'

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

function entries(world: World, id: string, module: string): HistoryEntry[] {
  const of = module || 'beacon'
  return [
    ...world.operations.map((o) => ({
      at: o.created,
      kind: 'Operation' as const,
      what: o.title,
      who: o.user,
      whoIs: 'User' as const,
      state: o.state,
      operation: o.id,
      fields: [{ path: `spec.modules[${of}].channel`, from: 'regular', to: 'fast' }],
    })),
    {
      at: ago(15),
      kind: 'Edit',
      what: 'the client last wrote the Kyma, and holds these fields',
      who: 'kubectl-edit',
      whoIs: 'Client',
      object: 'Kyma ' + id,
      fields: [{ path: 'spec.channel' }, { path: `spec.modules[${of}].name` }],
    },
    {
      at: ago(12),
      kind: 'Event',
      what: 'the image cannot be pulled',
      who: 'lifecycle-manager',
      whoIs: 'Component',
      module: of,
      reason: 'ModuleError',
      state: 'Warning',
      count: 3,
    },
    { at: ago(10), kind: 'Condition', what: 'module beacon is in state Error', module, reason: 'ModuleError', state: 'Ready False' },
    {
      at: ago(70),
      kind: 'Rollout',
      what: 'wave early of the rollout of version 1.3.0 began',
      module: 'greeter',
      rollout: 'kcp-system/greeter',
      fields: [{ path: 'version', from: '1.2.0', to: '1.3.0' }],
    },
    ...(module
      ? timeline.map((r) => ({
          at: r.at ?? '',
          kind: 'Revision' as const,
          what: `version ${r.version ?? ''} was asked for`,
          module,
          revision: r.number,
          state: r.outcome,
        }))
      : []),
  ]
}

/** history is the answer to a question for it. */
export function history(world: World, id: string, module: string, url: URL): Reply {
  const all = entries(world, id, module).sort((a, b) => b.at.localeCompare(a.at))
  const chosen = (name: string, value: string | undefined) => {
    const wanted = url.searchParams.getAll(name)
    return wanted.length === 0 || wanted.includes(value ?? '')
  }
  const fit = all.filter((entry) => chosen('kind', entry.kind) && chosen('who', entry.who))
  const offset = Number(url.searchParams.get('offset') ?? '0')
  const answer: History = {
    items: fit.slice(offset, offset + Number(url.searchParams.get('limit') ?? '50')),
    total: fit.length,
    unread: [],
    horizon: ['Events: as long as the cluster keeps them, usually for an hour.'],
    who: [...new Set(all.flatMap((entry) => entry.who ?? []))],
  }
  return ok(answer)
}
