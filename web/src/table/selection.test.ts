import { describe, expect, it } from 'vitest'
import { messages } from '../messages'
import { Drafts, forgetStored, type Tab } from '../app/drafts'
import { isModule, plainModule, selectable, upgradeKey } from '../deeds/upgrading'
import { module_ } from '../../mock/fixtures'
import { firstRows } from './firstRows'
import { chosenText, flipped, fromStored, leftText, mostChosen, withAll, without, type Chosen } from './selection'

const rows = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `r${from + i}`)
const id = (row: string) => row
const of = (all: string[]): Chosen<string> => new Map(all.map((row) => [row, row]))

describe('a selection', () => {
  it('has a row once, or not', () => {
    expect([...flipped(of([]), 'a', 'a').keys()]).toEqual(['a'])
    expect([...flipped(of(['a', 'b']), 'a', 'a').keys()]).toEqual(['b'])
  })
  it('takes no more than one operation does, and says how many were left', () => {
    const full = withAll(of(rows(10)), rows(mostChosen + 5), id)
    expect([full.chosen.size, full.left > 0]).toEqual([mostChosen, true])
    expect(flipped(full.chosen, 'one more', 'one more').size).toBe(mostChosen)
    expect(leftText(full.left)).toMatch(/^500 are chosen/)
    expect(leftText(0)).toBe('')
  })
  it('keeps what was chosen elsewhere', () => {
    expect(withAll(of(['x']), ['a', 'b'], id).chosen.size).toBe(3)
    expect([...without(of(['x', 'a']), ['a', 'b'], id).keys()]).toEqual(['x'])
    expect(chosenText(3, 2, messages.nouns.module)).toBe('3 modules chosen, 2 of them not on this page')
    expect(chosenText(1, 0, messages.nouns.module)).toBe('1 module chosen')
    expect(chosenText(0, 0, messages.nouns.module)).toBe('')
  })
  it('is for any order of flips what was flipped an odd number of times', () => {
    let seed = 7
    const next = () => (seed = (seed * 16807) % 2147483647)
    for (let round = 0; round < 50; round++) {
      let chosen = of([])
      const odd = new Set<string>()
      for (let i = 0; i < 40; i++) {
        const row = `r${next() % 12}`
        chosen = flipped(chosen, row, row)
        if (!odd.delete(row)) odd.add(row)
      }
      expect([...chosen.keys()].sort()).toEqual([...odd].sort())
    }
  })
})

describe('what is stored of a selection', () => {
  it.each([undefined, null, 'text', { a: 1 }, [1, null, {}], [{ name: 'x' }]])('is nothing when it is %j', (stored) => {
    expect(fromStored(stored, isModule, upgradeKey).size).toBe(0)
  })
  it('has what an upgrade needs, and no more', () => {
    const m = module_('notes', { version: { installed: '1.0.0', available: '1.1.0', outdated: true, mismatch: false }, type: 'community' })
    const back = fromStored(JSON.parse(JSON.stringify([plainModule({ ...m, origin: 'https://secret' })])), isModule, upgradeKey)
    expect([...back.values()]).toMatchObject([{ name: 'notes', version: { available: '1.1.0' } }])
    expect(JSON.stringify([...back.values()])).not.toContain('secret')
  })
  it('cannot be chosen when it is up to date, mandatory, suspended or comes by itself', () => {
    const version = { installed: '1.0.0', available: '1.1.0', outdated: true, mismatch: false }
    const mine = module_('notes', { version, type: 'community', channel: undefined })
    expect(selectable(mine)).toBe(true)
    for (const over of [{ version: { ...version, outdated: false } }, { mandatory: true }, { suspended: true }, { maintenance: true }]) {
      expect(selectable({ ...mine, ...over })).toBe(false)
    }
    expect(selectable(module_('notes', { version }))).toBe(false)
  })
})

describe('drafts', () => {
  const tab = (): Tab & { text: string | null } => ({
    text: null,
    getItem() {
      return this.text
    },
    setItem(_, text) {
      this.text = text
    },
    removeItem() {
      this.text = null
    },
  })
  it('are there after a reload as far as they are plain, for the same user', () => {
    const there = tab()
    new Drafts('ann', there).keep('a', { secret: 'word' }, { plain: 1 })
    expect(there.text).not.toContain('word')
    const again = new Drafts('ann', there)
    expect([again.get('a'), again.stored('a')]).toEqual([undefined, { plain: 1 }])
    expect(new Drafts('bob', there).stored('a')).toBeUndefined()
  })
  it('are gone when they are forgotten, when the user leaves, and when they have become secret', () => {
    const there = tab()
    const drafts = new Drafts('ann', there)
    drafts.keep('a', 1, 1)
    drafts.keep('a', 2)
    expect(new Drafts('ann', there).stored('a')).toBeUndefined()
    drafts.keep('b', 1, 1)
    drafts.forget('b')
    expect(new Drafts('ann', there).stored('b')).toBeUndefined()
    drafts.keep('c', 1, 1)
    forgetStored(there)
    expect(new Drafts('ann', there).stored('c')).toBeUndefined()
  })
  it('do without a storage, a full one, and one with something else in it', () => {
    const broken: Tab = {
      getItem: () => '{',
      setItem: () => {
        throw new Error('full')
      },
      removeItem: () => undefined,
    }
    for (const one of [broken, undefined]) {
      const drafts = new Drafts('ann', one)
      drafts.keep('a', 1, 1)
      expect(drafts.get('a')).toBe(1)
    }
    const there = tab()
    new Drafts('ann', there).keep('a', 1, 'x'.repeat(500_000))
    expect(there.text).toBeNull()
  })
})

describe('the first rows of a list', () => {
  const list = { path: '/modules' as const, parameters: { outdated: 'true' } }
  const server = (total: number) => {
    const asked: string[] = []
    const ask = (path: string) => {
      asked.push(path)
      const offset = Number(new URL(path, 'http://x').searchParams.get('offset'))
      return Promise.resolve({ items: rows(Math.min(200, total - offset), offset), total })
    }
    return { asked, ask }
  }
  it('are all of a short one', async () => {
    const { asked, ask } = server(230)
    expect((await firstRows(list, (row: string) => row !== 'r3', 500, ask)).length).toBe(229)
    expect(asked.length).toBe(2)
  })
  it('are more than can be chosen of a long one, and not much more is read', async () => {
    const { asked, ask } = server(20_000)
    expect((await firstRows(list, () => true, 500, ask)).length).toBeGreaterThan(500)
    expect(asked.length).toBe(3)
  })
})
