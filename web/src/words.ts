// The words of the page: what a state, a phase or a kind is called, and what it means for users who never used kubectl.
import type { ModuleType, OperationState, Phase, State } from './api'

export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'idle'
export interface Word {
  label: string
  tone: Tone
  means: string
}

export const states: Record<State, Word> = {
  Ready: { label: 'Ready', tone: 'ok', means: 'It runs in the version that was asked for.' },
  Processing: {
    label: 'Processing',
    tone: 'busy',
    means: 'It is being set up or not ready yet. Where this does not pass, the reason says why.',
  },
  Deleting: { label: 'Deleting', tone: 'busy', means: 'It is being removed.' },
  Warning: { label: 'Warning', tone: 'warn', means: 'It runs, but not as it was asked for.' },
  Error: { label: 'Error', tone: 'bad', means: 'It does not work. The reason says what to do.' },
  Unknown: { label: 'Unknown', tone: 'idle', means: 'It cannot be determined from here. The reason says why.' },
  Unmanaged: { label: 'Unmanaged', tone: 'idle', means: 'It keeps running, but is neither upgraded nor repaired.' },
  NotConfigured: { label: 'Not configured', tone: 'idle', means: 'It is there and waits for a configuration.' },
}

export const phases: Record<Phase, Word> = {
  NotInstalled: { label: 'Not installed', tone: 'idle', means: 'Nothing of it is in the cluster.' },
  Installing: { label: 'Installing', tone: 'busy', means: 'It is being set up.' },
  Installed: { label: 'Installed', tone: 'ok', means: 'All its parts are in the cluster.' },
  Upgrading: { label: 'Upgrading', tone: 'busy', means: 'It is being brought to another version.' },
  Deleting: { label: 'Deleting', tone: 'busy', means: 'It is being removed.' },
  Failed: { label: 'Failed', tone: 'bad', means: 'It could not be set up.' },
  Unmanaged: { label: 'Unmanaged', tone: 'idle', means: 'Its objects keep running, unmanaged.' },
  Orphaned: { label: 'Orphaned', tone: 'warn', means: 'Its parts are there, but what describes them is gone.' },
  Unknown: { label: 'Unknown', tone: 'idle', means: 'It could not be read.' },
}

export const types: Record<ModuleType, { label: string; means: string }> = {
  managed: { label: 'Managed', means: 'The lifecycle manager installs, upgrades and repairs it.' },
  manageable: { label: 'Manageable', means: 'The lifecycle manager can look after it once you add it to a Kyma.' },
  community: { label: 'Community', means: 'Made by the community: no guarantees, and you upgrade it yourself.' },
}

export const operationStates: Record<OperationState, Word> = {
  Running: { label: 'Running', tone: 'busy', means: 'It goes on, also when you close this page.' },
  Succeeded: { label: 'Done', tone: 'ok', means: 'Everything was done.' },
  Failed: { label: 'Failed', tone: 'bad', means: 'It stopped. What was done so far stays, and it can be started again.' },
  Interrupted: { label: 'Interrupted', tone: 'warn', means: 'The dashboard that ran it is gone. Resume to go on where it stopped.' },
  Cancelled: { label: 'Cancelled', tone: 'idle', means: 'A user stopped it. Completed steps stay.' },
}

/** severity orders states from good to bad, as internal/client/modulestatus does. */
export const severity: State[] = ['Error', 'Warning', 'Unknown', 'Deleting', 'Processing', 'NotConfigured', 'Unmanaged', 'Ready']

const unknown: Word = { label: 'Unknown', tone: 'idle', means: 'A state that this page does not know.' }

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
export function count(n: number, one: string, many = one + 's'): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`
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
  if (Number.isNaN(at)) return 'at an unknown time'
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (seconds < 10) return 'just now'
  if (seconds < 60) return `${seconds} seconds ago`
  if (seconds < 3600) return `${count(Math.floor(seconds / 60), 'minute')} ago`
  if (seconds < 86400) return `${count(Math.floor(seconds / 3600), 'hour')} ago`
  return `${count(Math.floor(seconds / 86400), 'day')} ago`
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
