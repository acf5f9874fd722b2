// What the mock knows of rollouts, of the fleet, and of the history of modules.
import type { FleetCause, FleetModule, Revision, Rollout, RolloutAct, RolloutChannel, RolloutDetail, Wave, Way } from '../src/api'
import type { Reply } from './lists'
import { events } from './fixtures'
import type { World } from './state'

const minutes = (n: number) => new Date(Date.now() - n * 60_000).toISOString()
const digest = 'sha256:' + '8f43c1d2'.repeat(8)

const wave = (name: string, over: Partial<Wave>): Wave => ({
  name,
  state: 'Pending',
  allowedFailures: 0,
  total: 0,
  waiting: 0,
  updating: 0,
  ready: 0,
  failed: 0,
  brokenBefore: 0,
  skipped: 0,
  ...over,
})

const channel = (name: string, over: Partial<RolloutChannel>): RolloutChannel => ({
  name,
  from: { version: '1.2.0', digest },
  to: { version: '1.3.0', digest },
  phase: 'Progressing',
  underway: 0,
  waves: [],
  worst: [],
  ...over,
})

export const haltedWhy = '3 of 120 Kymas of wave early failed, and 1 may: resume to go on and forgive them, or abort'

const halted = channel('regular', {
  phase: 'Halted',
  wave: 'early',
  waitsFor: 'Decision',
  underway: 3,
  message: haltedWhy,
  waves: [
    wave('canary', { state: 'Passed', total: 3, ready: 3, soak: '2h', since: minutes(400) }),
    wave('early', {
      state: 'Halted',
      since: minutes(44),
      soak: '24h',
      share: '10%',
      maxConcurrent: 50,
      allowedFailures: 1,
      total: 120,
      waiting: 61,
      updating: 3,
      ready: 48,
      failed: 3,
      brokenBefore: 2,
      skipped: 3,
    }),
    wave('rest', { maxConcurrent: 200, approval: true, total: 1071, waiting: 1060, skipped: 11, allowedFailures: 10 }),
    wave('others', { total: 4, waiting: 4 }),
  ],
  worst: [
    {
      kyma: 'shop-asia',
      reason: 'ProgressDeadlineExceeded',
      message: 'Deployment greeter-system/greeter-manager: 0 of 1 replicas are available: the image cannot be pulled',
      since: minutes(12),
    },
    { kyma: 'shop-europe', reason: 'RuntimeLost', message: 'the runtime has not answered since its upgrade began', since: minutes(9) },
    { kyma: 'demo', reason: 'UnreadyInSoak', since: minutes(6) },
  ],
})

const soaking = channel('fast', {
  wave: 'canary',
  waitsFor: 'Soak',
  message: 'wave canary is ready and is observed',
  nextAt: new Date(Date.now() + 40 * 60_000).toISOString(),
  from: { version: '1.29.0' },
  to: { version: '1.30.0', digest },
  waves: [
    wave('canary', { state: 'Soaking', since: minutes(80), soak: '2h', total: 5, ready: 5 }),
    wave('rest', { total: 95, waiting: 95, maxConcurrent: 20 }),
  ],
})

const waiting = channel('fast', {
  phase: 'Waiting',
  wave: 'rest',
  waitsFor: 'Approval',
  message: 'wave rest waits for approval',
  from: { version: '3.4.1' },
  to: { version: '3.5.0', digest },
  waves: [
    wave('canary', { state: 'Passed', total: 2, ready: 2 }),
    wave('rest', { state: 'Waiting', total: 10, waiting: 10, approval: true }),
  ],
})

const rollout = (name: string, phase: Rollout['phase'], channels: RolloutChannel[], over: Partial<Rollout> = {}): Rollout => ({
  name,
  namespace: 'kcp-system',
  phase,
  observed: true,
  armed: phase !== 'Pending',
  onFailure: 'Halt',
  progressDeadline: '30m',
  channels,
  ...over,
})

const completed = (name: string, n: number) =>
  channel(name, {
    phase: 'Completed',
    message: '1.3.0 is released to every Kyma',
    waves: [wave('all', { state: 'Passed', total: n, ready: n })],
  })

export const all: Rollout[] = [
  rollout('greeter', 'Halted', [halted, completed('fast', 9)], {
    decision: { action: 'approve', target: '1.3.0@' + digest, channel: 'regular', wave: 'early', at: minutes(44), by: 'ann@example.com' },
  }),
  rollout('api-gateway', 'Waiting', [waiting]),
  rollout('telemetry', 'Progressing', [soaking]),
  rollout('warden', 'Completed', [completed('', 40)]),
  rollout('keda', 'Pending', [], { onFailure: 'Rollback' }),
]

const idOf = (r: Rollout) => `${r.namespace}/${r.name}`
const allowed = (r: Rollout) => ({ allowed: r.name !== 'telemetry', ...(r.name === 'telemetry' ? { why } : {}) })
const why = 'You may not change this rollout. Ask an administrator of the cluster for permission.'

function actsOf(r: Rollout, c: RolloutChannel): RolloutAct[] {
  const of = (action: 'approve' | 'resume' | 'abort', over = {}): RolloutAct => ({
    deed: { kind: 'rollout', rollout: idOf(r), action, channel: c.name, target: `${c.to.version}@${digest}`, wave: c.wave, ...over },
    ...allowed(r),
  })
  if (c.phase === 'Completed') return []
  const abort = of('abort', { version: c.from?.version })
  if (c.phase === 'Halted') return [of('resume'), abort]
  return c.phase === 'Waiting' ? [of('approve'), abort] : [abort]
}

function detail(r: Rollout): RolloutDetail {
  return {
    rollout: r,
    selects: { canary: 'ring=canary', early: 'ring in (early,canary)' },
    conditions: [
      { type: 'Armed', status: r.armed ? 'True' : 'False', reason: 'Armed', message: 'the release is marked' },
      { type: 'Halted', status: r.phase === 'Halted' ? 'True' : 'False', reason: 'TooManyFailed', message: 'wave early has failures' },
    ],
    actions: [{ deed: { kind: 'rollout', rollout: idOf(r), action: r.paused ? 'resume' : 'pause' }, ...allowed(r) }],
    decisions: (r.channels ?? []).map((c) => actsOf(r, c)),
    events: events.slice(0, 1),
    unread: [],
  }
}

const ok = (body: unknown): Reply => ({ status: 200, body })

/** answer is that of /rollouts and of one rollout. */
export function answer(world: World, rest: string[], url: URL): Reply {
  const blind = world.scenario === 'blind'
  const none = blind || world.scenario === 'empty'
  if (rest.length === 0) {
    const phases = url.searchParams.getAll('phase')
    const search = (url.searchParams.get('search') ?? '').toLowerCase()
    const items = none ? [] : all.filter((r) => (phases.length === 0 || phases.includes(r.phase)) && r.name.includes(search))
    const kind = 'ModuleRollout.operator.kyma-project.io'
    return ok({ items, total: items.length, unread: blind ? [{ kind, reason: 'Forbidden', message: `you may not list ${kind}` }] : [] })
  }
  const found = all.find((r) => r.namespace === rest[0] && r.name === rest[1])
  if (found && !none) return ok(detail(found))
  return { status: 404, body: { error: { reason: 'NotFound', message: `there is no ModuleRollout ${rest.join('/')}` } } }
}

const version = (name: string, kymas: number, over = {}) => ({ version: name, kymas, troubled: 0, channels: [], ...over })

export const fleet: FleetModule[] = [
  {
    namespace: 'kcp-system',
    name: 'greeter',
    mandatory: false,
    kymas: 1198,
    waiting: 1124,
    troubled: 4,
    versions: [
      version('1.3.0', 57, { troubled: 3, channels: ['fast', 'regular'] }),
      version('1.2.0', 1120),
      version('1.1.0', 12),
      version('1.0.4', 4),
      version('0.9.9', 2, { troubled: 1 }),
      version('', 1),
    ],
    others: { versions: 2, kymas: 2 },
  },
  {
    namespace: 'kcp-system',
    name: 'api-gateway',
    mandatory: false,
    kymas: 12,
    waiting: 10,
    troubled: 0,
    versions: [version('3.5.0', 3, { channels: ['fast'] }), version('3.4.1', 9, { channels: ['regular'] })],
    others: { versions: 0, kymas: 0 },
  },
  {
    namespace: 'kcp-system',
    name: 'notes',
    mandatory: false,
    kymas: 7,
    waiting: 0,
    troubled: 0,
    versions: [version('2.1.0', 0, { channels: ['fast'] }), version('2.0.0', 7, { channels: ['regular'] })],
    others: { versions: 0, kymas: 0 },
  },
  {
    namespace: 'kcp-system',
    name: 'warden',
    mandatory: true,
    kymas: 40,
    waiting: 0,
    troubled: 0,
    versions: [version('1.2.0', 40)],
    others: { versions: 0, kymas: 0 },
  },
]

/** causes are what is wrong in the mock's fleet. */
export const causes: FleetCause[] = [
  {
    id: '5d1c6a1e0f3b2a49',
    namespace: 'kcp-system',
    module: 'beacon',
    version: '1.1.0',
    reason: 'ManagerNotReady',
    pattern: 'Deployment beacon-system/beacon-manager: * of * replicas are available: the image cannot be pulled',
    state: 'Error',
    message: 'Deployment beacon-system/beacon-manager: 0 of 1 replicas are available: the image cannot be pulled',
    modules: 1,
    kymas: 1,
    since: minutes(64),
  },
  {
    id: 'a0b1c2d3e4f50617',
    namespace: 'kcp-system',
    module: 'api-gateway',
    version: '3.4.1',
    reason: 'Warning',
    pattern: 'APIGateway kyma-system/default: the domain has no certificate',
    state: 'Warning',
    message: 'APIGateway kyma-system/default: the domain has no certificate',
    modules: 2,
    kymas: 1,
  },
]

const other = 'sha256:' + '0a1b2c3d'.repeat(8)

const revision = (number: number, of: string, over: Partial<Revision>): Revision => ({
  number,
  version: of,
  digest,
  before: 'Ready',
  outcome: 'Succeeded',
  current: false,
  wayBack: false,
  avoided: false,
  ...over,
})

export const wayOf = (kyma: string, module: string): Way => ({
  back: { deed: { kind: 'back', kyma, module, target: `1.2.0@${digest}`, version: '1.1.0' }, allowed: true },
  retry: { deed: { kind: 'retry', kyma, module }, allowed: kyma !== 'kcp-system/shop-europe', why: 'You may not change the Kyma.' },
})

export const timeline: Revision[] = [
  revision(9, '1.2.0', { at: minutes(20), before: 'Error', current: true }),
  revision(8, '1.3.0', { at: minutes(55), digest: other, outcome: 'RolledBack', reason: 'ProgressDeadlineExceeded', avoided: true }),
  revision(6, '1.1.0', { at: minutes(60 * 24 * 6), digest: other, wayBack: true }),
]
