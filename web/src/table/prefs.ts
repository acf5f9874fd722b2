// How tables look: compact or not, and which columns each has. The browser remembers it.
import { entriesOf, Stored } from './stored'

export interface Prefs {
  dense: boolean
  /** columns says of each table which columns were switched on or off; the others are as they are by default. */
  columns: Record<string, Record<string, boolean>>
}

/** prefsOf reads what was stored, and leaves out what it does not understand. */
export function prefsOf(value: unknown): Prefs {
  const prefs: Prefs = { dense: false, columns: Object.create(null) as Prefs['columns'] }
  for (const [name, part] of entriesOf(value)) {
    if (name === 'dense') prefs.dense = part === true
    if (name !== 'columns') continue
    for (const [table, columns] of entriesOf(part)) {
      const known = entriesOf(columns).filter(([, on]) => typeof on === 'boolean') as [string, boolean][]
      prefs.columns[table] = Object.assign(Object.create(null), Object.fromEntries(known)) as Record<string, boolean>
    }
  }
  return prefs
}

/** Choosable is what a column has for its choice: the first one is always there, and off ones only on request. */
export interface Choosable {
  key: string
  off?: boolean
}

/** visible are the columns of a table that are shown. */
export function visible<T extends Choosable>(prefs: Prefs, table: string, columns: T[]): T[] {
  return columns.filter((column, i) => i === 0 || (prefs.columns[table]?.[column.key] ?? !column.off))
}

/** withColumn switches a column on or off. */
export function withColumn(prefs: Prefs, table: string, key: string, on: boolean): Prefs {
  return { ...prefs, columns: { ...prefs.columns, [table]: { ...prefs.columns[table], [key]: on } } }
}

/** withoutColumns makes the columns of a table what they are by default. */
export function withoutColumns(prefs: Prefs, table: string): Prefs {
  return { ...prefs, columns: Object.fromEntries(Object.entries(prefs.columns).filter(([name]) => name !== table)) }
}

export const tablePrefs = new Stored('kyma.tables', prefsOf)
