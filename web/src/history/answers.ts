// What the server says happened: internal/dashboard/server/history.go and internal/client/history.
import type { List } from '../api'

export type HistoryKind = 'Operation' | 'Edit' | 'Revision' | 'Rollout' | 'Condition' | 'Event'

export interface HistoryEntry {
  at: string
  kind: HistoryKind
  what: string
  /** who did it, where that is known: a user, the name of a client, or what reported an event. */
  who?: string
  whoIs?: 'User' | 'Client' | 'Component'
  object?: string
  module?: string
  /** fields have old and new values; without values, they are those that a client holds. */
  fields?: { path: string; from?: string; to?: string }[]
  state?: string
  reason?: string
  count?: number
  /** operation, revision and rollout lead to more. */
  operation?: string
  revision?: number
  rollout?: string
  end?: string
}

export interface History extends List<HistoryEntry> {
  horizon: string[] | null
  who: string[] | null
}
