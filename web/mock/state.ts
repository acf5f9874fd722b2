// The state of the mock's world: what was done in it, and who watches.
import type { Deed, KymaLine, Module, Operation, Source } from '../src/api'
import * as fixtures from './fixtures'

export const scenarios = ['data', 'empty', 'blind', 'forbidden', 'error', 'slow', 'many', 'hostile', 'login', 'fine'] as const
export type Scenario = (typeof scenarios)[number]

const nasty = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'

/** behind is a module that its user upgrades, and did not. */
const behind: Partial<Module> = {
  type: 'manageable',
  channel: undefined,
  version: { desired: '1.1.0', installed: '1.1.0', available: '1.2.0', outdated: true, mismatch: false },
}

/** many makes a fleet. */
function many(): { kymas: KymaLine[]; modules: Module[] } {
  const states = ['Ready', 'Ready', 'Ready', 'Ready', 'Processing', 'Warning', 'Error'] as const
  const kymas = Array.from({ length: 5000 }, (_, i) =>
    fixtures.kyma(`runtime-${String(i).padStart(4, '0')}`, { state: states[i % 7], outdated: i % 3 }),
  )
  const modules = Array.from({ length: 25_000 }, (_, i) =>
    fixtures.module_(`module-${i % 5}`, {
      kyma: `kcp-system/runtime-${String(Math.floor(i / 5)).padStart(4, '0')}`,
      state: states[i % 7],
      ...(i % 5 === 1 ? behind : {}),
    }),
  )
  return { kymas, modules }
}

function hostile(): { kymas: KymaLine[]; modules: Module[] } {
  const modules = [
    fixtures.module_(nasty, { state: 'Error', installation: { state: 'Failed', reason: nasty, message: nasty } }),
    fixtures.module_('javascript:alert(1)', {
      state: 'Warning',
      module: { state: 'Warning', message: '[click](javascript:alert(1)) **bold**' },
    }),
    fixtures.module_('a'.repeat(253), { state: 'Nonsense' as never, type: 'constructor' as never }),
    fixtures.module_('__proto__', { installation: { state: 'toString' as never } }),
  ]
  return { kymas: [fixtures.kyma('demo', { message: nasty, state: 'Error' })], modules }
}

export class World {
  readonly scenario: Scenario
  kymas: KymaLine[] = fixtures.kymas
  modules: Module[] = fixtures.modules
  sources: Source[] = fixtures.sources
  operations: Operation[] = []
  /** suspended are the Kymas that are left alone. */
  readonly suspended = new Set<string>()
  loggedIn: boolean
  /** read are the versions that were read in the background. */
  readonly read = new Set<string>()
  private readonly watchers = new Set<() => void>()
  private last = 0

  constructor(scenario: Scenario) {
    this.scenario = scenario
    this.loggedIn = scenario !== 'login'
    if (scenario === 'many') Object.assign(this, many())
    if (scenario === 'hostile') Object.assign(this, hostile())
    if (scenario === 'empty' || scenario === 'blind') Object.assign(this, { kymas: [], modules: [], sources: [] })
    if (scenario === 'fine') {
      this.modules = fixtures.modules.filter((m) => m.state === 'Ready' && !m.version.outdated)
      this.kymas = fixtures.kymas.filter((k) => k.state === 'Ready')
    }
    if (scenario === 'data' || scenario === 'hostile') this.operations = past(scenario === 'hostile' ? nasty : '')
  }

  watch(look: () => void): () => void {
    this.watchers.add(look)
    return () => {
      this.watchers.delete(look)
    }
  }

  changed(): void {
    this.watchers.forEach((look) => look())
  }

  /** begin makes an operation that continues by itself, a step every moment. */
  begin(deed: Deed, title: string, steps: string[]): Operation {
    const operation: Operation = {
      id: `op-${++this.last}`,
      deed,
      title,
      user: 'admin',
      state: 'Running',
      created: new Date().toISOString(),
      access: { resume: true, cancel: true },
      steps: steps.map((step, i) => ({ title: step, state: i === 0 ? 'Running' : 'Waiting' })),
      objects: [
        {
          ref: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kyma-system', name: 'manager' },
          state: 'Processing',
          message: '0 of 1 replicas are available',
        },
      ],
    }
    this.operations = [operation, ...this.operations]
    this.changed()
    setTimeout(() => this.advance(operation.id), 1200)
    return operation
  }

  private advance(id: string): void {
    const operation = this.operations.find((one) => one.id === id)
    if (!operation || operation.state !== 'Running') return
    const steps = (operation.steps ?? []).map((step) => ({ ...step }))
    const now = steps.findIndex((step) => step.state === 'Running')
    const running = steps[now]
    if (running) running.state = 'Done'
    const next = steps[now + 1]
    if (next) next.state = 'Running'
    const over = next === undefined
    this.put({
      ...operation,
      steps,
      state: over ? 'Succeeded' : 'Running',
      finished: over ? new Date().toISOString() : undefined,
      objects: over ? [] : operation.objects,
    })
    if (!over) setTimeout(() => this.advance(id), 1200)
  }

  put(operation: Operation): void {
    this.operations = this.operations.map((one) => (one.id === operation.id ? operation : one))
    this.changed()
  }
}

function past(text: string): Operation[] {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const of = (id: string, over: Partial<Operation>): Operation => ({
    id,
    deed: { kind: 'upgrade', items: [{ kyma: 'kcp-system/demo', module: 'telemetry' }] },
    title: 'Upgrade telemetry in kcp-system/demo',
    user: 'admin',
    state: 'Succeeded',
    created: ago(60),
    steps: [
      { title: 'Change the Kyma', state: 'Done' },
      { title: 'Wait until telemetry is ready', state: 'Done' },
    ],
    objects: [],
    access: { resume: true, cancel: true },
    ...over,
  })
  return [
    of('run', {
      state: 'Running',
      created: ago(2),
      steps: [
        { title: 'Change the Kyma', state: 'Done' },
        {
          title: 'Wait until telemetry is ready',
          state: 'Running',
          message: text || 'Deployment kyma-system/telemetry-manager: 0 of 1 replicas are available',
        },
      ],
      objects: [
        {
          ref: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kyma-system', name: 'telemetry-manager' },
          state: 'Processing',
          message: text || '0 of 1 replicas are available',
        },
      ],
    }),
    of('gone', {
      state: 'Interrupted',
      title: 'Add docker-registry',
      created: ago(190),
      message: 'the dashboard that ran it is gone: resume it',
    }),
    of('bad', {
      state: 'Failed',
      title: text || 'Delete keda from kcp-system/shop-asia',
      created: ago(300),
      message: 'one object could not be deleted: ScaledObject shop/orders is protected',
      steps: [
        { title: 'Delete 3 objects', state: 'Failed', message: 'ScaledObject shop/orders is protected' },
        { title: 'Remove keda from Kyma kcp-system/shop-asia', state: 'Waiting' },
      ],
    }),
    of('old', { created: ago(2000) }),
  ]
}
