// One connection of this tab to the server: every live query of the page travels on it. A change of the queries opens a new one, since a
// stream answers exactly what it was opened for. A hidden tab has none.
import type { Problem } from '../api'
import { messages } from '../messages'
import { fill } from '../fill'

/** Failure is an error as the server tells it, with the status of the answer. */
export interface Failure extends Problem {
  status: number
}

/** Result is the last answer to a query. Stale: it came from an earlier connection, or that one is gone. */
export interface Result {
  status: number
  body: unknown
  stale: boolean
}

export type Connection = 'idle' | 'connecting' | 'open' | 'lost'

/** Source is what is needed of an EventSource. */
export interface Source {
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void
  close(): void
  onopen: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
}

export interface Surroundings {
  open(url: string): Source
  later(what: () => void, ms: number): number
  /** now is a clock in milliseconds. */
  now(): number
  forget(timer: number): void
  random(): number
  hidden(): boolean
  /** loggedIn asks the server; a stream that breaks does not say why. */
  loggedIn(): Promise<boolean>
  /** ended is called when the session has ended. */
  ended(): void
}

interface Query {
  listeners: Set<() => void>
  result?: Result
}

export const mostQueries = 8
const mostKept = 40
const settle = 15 // ms: a page that mounts asks several things at once
const firstWait = 500
const longestWait = 15_000
const proven = 5_000 // ms: who accepts and cuts at once is asked later and later, as who does not accept

/** backoff is how long to wait before try number n: it doubles, up to 15 s, and half of it is random. */
export function backoff(n: number, random: number): number {
  const whole = Math.min(longestWait, firstWait * 2 ** Math.min(n, 10))
  return Math.round(whole / 2 + (whole / 2) * random)
}

export class Live {
  connection: Connection = 'idle'
  private readonly queries = new Map<string, Query>()
  private readonly watchers = new Set<() => void>()
  private source?: Source
  private since?: number // when the first result came after the last break, on whichever connection
  private asked: string[] = []
  private timer?: number
  private tries = 0
  private breaks = 0
  private left = false
  private readonly around: Surroundings

  constructor(around: Surroundings) {
    this.around = around
  }

  /** result is the last answer to a query, if any. */
  result(query: string): Result | undefined {
    return this.queries.get(query)?.result
  }

  /** subscribe asks a query until the returned function is called; listen is called at every answer. */
  subscribe(query: string, listen: () => void): () => void {
    const known = this.queries.get(query) ?? { listeners: new Set<() => void>() }
    this.queries.delete(query) // the youngest stands last
    this.queries.set(query, known)
    known.listeners.add(listen)
    this.plan(settle)
    return () => {
      known.listeners.delete(listen)
      if (known.listeners.size === 0) this.plan(settle)
    }
  }

  /** watch calls back when the connection comes or goes. */
  watch(listen: () => void): () => void {
    this.watchers.add(listen)
    return () => {
      this.watchers.delete(listen)
    }
  }

  /** retry connects at once: the user asked for it, or the tab is visible again. */
  retry(): void {
    this.tries = 0
    this.asked = []
    this.plan(0)
  }

  /** pause closes the connection, as for a hidden tab; what is known stays on the page. */
  pause(): void {
    this.close()
    this.become('idle')
  }

  /** leave ends it with the page: no requests follow, even if subscribers remain. enter reverts that. */
  leave(): void {
    this.close()
    if (this.timer !== undefined) this.around.forget(this.timer)
    this.timer = undefined
    this.left = true
  }

  enter(): void {
    if (!this.left) return
    this.left = false
    this.retry()
  }

  /** reset forgets everything, as after a logout. */
  reset(): void {
    this.close()
    for (const [name, query] of this.queries) {
      query.result = undefined
      if (query.listeners.size === 0) this.queries.delete(name)
    }
    this.become('idle')
    this.tell()
  }

  private wanted(): string[] {
    return [...this.queries]
      .filter(([, query]) => query.listeners.size > 0)
      .map(([name]) => name)
      .sort()
  }

  private plan(ms: number): void {
    if (this.left) return
    if (this.timer !== undefined) this.around.forget(this.timer)
    this.timer = this.around.later(() => {
      this.timer = undefined
      this.connect()
    }, ms)
  }

  private connect(): void {
    const wanted = this.wanted()
    if (this.around.hidden()) return this.pause()
    if (wanted.length === 0) return this.pause()
    if (this.source && wanted.join('\n') === this.asked.join('\n')) return
    this.close()
    this.asked = wanted
    this.become(this.connection === 'lost' && this.tries > 0 ? 'lost' : 'connecting')
    this.refuse(wanted.slice(mostQueries))
    const served = wanted.slice(0, mostQueries)
    const source = this.around.open('/api/v1/stream?' + served.map((query) => 'q=' + encodeURIComponent(query)).join('&'))
    this.source = source
    source.addEventListener('result', (event) => {
      if (this.source === source) this.take(served, event.data)
    })
    source.addEventListener('end', () => {
      if (this.source === source) this.over()
    })
    source.onopen = () => {
      // After a break the page is live with the first result, and not before: the notice would come and go.
      if (this.source === source && this.connection !== 'lost') this.become('open')
    }
    source.onerror = () => {
      if (this.source === source) void this.broke()
    }
  }

  private take(served: string[], text: string): void {
    const answer = parse(text)
    const query = answer && this.queries.get(served[answer.q] ?? '')
    if (!answer || !query) return
    this.since ??= this.around.now()
    this.become('open')
    if (answer.status === 401) return this.over()
    query.result = { status: answer.status, body: answer.body, stale: false }
    query.listeners.forEach((listen) => listen())
    this.forgetOld()
  }

  private refuse(queries: string[]): void {
    for (const name of queries) {
      const query = this.queries.get(name)
      if (!query) continue
      const error: Problem = { reason: 'TooMany', message: fill(messages.live.tooMany, { most: mostQueries }) }
      query.result = { status: 400, body: { error }, stale: false }
      query.listeners.forEach((listen) => listen())
    }
  }

  private over(): void {
    this.close()
    this.become('idle')
    this.around.ended()
  }

  private async broke(): Promise<void> {
    if (this.since !== undefined && this.around.now() - this.since >= proven) this.tries = 0
    this.since = undefined
    this.close()
    this.become('lost')
    this.tell()
    const mine = ++this.breaks
    const waited = this.tries++
    const loggedIn = await this.around.loggedIn().catch(() => true) // no answer at all: the server is away, not the session
    if (!loggedIn) return this.over()
    // A request that came meanwhile is not delayed.
    if (mine === this.breaks && !this.source && this.timer === undefined) this.plan(backoff(waited, this.around.random()))
  }

  private close(): void {
    this.source?.close()
    this.source = undefined
    this.asked = []
    for (const query of this.queries.values()) {
      if (query.result) query.result = { ...query.result, stale: true }
    }
  }

  private forgetOld(): void {
    for (const [name, query] of this.queries) {
      if (this.queries.size <= mostKept) return
      if (query.listeners.size === 0) this.queries.delete(name)
    }
  }

  private become(connection: Connection): void {
    if (this.connection === connection) return
    this.connection = connection
    this.watchers.forEach((listen) => listen())
  }

  private tell(): void {
    for (const query of this.queries.values()) query.listeners.forEach((listen) => listen())
  }
}

function parse(text: string): { q: number; status: number; body: unknown } | undefined {
  try {
    const answer = JSON.parse(text) as { q?: unknown; status?: unknown; body?: unknown }
    if (typeof answer.q !== 'number' || typeof answer.status !== 'number') return undefined
    return { q: answer.q, status: answer.status, body: answer.body }
  } catch {
    return undefined
  }
}
