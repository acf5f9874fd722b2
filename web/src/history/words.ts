// The words of the timeline.
import type { Tone } from '../words'
import type { HistoryEntry, HistoryKind } from '../api'
import { fill } from '../fill'
import { messages } from '../messages'

export const kinds: Record<HistoryKind, { label: string; many: string; means: string }> = {
  Operation: {
    label: messages.historyKinds.operation,
    many: messages.historyKinds.operationMany,
    means: messages.historyKinds.operationMeans,
  },
  Edit: { label: messages.historyKinds.edit, many: messages.historyKinds.editMany, means: messages.historyKinds.editMeans },
  Revision: { label: messages.historyKinds.revision, many: messages.historyKinds.revisionMany, means: messages.historyKinds.revisionMeans },
  Rollout: { label: messages.historyKinds.rollout, many: messages.historyKinds.rolloutMany, means: messages.historyKinds.rolloutMeans },
  Condition: {
    label: messages.historyKinds.condition,
    many: messages.historyKinds.conditionMany,
    means: messages.historyKinds.conditionMeans,
  },
  Event: { label: messages.historyKinds.event, many: messages.historyKinds.eventMany, means: messages.historyKinds.eventMeans },
}

export const allKinds = Object.keys(kinds) as HistoryKind[]

// A condition is in the state of its type and status.
/* eslint-disable no-restricted-syntax */
const bad = ['Failed', 'Warning', 'RolledBack', 'Interrupted', 'Halted', 'Ready False']
const good = ['Succeeded', 'Ready True']
/* eslint-enable no-restricted-syntax */

/** toneOf is the color of an entry: good and bad news only where the entry says so. */
export function toneOf(entry: HistoryEntry): Tone {
  const { state = '' } = entry
  if (bad.includes(state)) return 'warn'
  if (good.includes(state)) return 'ok'
  return state === 'Running' ? 'busy' : 'idle'
}

/** byText says who did it, and what kind of name that is; empty: it is not known. */
export function byText(entry: HistoryEntry): string {
  switch (entry.whoIs) {
    case 'User':
      return fill(messages.historyWords.byWho, { who: entry.who ?? '' })
    case 'Client':
      return fill(messages.historyWords.byTheClient, { who: entry.who ?? '' })
    case 'Component':
      return fill(messages.historyWords.reportedBy, { who: entry.who ?? '' })
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
