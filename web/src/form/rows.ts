// The rows of a map while they are edited. An object cannot hold them: two names may be the same for a moment, and an object puts
// numbers first. Pure.
import type { Json, JsonObject } from '../api'

export interface Row {
  /** id stays while the name is written. */
  id: number
  name: string
  value: Json | undefined
}

/** mapOf is a value as a map; anything else has no pairs. */
export function mapOf(value: Json | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
}

export function rowsOf(value: Json | undefined): Row[] {
  return Object.entries(mapOf(value)).map(([name, own], id) => ({ id, name, value: own }))
}

/** objectOf is the map that rows make. Of two with the same name the first one counts. */
export function objectOf(rows: Row[]): JsonObject {
  return Object.fromEntries(rows.filter((row) => !repeated(rows, row)).map((row) => [row.name, row.value]))
}

/** fits says that rows are those of a value, in whatever order. */
export function fits(rows: Row[], value: Json | undefined): boolean {
  return sorted(objectOf(rows)) === sorted(mapOf(value))
}

function sorted(map: JsonObject): string {
  return JSON.stringify(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** repeated says that a row before has this name. */
export function repeated(rows: Row[], row: Row): boolean {
  return rows.findIndex((one) => one.name === row.name) < rows.indexOf(row)
}

/** another adds an empty row. */
export function another(rows: Row[]): Row[] {
  return [...rows, { id: Math.max(-1, ...rows.map((row) => row.id)) + 1, name: '', value: '' }]
}
