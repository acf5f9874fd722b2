// What users see of an object when they configure it: what is theirs, without what the cluster keeps for itself.
import type { Json, JsonObject } from '../api'

const theirs = ['name', 'namespace', 'labels', 'annotations']

function metadataOf(object: JsonObject): JsonObject {
  const metadata = object['metadata']
  return metadata !== null && typeof metadata === 'object' && !Array.isArray(metadata) ? metadata : {}
}

/** trimmed leaves out the status, and of the metadata everything that the cluster writes. */
export function trimmed(object: JsonObject): JsonObject {
  const rest = Object.fromEntries(Object.entries(object).filter(([name]) => name !== 'status'))
  const metadata = Object.entries(metadataOf(object)).filter(([name]) => theirs.includes(name))
  return { ...rest, metadata: Object.fromEntries(metadata) }
}

/** whole puts back what trimmed left out of the metadata, so that the cluster sees which state the edit began with. */
export function whole(before: JsonObject, edited: JsonObject): JsonObject {
  const kept = Object.entries(metadataOf(before)).filter(([name]) => !theirs.includes(name))
  return { ...edited, metadata: { ...metadataOf(edited), ...Object.fromEntries(kept) } }
}

/** stateOf tells two states of an object apart. The generation does not move when only the status does. */
export function stateOf(object: JsonObject): string {
  const metadata = metadataOf(object)
  return String(metadata['generation'] ?? metadata['resourceVersion'] ?? '')
}

/** holds says whether a value has everything of another: the cluster may have added to it. */
export function holds(value: Json | undefined, other: Json | undefined): boolean {
  if (other === undefined || other === null) return true
  if (typeof other !== 'object') return value === other
  if (value === undefined || value === null || typeof value !== 'object' || Array.isArray(value) !== Array.isArray(other)) return false
  if (Array.isArray(other)) return (value as Json[]).length === other.length && other.every((one, i) => holds((value as Json[])[i], one))
  return Object.keys(other).every((name) => holds(Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined, other[name]))
}

export function same(a: Json | undefined, b: Json | undefined): boolean {
  return holds(a, b) && holds(b, a)
}
