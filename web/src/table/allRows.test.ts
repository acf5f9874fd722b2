import { describe, expect, it } from 'vitest'
import { allRows } from './allRows'

interface Row {
  name: string
}

/** server answers pages of what list says for each request. */
function server(list: (request: number) => Row[]) {
  const asked: URL[] = []
  const ask = <T>(path: string): Promise<T> => {
    const url = new URL(path, 'http://server')
    asked.push(url)
    const all = list(asked.length)
    const offset = Number(url.searchParams.get('offset'))
    return Promise.resolve({ items: all.slice(offset, offset + Number(url.searchParams.get('limit'))), total: all.length } as T)
  }
  return { asked, ask }
}

const rows = (n: number, first = 0) => Array.from({ length: n }, (_, i) => ({ name: `row-${first + i}` }))
const keyOf = (row: Row) => row.name

describe('all rows of a list', () => {
  it.each([0, 1, 199, 200, 201, 1000])('are all %d of them', async (n) => {
    const { ask, asked } = server(() => rows(n))
    const got = await allRows('/modules', { state: ['Error', 'Warning'], sort: '-name' }, keyOf, ask)
    expect(got).toEqual({ rows: rows(n), whole: true })
    expect(asked).toHaveLength(Math.max(1, Math.ceil(n / 200)))
    expect(asked[0]?.searchParams.getAll('state')).toEqual(['Error', 'Warning'])
    expect(asked[0]?.searchParams.has('sort')).toBe(false)
  })
  it('are read again when the list changed meanwhile', async () => {
    const { ask } = server((request) => (request === 1 ? rows(300) : rows(301)))
    expect(await allRows('/modules', {}, keyOf, ask)).toEqual({ rows: rows(301), whole: true })
  })
  it('are read again when a row moved from one page to another', async () => {
    const { ask } = server((request) => (request === 2 ? rows(300, 1) : rows(300)))
    const got = await allRows('/modules', {}, keyOf, ask)
    expect(got.rows).toHaveLength(300)
    expect(got.whole).toBe(true)
  })
  it('of a list that never rests are those that were seen, and said to be a part', async () => {
    const { ask, asked } = server((request) => rows(300 + request))
    const got = await allRows('/modules', {}, keyOf, ask)
    expect(got.whole).toBe(false)
    expect(got.rows.length).toBeGreaterThanOrEqual(300)
    expect(asked).toHaveLength(6)
  })
  it('fail as the server does', async () => {
    await expect(allRows('/modules', {}, keyOf, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  })
})
