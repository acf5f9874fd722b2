// What surrounds a connection in its tests.
import { Live, type Source, type Surroundings } from './live'

/** Fake is a stream that says what a test wants. */
export class Fake implements Source {
  onopen: ((event: never) => void) | null = null
  onerror: ((event: never) => void) | null = null
  closed = false
  readonly listeners = new Map<string, (event: MessageEvent<string>) => void>()
  constructor(readonly url: string) {}
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void) {
    this.listeners.set(type, listener)
  }
  close() {
    this.closed = true
  }
  say(type: string, data: unknown) {
    this.listeners.get(type)?.({ data: typeof data === 'string' ? data : JSON.stringify(data) } as MessageEvent<string>)
  }
}

/** world is a connection with a clock, timers and streams that a test moves. */
export function world(over: Partial<Surroundings> = {}) {
  const sources: Fake[] = []
  const timers: { what: () => void; ms: number; dead: boolean }[] = []
  let ended = 0
  let clock = 0
  const live = new Live({
    open: (url) => {
      const made = new Fake(url)
      sources.push(made)
      return made
    },
    later: (what, ms) => timers.push({ what, ms, dead: false }) - 1,
    forget: (timer) => {
      const one = timers[timer]
      if (one) one.dead = true
    },
    now: () => clock,
    random: () => 0.5,
    hidden: () => false,
    loggedIn: async () => true,
    ended: () => {
      ended++
    },
    ...over,
  })
  const run = () => {
    for (const timer of timers.splice(0)) if (!timer.dead) timer.what()
  }
  const last = () => {
    const one = sources.at(-1)
    if (!one) throw new Error('no connection')
    return one
  }
  const pass = (ms: number) => {
    clock += ms
  }
  /** cut lets the server accept, answer, and break off after a while. It returns how long the tab waits before it asks again. */
  const cut = async (after: number) => {
    last().onopen?.(undefined as never)
    last().say('result', { q: 0, status: 200, body: 1 })
    pass(after)
    last().onerror?.(undefined as never)
    await settled()
    return timers.at(-1)?.ms
  }
  return { live, sources, timers, run, last, cut, pass, ended: () => ended }
}

/** settled waits for what a break asks of the server. */
export const settled = () =>
  new Promise<void>((resolve) => {
    queueMicrotask(() => queueMicrotask(() => queueMicrotask(resolve)))
  })
