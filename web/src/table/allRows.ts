// All rows of a list, page by page. The list may change meanwhile: then it is read again.
import type { List } from '../api'
import { query, type Query } from '../live/http'

const pageSize = 200 // as many as the server sends
const mostTries = 3
/** mostRows bounds what a browser is asked to hold. */
export const mostRows = 100_000

export interface Rows<T> {
  rows: T[]
  /** whole is false when the list changed while it was read, or is too long: rows may be missing. */
  whole: boolean
}

type Ask = <T>(of: Query<T>) => Promise<T>

/** RowsPath is the path of a list that becomes a file. */
export type RowsPath = '/kymas' | '/modules'

/** allRows reads a list in the order of its names, which changes less than that of states. */
export async function allRows<T>(
  path: RowsPath,
  parameters: Record<string, string | string[]>,
  keyOf: (row: T) => string,
  ask: Ask,
): Promise<Rows<T>> {
  let best = new Map<string, T>()
  for (let tried = 0; tried < mostTries; tried++) {
    const { rows, whole } = await readOnce<T>(path, parameters, keyOf, ask)
    if (whole) return { rows: [...rows.values()], whole }
    best = rows.size >= best.size ? rows : best
    if (rows.size >= mostRows) break
  }
  return { rows: [...best.values()], whole: false }
}

async function readOnce<T>(path: RowsPath, parameters: Record<string, string | string[]>, keyOf: (row: T) => string, ask: Ask) {
  const filters = Object.fromEntries(Object.entries(parameters).filter(([name]) => name !== 'sort'))
  const rows = new Map<string, T>()
  let total: number | undefined
  for (let offset = 0; offset < mostRows; offset += pageSize) {
    const list = await ask(query<RowsPath>(path, { ...filters, limit: pageSize, offset }) as unknown as Query<List<T>>)
    const items = list.items ?? []
    for (const item of items) rows.set(keyOf(item), item)
    total ??= list.total
    if (list.total !== total) return { rows, whole: false }
    if (offset + pageSize >= total) return { rows, whole: rows.size === total }
  }
  return { rows, whole: false }
}
