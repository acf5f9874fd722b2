// What answers say of why a module is not ready.
import type { Ref, State } from './api'

/** Cause is why a module is not ready. The server chose the words, and made them safe to show. */
export interface Cause {
  object: Ref
  reason: string
  sentence: string
  since?: string
  remedy?: string
  evidence?: Fact[]
  also?: string[]
}
export interface Fact {
  source: 'owners' | 'status' | 'event' | 'log' | 'unread'
  object?: string
  text: string
  at?: string
  count?: number
}

export interface Why {
  what: string
  state: State
  reason?: string
  message?: string
  remedy?: string
}
