import { describe, expect, it } from 'vitest'
import { Stored, type Keeper } from './stored'
import { addressOf, longestName, mostViews, viewsOf, withoutView, withView } from './views'

/** keeper is a browser that remembers. */
function keeper(there: Record<string, string> = {}): Keeper & { there: Record<string, string> } {
  return {
    there,
    getItem: (key) => there[key] ?? null,
    setItem: (key, value) => {
      there[key] = value
    },
  }
}

const broken: Keeper = {
  getItem: () => {
    throw new Error('SecurityError')
  },
  setItem: () => {
    throw new Error('QuotaExceededError')
  },
}

describe('views', () => {
  const views = [{ name: 'mine', path: '/modules?state=Error' }]
  it('are an address with a name, without the page', () => {
    expect(addressOf('/modules', '?state=Error&page=3&operation=a')).toBe('/modules?state=Error')
    expect(addressOf('/kymas', '?page=2')).toBe('/kymas')
  })
  it('get another address under the same name', () => {
    expect(withView(views, ' mine ', '/kymas')).toEqual([{ name: 'mine', path: '/kymas' }])
    expect(withView(views, 'other', '/kymas')).toHaveLength(2)
    expect(withoutView(views, 'mine')).toEqual([])
  })
  it.each(['', '   '])('need a name, and %j is none', (name) => expect(withView([], name, '/kymas')).toBeUndefined())
  it('are not more than the browser can list', () => {
    const many = Array.from({ length: mostViews }, (_, i) => ({ name: String(i), path: '/' }))
    expect(withView(many, 'one more', '/kymas')).toBeUndefined()
    expect(withView(many, '7', '/kymas')?.[7]).toEqual({ name: '7', path: '/kymas' })
    expect(viewsOf([...many, { name: 'x', path: '/' }])).toHaveLength(mostViews)
  })
  it('have names that fit', () => expect(withView([], 'x'.repeat(500), '/')?.[0]?.name).toHaveLength(longestName))
  it.each([
    undefined,
    null,
    7,
    'text',
    {},
    [null],
    [7],
    [{ name: 'a' }],
    [{ name: '', path: '/' }],
    [{ name: 'a', path: 7 }],
    [{ name: 'a', path: 'https://example.com' }],
    [{ name: 'a', path: '//example.com' }],
    [{ name: 'a', path: '/\\example.com' }],
    [{ name: 'a', path: 'javascript:alert(1)' }],
    [{ name: 'a', path: '/\n/x' }],
    [{ name: 'a', path: '/' + 'x'.repeat(5000) }],
  ])('of a storage that holds %j are none', (value) => expect(viewsOf(value)).toEqual([]))
  it('are kept where others beside them are damaged', () => {
    expect(viewsOf([7, ...views, ...views, { name: 'b', path: '//x' }])).toEqual(views)
  })
})

describe('what is stored', () => {
  it('is there after a reload, and the same object until it changes', () => {
    const there = keeper()
    const before = new Stored('v', viewsOf, () => there)
    expect(before.get()).toEqual([])
    expect(before.set([{ name: 'a', path: '/' }])).toBe(true)
    expect(before.get()).toBe(before.get())
    expect(new Stored('v', viewsOf, () => there).get()).toEqual([{ name: 'a', path: '/' }])
  })
  it.each(['', 'no JSON', '{', 'null', '"x"'])('is nothing where the browser holds %j', (text) => {
    expect(new Stored('v', viewsOf, () => keeper({ v: text })).get()).toEqual([])
  })
  it('is remembered until the reload where the browser stores nothing, and says so', () => {
    const stored = new Stored('v', viewsOf, () => broken)
    let told = 0
    stored.subscribe(() => told++)
    expect(stored.get()).toEqual([])
    expect(stored.set([{ name: 'a', path: '/' }])).toBe(false)
    expect(stored.get()).toEqual([{ name: 'a', path: '/' }])
    expect(told).toBe(1)
  })
  it('follows another tab', () => {
    const there = keeper()
    const stored = new Stored('v', viewsOf, () => there)
    let told = 0
    const forget = stored.subscribe(() => told++)
    there.setItem('v', '[{"name":"b","path":"/"}]')
    window.dispatchEvent(new StorageEvent('storage', { key: 'v' }))
    expect([told, stored.get()]).toEqual([1, [{ name: 'b', path: '/' }]])
    window.dispatchEvent(new StorageEvent('storage', { key: 'other' }))
    forget()
    window.dispatchEvent(new StorageEvent('storage', { key: 'v' }))
    expect(told).toBe(1)
  })
})
