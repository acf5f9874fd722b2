// The first rows of a list that fit, page by page: as many as one can choose, and not all of a long list.
import type { List } from '../api'
import { query } from '../live/http'

const pageSize = 200 // as many as the server sends

/** firstRows reads a list until more than most of its rows fit, or it ends. */
export async function firstRows<T>(
  list: { path: string; parameters: Record<string, string | string[]> },
  fits: (row: T) => boolean,
  most: number,
  ask: (path: string) => Promise<List<T>>,
): Promise<T[]> {
  const rows: T[] = []
  for (let offset = 0, total = 1; offset < total && rows.length <= most; offset += pageSize) {
    const page = await ask(query(list.path, { ...list.parameters, limit: String(pageSize), offset: String(offset) }))
    rows.push(...(page.items ?? []).filter(fits))
    total = page.total
  }
  return rows
}
