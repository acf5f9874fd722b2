// The first rows of a list that fit, page by page: as many as one can choose, and not all of a long list.
import type { List } from '../api'
import { query, type Query } from '../live/http'
import type { RowsPath } from './allRows'

const pageSize = 200 // as many as the server sends

/** firstRows reads a list until more than most of its rows fit, or it ends. */
export async function firstRows<T>(
  list: { path: RowsPath; parameters: Record<string, string | string[]> },
  fits: (row: T) => boolean,
  most: number,
  ask: (of: Query<List<T>>) => Promise<List<T>>,
): Promise<T[]> {
  const rows: T[] = []
  for (let offset = 0, total = 1; offset < total && rows.length <= most; offset += pageSize) {
    const page = await ask(query<RowsPath>(list.path, { ...list.parameters, limit: pageSize, offset }) as unknown as Query<List<T>>)
    rows.push(...(page.items ?? []).filter(fits))
    total = page.total
  }
  return rows
}
