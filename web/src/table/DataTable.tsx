// A table whose columns its user chooses, as dense as its user likes.
import { useDeferredValue, useSyncExternalStore, type ReactNode } from 'react'
import { Table, type Column, type ListState } from '../parts/list'
import { tablePrefs, visible, type Prefs } from './prefs'

/** CellColumn is a column that knows its cells. */
export interface CellColumn<T> extends Column {
  /** off columns are shown on request. */
  off?: boolean
  className?: (row: T) => string
  cell: (row: T) => ReactNode
}

export function usePrefs(): Prefs {
  return useSyncExternalStore(tablePrefs.subscribe, tablePrefs.get)
}

interface DataTableProps<T> {
  label: string
  /** name of the table whose columns are chosen; without one it has those that it has by default. */
  name?: string
  columns: CellColumn<T>[]
  rows: T[]
  keyOf: (row: T) => string
  state?: ListState
  sorted?: string
}

/** firstDrawn is how many rows are drawn at first: about those that a screen shows. The others follow without holding up the page. */
export const firstDrawn = 15

export function DataTable<T>({ label, name, columns, rows, keyOf, state, sorted }: DataTableProps<T>) {
  const prefs = usePrefs()
  const shown = visible(prefs, name ?? '', columns)
  const drawn = useDeferredValue(rows, rows.slice(0, firstDrawn))
  return (
    <Table
      label={label}
      columns={shown}
      state={state}
      sorted={sorted}
      dense={prefs.dense}
      tall={name !== undefined}
      busy={drawn.length < rows.length}
    >
      {drawn.map((row) => (
        <tr key={keyOf(row)}>
          {shown.map((column, i) => (
            <td
              key={column.key}
              className={[i === 0 && 'lead', column.className?.(row)].filter(Boolean).join(' ') || undefined}
              data-label={i === 0 ? undefined : column.label}
            >
              {column.cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}
