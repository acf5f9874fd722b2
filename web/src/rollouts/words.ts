// The words of rollouts: phases, waves, and what a bar of waves says to users who cannot see it.
import { count, type Tone, type Word } from '../words'
import type { Revision, RolloutAction, RolloutChannel, RolloutPhase, Wave, WaveState } from '../api'

const phases: Record<RolloutPhase, Word> = {
  Pending: { label: 'Not begun', tone: 'idle', means: 'The lifecycle manager has not looked at this plan yet.' },
  Progressing: { label: 'Rolling out', tone: 'busy', means: 'Kymas of the current wave get the version, or it is observed.' },
  Waiting: { label: 'Waits for you', tone: 'warn', means: 'Nothing fails, but a person must act before it goes on.' },
  Halted: { label: 'Halted', tone: 'bad', means: 'Too many Kymas failed. No further Kyma gets the version before a person decides.' },
  RollingBack: { label: 'Going back', tone: 'bad', means: 'Too many Kymas failed, and those that have the version go back.' },
  RolledBack: { label: 'Went back', tone: 'warn', means: 'Too many Kymas failed, and those that had the version have gone back.' },
  Aborted: { label: 'Aborted', tone: 'idle', means: 'A person ended it. No further Kyma gets the version.' },
  Completed: { label: 'Completed', tone: 'ok', means: 'All waves have passed. Every Kyma of the channel may have the version.' },
}

const waveStates: Record<WaveState, Word> = {
  Passed: { label: 'Passed', tone: 'ok', means: 'The rollout is through with this wave.' },
  Updating: { label: 'Upgrading', tone: 'busy', means: 'Its Kymas get the version now.' },
  Soaking: { label: 'Observed', tone: 'busy', means: 'All that can be ready are; the next wave begins when the time is over.' },
  Waiting: { label: 'Waits for you', tone: 'warn', means: 'It goes on when a person acts.' },
  Halted: { label: 'Halted', tone: 'bad', means: 'More of its Kymas failed than it allows.' },
  RollingBack: { label: 'Going back', tone: 'bad', means: 'Its Kymas go back to the version before.' },
  RolledBack: { label: 'Went back', tone: 'warn', means: 'Its Kymas have gone back to the version before.' },
  Aborted: { label: 'Aborted', tone: 'idle', means: 'It was in this wave that a person ended the rollout.' },
  Pending: { label: 'Not yet', tone: 'idle', means: 'Its turn has not come.' },
}

const strange = (name: string | undefined): Word => ({
  label: name || 'Unknown',
  tone: 'idle',
  means: 'A state that this page does not know.',
})

/** rolloutWord returns the label of a phase; an unknown one keeps its own name. */
export function rolloutWord(phase: string | undefined): Word {
  return phase && Object.hasOwn(phases, phase) ? phases[phase as RolloutPhase] : strange(phase)
}

/** waveWord is the same for the state of a wave. */
export function waveWord(state: string | undefined): Word {
  return state && Object.hasOwn(waveStates, state) ? waveStates[state as WaveState] : strange(state)
}

/** channelWord is the phase of a channel. One that is paused says so, unless it is over or has halted anyway. */
export function channelWord(c: RolloutChannel): Word {
  if (c.waitsFor === 'Resume') return { label: 'Paused', tone: 'warn', means: 'No further Kyma begins before the rollout is resumed.' }
  return rolloutWord(c.phase)
}

export interface Part {
  key: 'ready' | 'updating' | 'failed' | 'brokenBefore' | 'skipped' | 'waiting'
  label: string
  tone: Tone
  means: string
  n: number
}

/** partsOf splits a wave into the states of its Kymas, in the order of a bar: what is done first, what is to come last. */
export function partsOf(wave: Wave): Part[] {
  return [
    { key: 'ready', label: 'ready', tone: 'ok', means: 'They have the version, and it is ready.', n: wave.ready },
    { key: 'updating', label: 'updating', tone: 'busy', means: 'They have begun and are not ready yet.', n: wave.updating },
    { key: 'failed', label: 'failed', tone: 'bad', means: 'They were not ready in time, or not any more.', n: wave.failed },
    {
      key: 'brokenBefore',
      label: 'broken before',
      tone: 'warn',
      means: 'They were not ready before they began, and are not now. They do not count as failed.',
      n: wave.brokenBefore,
    },
    {
      key: 'skipped',
      label: 'skipped',
      tone: 'idle',
      means: 'They cannot begin: the runtime does not answer, or they wait for a maintenance window. They come later.',
      n: wave.skipped,
    },
    { key: 'waiting', label: 'waiting', tone: 'idle', means: 'They have not begun.', n: wave.waiting },
  ]
}

/** waveText is a wave in a sentence without a verb: "early: 5 of 20 ready, 2 failed". */
export function waveText(wave: Wave): string {
  const others = partsOf(wave).filter((part) => part.key !== 'ready' && part.n > 0)
  const rest = others.map((part) => `, ${part.n.toLocaleString('en')} ${part.label}`).join('')
  return `${wave.name}: ${wave.ready.toLocaleString('en')} of ${count(wave.total, 'Kyma')} ready${rest}`
}

/** barText is what a bar of waves says. */
export function barText(waves: Wave[]): string {
  return waves.length === 0 ? 'No wave was counted yet' : waves.map(waveText).join('; ')
}

/** stepText says which of the waves is under way. */
export function stepText(c: RolloutChannel): string {
  const waves = c.waves ?? []
  const at = waves.findIndex((wave) => wave.name === c.wave)
  return at < 0 ? '' : `wave ${at + 1} of ${waves.length}: ${c.wave}`
}

/** channelTitle names a channel; a mandatory module has none. */
export function channelTitle(name: string): string {
  return name ? `Channel ${name}` : 'All Kymas'
}

/** planText says what is planned for a wave. */
export function planText(wave: Wave, selects: string | undefined): string {
  const parts = [
    selects ? `Kymas with ${selects}` : wave.name === 'others' ? 'Kymas that no wave selects' : 'all Kymas that no wave before has',
    wave.share && `${wave.share} of them`,
    wave.maxConcurrent ? `${wave.maxConcurrent} at a time` : 'all at once',
    wave.allowedFailures > 0 ? `${count(wave.allowedFailures, 'failure')} allowed` : 'none may fail',
    wave.soak && `observed for ${wave.soak}`,
    wave.approval && 'begins when a person approves it',
  ]
  return parts.filter(Boolean).join(' · ')
}

/** verbOf is what the button of an action says. */
export function verbOf(action: RolloutAction, wave?: string): string {
  switch (action) {
    case 'pause':
      return 'Pause'
    case 'resume':
      return 'Resume'
    case 'approve':
      return wave ? `Approve ${wave}` : 'Approve'
    case 'abort':
      return 'Abort'
  }
}

/** conditionTone is the color of a condition: of these, only a halt is bad when it is true, and only a missing mark when it is not. */
export function conditionTone(type: string, status: string): Tone {
  if (status !== 'True' && status !== 'False') return 'idle'
  const yes = status === 'True'
  switch (type) {
    case 'Halted':
      return yes ? 'bad' : 'ok'
    case 'Armed':
      return yes ? 'ok' : 'bad'
    case 'Progressing':
      return yes ? 'busy' : 'idle'
  }
  return yes ? 'ok' : 'idle'
}

/** outcomeWord says how a revision ended. */
export function outcomeWord(r: Revision): Word {
  switch (r.outcome) {
    case 'Succeeded':
      return { label: 'Succeeded', tone: 'ok', means: 'Everything was ready.' }
    case 'Failed':
      return { label: 'Failed', tone: 'bad', means: 'Its objects failed, and it was not ready when the next one began.' }
    case 'RolledBack':
      return { label: 'Taken back', tone: 'warn', means: 'An earlier version was installed in its place.' }
    case 'Superseded':
      return { label: 'Superseded', tone: 'idle', means: 'The next one began before it was known how it ends.' }
  }
  return { label: 'Under way', tone: 'busy', means: 'It is not known yet how it ends.' }
}

/** shortDigest is enough of a digest to compare it by eye. */
export function shortDigest(digest: string | undefined): string {
  return (digest ?? '').replace(/^sha256:/, '').slice(0, 12)
}
