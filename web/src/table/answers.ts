// What the server answers about lists, as types. The names are those of internal/dashboard/server.
import type { KymaLine, Module } from '../api'

/** ModuleRow is a module in a list. */
export interface ModuleRow extends Module {
  attention?: boolean
  /** since is when it was last Ready. */
  since?: string | null
}

/** KymaRow is a Kyma in a list, with at most 20 of its labels. */
export interface KymaRow extends KymaLine {
  labels?: Record<string, string>
}
/** Filters are the values that filters of lists can have. */
export interface Filters {
  channels: string[]
  versions: string[]
  modules: string[]
  reasons: string[]
  labels: string[]
}
