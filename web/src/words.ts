// The words of the page: what a state, a phase or a kind is called, and what it means for users who never used kubectl.
import type { ModuleType, OperationState, Phase, State } from './api'
import { fill, formOf, type Noun } from './fill'
import { messages } from './messages'

export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'idle'
export interface Word {
  label: string
  tone: Tone
  means: string
}

export const states: Record<State, Word> = {
  Ready: { label: messages.states.ready, tone: 'ok', means: messages.states.readyMeans },
  Processing: {
    label: messages.states.processing,
    tone: 'busy',
    means: messages.states.processingMeans,
  },
  Deleting: { label: messages.states.deleting, tone: 'busy', means: messages.states.deletingMeans },
  Warning: { label: messages.states.warning, tone: 'warn', means: messages.states.warningMeans },
  Error: { label: messages.states.error, tone: 'bad', means: messages.states.errorMeans },
  Unknown: { label: messages.states.unknown, tone: 'idle', means: messages.states.unknownMeans },
  Unmanaged: { label: messages.states.unmanaged, tone: 'idle', means: messages.states.unmanagedMeans },
  NotConfigured: { label: messages.states.notConfigured, tone: 'idle', means: messages.states.notConfiguredMeans },
}

export const phases: Record<Phase, Word> = {
  NotInstalled: { label: messages.phases.notInstalled, tone: 'idle', means: messages.phases.notInstalledMeans },
  Installing: { label: messages.phases.installing, tone: 'busy', means: messages.phases.installingMeans },
  Installed: { label: messages.phases.installed, tone: 'ok', means: messages.phases.installedMeans },
  Upgrading: { label: messages.phases.upgrading, tone: 'busy', means: messages.phases.upgradingMeans },
  Deleting: { label: messages.phases.deleting, tone: 'busy', means: messages.phases.deletingMeans },
  Failed: { label: messages.phases.failed, tone: 'bad', means: messages.phases.failedMeans },
  Unmanaged: { label: messages.phases.unmanaged, tone: 'idle', means: messages.phases.unmanagedMeans },
  Orphaned: { label: messages.phases.orphaned, tone: 'warn', means: messages.phases.orphanedMeans },
  Unknown: { label: messages.phases.unknown, tone: 'idle', means: messages.phases.unknownMeans },
}

export const types: Record<ModuleType, { label: string; means: string }> = {
  managed: { label: messages.moduleTypes.managed, means: messages.moduleTypes.managedMeans },
  manageable: { label: messages.moduleTypes.manageable, means: messages.moduleTypes.manageableMeans },
  community: { label: messages.moduleTypes.community, means: messages.moduleTypes.communityMeans },
}

export const operationStates: Record<OperationState, Word> = {
  Running: { label: messages.operationStates.running, tone: 'busy', means: messages.operationStates.runningMeans },
  Succeeded: { label: messages.operationStates.succeeded, tone: 'ok', means: messages.operationStates.succeededMeans },
  Failed: { label: messages.operationStates.failed, tone: 'bad', means: messages.operationStates.failedMeans },
  Interrupted: { label: messages.operationStates.interrupted, tone: 'warn', means: messages.operationStates.interruptedMeans },
  Cancelled: { label: messages.operationStates.cancelled, tone: 'idle', means: messages.operationStates.cancelledMeans },
}

/** severity orders states from good to bad, as internal/client/modulestatus does. */
export const severity: State[] = ['Error', 'Warning', 'Unknown', 'Deleting', 'Processing', 'NotConfigured', 'Unmanaged', 'Ready']

const unknown: Word = { label: messages.common.unknownLabel, tone: 'idle', means: messages.common.statePageNotKnow }

/** stateWord returns the label of a state; an unknown state keeps its own name. */
export function stateWord(state: string | undefined): Word {
  if (state && Object.hasOwn(states, state)) return states[state as State]
  return { ...unknown, label: state || unknown.label }
}

/** phaseWord is the same for the phase of an installation. */
export function phaseWord(phase: string | undefined): Word {
  if (phase && Object.hasOwn(phases, phase)) return phases[phase as Phase]
  return { ...unknown, label: phase || unknown.label }
}

/** operationWord is the same for an operation. */
export function operationWord(state: string | undefined): Word {
  if (state && Object.hasOwn(operationStates, state)) return operationStates[state as OperationState]
  return { ...unknown, label: state || unknown.label }
}

/** count writes a number with its noun: 1 module, 2 modules. */
export function count(n: number, noun: Noun): string {
  return `${n.toLocaleString('en')} ${formOf(n, noun)}`
}

/** sentence makes a whole sentence of a message: the server begins them small and without a full stop. */
export function sentence(text: string | undefined): string {
  if (!text) return ''
  const trimmed = text.trim()
  const first = /^[a-z]+[a-z]*\s/.test(trimmed) ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed
  return /[.!?:…]$/.test(first) ? first : first + '.'
}

/** capital begins a word with a capital letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** initials are two letters that stand for a module, where others would load an icon from anywhere. */
export function initials(name: string): string {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
  const letters = parts.length > 1 ? (parts[0]?.[0] ?? '') + (parts[1]?.[0] ?? '') : (parts[0] ?? '?').slice(0, 2)
  return letters.toUpperCase() || '?'
}

/** hue is a number from 0 to 5 that belongs to a name. */
export function hue(name: string): number {
  let sum = 7
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973
  return sum % 6
}

/** ago says how long something is past, in words. */
export function ago(then: string | undefined, now: number): string {
  const at = then ? Date.parse(then) : NaN
  if (Number.isNaN(at)) return messages.words.atAnUnknownTime
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (seconds < 10) return messages.words.justNow
  if (seconds < 60) return fill(messages.words.secondsAgo, { seconds })
  if (seconds < 3600) return fill(messages.words.minutesAgo, { minutes: count(Math.floor(seconds / 60), messages.nouns.minute) })
  if (seconds < 86400) return fill(messages.words.hoursAgo, { hours: count(Math.floor(seconds / 3600), messages.nouns.hour) })
  return fill(messages.words.daysAgo, { days: count(Math.floor(seconds / 86400), messages.nouns.day) })
}

/** moduleText writes a module as "notes in kcp-system/demo"; one without a Kyma has only its name. */
export function moduleText({ name, kyma }: { name: string; kyma?: string }): string {
  return kyma ? fill(messages.words.nameInKyma, { name, kyma }) : name
}

/** refText writes an object as "Deployment kyma-system/notes". */
export function refText(ref: { kind: string; namespace?: string; name: string }): string {
  return `${ref.kind} ${ref.namespace ? ref.namespace + '/' : ''}${ref.name}`
}

/** safeLink is a link that may be followed: https and nothing else. */
export function safeLink(link: string | undefined): string | undefined {
  if (!link || link.length > 2048) return undefined
  try {
    const url = new URL(link)
    return url.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : undefined
  } catch {
    return undefined
  }
}
