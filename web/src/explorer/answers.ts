// What the server answers about the objects of a module: the types of openapi.yaml.
import type { Event, JsonObject, Ref, State, Unread } from '../api'

export type Presence = 'Present' | 'Planned' | 'Missing' | 'Unread' | 'NotLooked'

export interface ObjectNode extends Ref {
  id: string
  parent?: string
  uid?: string
  origin: 'Applied' | 'Resource' | 'Owned'
  presence: Presence
  state?: State
  worst?: State
  reason?: string
  message?: string
  remedy?: string
  created?: string
  deleting?: boolean
}

export interface ObjectTree {
  nodes: ObjectNode[]
  total: number
  cuts: { reason: string; text: string }[]
  unread: Unread[]
}

export interface Container {
  name: string
  kind: 'init' | 'sidecar' | 'container' | 'ephemeral'
  image?: string
  state?: 'running' | 'waiting' | 'terminated'
  reason?: string
  ready: boolean
  restarts: number
  previous: boolean
}

export interface ObjectCondition {
  type: string
  status: string
  reason?: string
  message?: string
  since?: string
}

export interface FieldDifference {
  path: string
  wanted: string
  live: string
}

export interface WantedObject {
  state: 'Reading' | 'Done' | 'Unreadable' | 'None'
  step?: string
  problem: { reason: string; message: string; remedy?: string } | null
  version?: string
  note?: string
  object: JsonObject | null
  difference: FieldDifference[] | null
  more?: number
}

export interface ObjectDetail {
  ref: Ref
  id: string
  resource?: string
  presence: Presence
  state?: State
  reason?: string
  message?: string
  uid?: string
  created?: string
  deleting: boolean
  owners: (Ref & { controller: boolean })[]
  conditions: ObjectCondition[]
  containers: Container[]
  events: Event[]
  unread: Unread[]
  live: JsonObject | null
  notes: string[]
  wanted: WantedObject | null
}

export interface LogLine {
  at?: string
  text: string
}

export type LogEnd = 'Complete' | 'Bytes' | 'Time' | 'Broken' | 'Session' | 'Server'

export interface LogMessage {
  lines?: LogLine[]
  end?: LogEnd
}
