import { describe, expect, it } from 'vitest'
import { settled, world, type Fake } from './fake'
import { backoff, mostQueries } from './live'

describe('the connection of a tab', () => {
  it('asks everything that a page wants on one connection', () => {
    const w = world()
    w.live.subscribe('/api/v1/b?x=1', () => undefined)
    w.live.subscribe('/api/v1/a', () => undefined)
    w.run()
    expect(w.sources).toHaveLength(1)
    expect(w.last().url).toBe('/api/v1/stream?q=%2Fapi%2Fv1%2Fa&q=%2Fapi%2Fv1%2Fb%3Fx%3D1')
  })

  it('gives every query its own answers, and tells who listens', () => {
    const w = world()
    let told = 0
    w.live.subscribe('/b', () => undefined)
    w.live.subscribe('/a', () => {
      told++
    })
    w.run()
    w.last().say('result', { q: 0, status: 200, body: { n: 1 } })
    expect(w.live.result('/a')).toEqual({ status: 200, body: { n: 1 }, stale: false })
    expect(w.live.result('/b')).toBeUndefined()
    expect(told).toBe(1)
    expect(w.live.connection).toBe('open')
  })

  it('opens a new connection when the page wants something else, and keeps what it knew as stale', () => {
    const w = world()
    const leave = w.live.subscribe('/a', () => undefined)
    w.run()
    w.last().say('result', { q: 0, status: 200, body: 1 })
    leave()
    w.live.subscribe('/b', () => undefined)
    w.run()
    expect(w.sources).toHaveLength(2)
    expect(w.sources[0]?.closed).toBe(true)
    expect(w.live.result('/a')?.stale).toBe(true)
  })

  it('does not reconnect when the same things are wanted', () => {
    const w = world()
    const leave = w.live.subscribe('/a', () => undefined)
    w.run()
    leave()
    w.live.subscribe('/a', () => undefined)
    w.run()
    expect(w.sources).toHaveLength(1)
  })

  it('comes back by itself after a break, later and later', async () => {
    const w = world()
    w.live.subscribe('/a', () => undefined)
    w.run()
    w.last().onerror?.(undefined as never)
    await settled()
    expect(w.live.connection).toBe('lost')
    expect(w.timers.at(-1)?.ms).toBe(backoff(0, 0.5))
    w.run()
    expect(w.sources).toHaveLength(2)
    w.last().onerror?.(undefined as never)
    await settled()
    expect(w.timers.at(-1)?.ms).toBe(backoff(1, 0.5))
  })

  it('asks a server that answers and cuts at once later and later, and one that was there for a while soon', async () => {
    const w = world()
    w.live.subscribe('/a', () => undefined)
    for (const [after, tries] of [
      [0, 0],
      [100, 1],
      [4999, 2],
      [5000, 0],
      [10, 1],
    ] as const) {
      w.run()
      expect(await w.cut(after)).toBe(backoff(tries, 0.5))
    }
  })

  it('asks soon after a break when it was there for a while, also for somebody who went from page to page meanwhile', async () => {
    const w = world()
    w.live.subscribe('/a', () => undefined)
    for (const tries of [0, 1, 2]) {
      w.run()
      expect(await w.cut(0)).toBe(backoff(tries, 0.5))
    }
    for (let page = 0; page < 6; page++) {
      w.run()
      w.last().say('result', { q: 0, status: 200, body: page })
      w.pass(1000)
      w.live.subscribe('/page' + page, () => undefined)
    }
    w.run()
    expect(await w.cut(0)).toBe(backoff(0, 0.5))
    w.run()
    expect(await w.cut(0)).toBe(backoff(1, 0.5))
  })

  it('is lost until something was answered again, also when somebody goes to another page meanwhile', async () => {
    const w = world()
    w.live.subscribe('/a', () => undefined)
    w.run()
    await w.cut(0)
    w.run()
    w.last().onopen?.(undefined as never)
    expect(w.live.connection).toBe('lost')
    w.last().say('result', { q: 0, status: 200, body: 2 })
    expect(w.live.connection).toBe('open')
    w.live.subscribe('/b', () => undefined)
    w.run()
    expect(w.live.connection).toBe('connecting')
  })

  it('connects at once for whoever asks while it is found out whether the session is over', async () => {
    let answer: (loggedIn: boolean) => void = () => undefined
    const w = world({ loggedIn: () => new Promise<boolean>((resolve) => (answer = resolve)) })
    w.live.subscribe('/a', () => undefined)
    w.run()
    w.last().onerror?.(undefined as never)
    w.live.retry()
    answer(true)
    await settled()
    expect(w.timers.map((timer) => timer.ms)).toEqual([0])
  })

  it('waits as long as the last break says, however long it took to find out about the one before', async () => {
    const answers: ((loggedIn: boolean) => void)[] = []
    const w = world({ loggedIn: () => new Promise<boolean>((resolve) => answers.push(resolve)) })
    w.live.subscribe('/a', () => undefined)
    w.run()
    for (let i = 0; i < 3; i++) {
      w.last().onerror?.(undefined as never)
      answers.at(-1)?.(true)
      await settled()
      w.run()
    }
    w.last().onerror?.(undefined as never)
    w.live.retry()
    w.run()
    w.last().onerror?.(undefined as never)
    answers.at(-2)?.(true)
    await settled()
    answers.at(-1)?.(true)
    await settled()
    expect(w.timers.map((timer) => timer.ms)).toEqual([backoff(0, 0.5)])
  })

  it('ends the session when a break turns out to be a logout', async () => {
    const w = world({ loggedIn: async () => false })
    w.live.subscribe('/a', () => undefined)
    w.run()
    w.last().onerror?.(undefined as never)
    await settled()
    expect(w.ended()).toBe(1)
    expect(w.timers).toHaveLength(0)
  })

  it('ends the session when the server says so, or a query is answered by 401', () => {
    for (const say of [(s: Fake) => s.say('end', '{}'), (s: Fake) => s.say('result', { q: 0, status: 401, body: {} })]) {
      const w = world()
      w.live.subscribe('/a', () => undefined)
      w.run()
      say(w.last())
      expect(w.ended()).toBe(1)
      expect(w.last().closed).toBe(true)
    }
  })

  it('has no connection in a hidden tab, and one again when it is looked at', () => {
    let hidden = true
    const w = world({ hidden: () => hidden })
    w.live.subscribe('/a', () => undefined)
    w.run()
    expect(w.sources).toHaveLength(0)
    hidden = false
    w.live.retry()
    w.run()
    expect(w.sources).toHaveLength(1)
    w.live.pause()
    expect(w.last().closed).toBe(true)
  })

  it('survives an answer that is no JSON, or of a query that nobody asked', () => {
    const w = world()
    w.live.subscribe('/a', () => undefined)
    w.run()
    w.last().say('result', 'nonsense')
    w.last().say('result', { q: 7, status: 200, body: 1 })
    w.last().say('result', { q: 'x' })
    expect(w.live.result('/a')).toBeUndefined()
  })

  it('says so when a page asks for too much, instead of waiting for ever', () => {
    const w = world()
    for (let i = 0; i <= mostQueries; i++) w.live.subscribe('/q' + i, () => undefined)
    w.run()
    expect(w.last().url.split('q=').length - 1).toBe(mostQueries)
    expect(w.live.result('/q8')?.status).toBe(400)
  })

  it('knows nothing any more after a logout', () => {
    const w = world()
    w.live.subscribe('/a', () => undefined)
    w.run()
    w.last().say('result', { q: 0, status: 200, body: 'secret' })
    w.live.reset()
    expect(w.live.result('/a')).toBeUndefined()
  })

  it('asks nothing any more when the page has gone, and begins anew when it is back', () => {
    const w = world()
    const unsubscribe = w.live.subscribe('/a', () => undefined)
    w.run()
    const first = w.last()
    w.live.subscribe('/b', () => undefined) // a timer is set
    w.live.leave()
    unsubscribe()
    w.run()
    expect(first.closed).toBe(true)
    expect(w.last()).toBe(first)
    w.live.enter()
    w.run()
    expect(w.last().url).toContain('%2Fb')
  })
})

it('waits longer with every try, and never longer than 15 seconds', () => {
  expect([0, 1, 2, 3, 20].map((n) => backoff(n, 1))).toEqual([500, 1000, 2000, 4000, 15000])
  expect(backoff(3, 0)).toBe(2000)
})
