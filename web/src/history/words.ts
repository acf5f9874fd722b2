// The words of the timeline.
import type { Tone } from '../words'
import type { HistoryEntry, HistoryKind } from '../api'

export const kinds: Record<HistoryKind, { label: string; many: string; means: string }> = {
  Operation: { label: 'Operation', many: 'Operations', means: 'A user asked a dashboard for it.' },
  Edit: { label: 'Edit', many: 'Edits', means: 'A client wrote the Kyma. Only its last edit is recorded, and not which user ran it.' },
  Revision: { label: 'Revision', many: 'Revisions', means: 'The module was asked to be another version, or to have other content.' },
  Rollout: { label: 'Rollout', many: 'Rollouts', means: 'A wave of the rollout of its channel began.' },
  Condition: { label: 'State', many: 'States', means: 'What is reported of it became what it is now.' },
  Event: { label: 'Event', many: 'Events', means: 'An event of Kubernetes, which keeps them for about an hour.' },
}

export const allKinds = Object.keys(kinds) as HistoryKind[]

/** toneOf is the color of an entry: good and bad news only where the entry says so. */
export function toneOf(entry: HistoryEntry): Tone {
  const { state = '' } = entry
  if (['Failed', 'Warning', 'RolledBack', 'Interrupted', 'Halted'].includes(state) || state === 'Ready False') return 'warn'
  if (['Succeeded', 'Ready True'].includes(state)) return 'ok'
  return state === 'Running' ? 'busy' : 'idle'
}

/** byText says who did it, and what kind of name that is; empty: it is not known. */
export function byText(entry: HistoryEntry): string {
  switch (entry.whoIs) {
    case 'User':
      return `by ${entry.who ?? ''}`
    case 'Client':
      return `by the client ${entry.who ?? ''}`
    case 'Component':
      return `reported by ${entry.who ?? ''}`
  }
  return ''
}

/** changedFields are those with a value of before or after; held are the others, which a client only holds. */
export function changedFields(entry: HistoryEntry) {
  return (entry.fields ?? []).filter((field) => Boolean(field.from) || Boolean(field.to))
}

export function heldFields(entry: HistoryEntry): string[] {
  return (entry.fields ?? []).filter((field) => !field.from && !field.to).map((field) => field.path)
}
