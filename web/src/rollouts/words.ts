// The words of rollouts: phases, waves, and what a bar of waves says to users who cannot see it.
import { count, type Tone, type Word } from '../words'
import type { Revision, RolloutAction, RolloutChannel, RolloutPhase, Wave, WaveState } from '../api'
import { fill } from '../fill'
import { messages } from '../messages'

const phases: Record<RolloutPhase, Word> = {
  Pending: { label: messages.rolloutPhases.pending, tone: 'idle', means: messages.rolloutPhases.pendingMeans },
  Progressing: { label: messages.rolloutPhases.progressing, tone: 'busy', means: messages.rolloutPhases.progressingMeans },
  Waiting: { label: messages.rolloutPhases.waiting, tone: 'warn', means: messages.rolloutPhases.waitingMeans },
  Halted: { label: messages.rolloutPhases.halted, tone: 'bad', means: messages.rolloutPhases.haltedMeans },
  RollingBack: { label: messages.rolloutPhases.rollingBack, tone: 'bad', means: messages.rolloutPhases.rollingBackMeans },
  RolledBack: { label: messages.rolloutPhases.rolledBack, tone: 'warn', means: messages.rolloutPhases.rolledBackMeans },
  Aborted: { label: messages.rolloutPhases.aborted, tone: 'idle', means: messages.rolloutPhases.abortedMeans },
  Completed: { label: messages.rolloutPhases.completed, tone: 'ok', means: messages.rolloutPhases.completedMeans },
}

const waveStates: Record<WaveState, Word> = {
  Passed: { label: messages.waveStates.passed, tone: 'ok', means: messages.waveStates.passedMeans },
  Updating: { label: messages.waveStates.updating, tone: 'busy', means: messages.waveStates.updatingMeans },
  Soaking: { label: messages.waveStates.soaking, tone: 'busy', means: messages.waveStates.soakingMeans },
  Waiting: { label: messages.waveStates.waiting, tone: 'warn', means: messages.waveStates.waitingMeans },
  Halted: { label: messages.waveStates.halted, tone: 'bad', means: messages.waveStates.haltedMeans },
  RollingBack: { label: messages.waveStates.rollingBack, tone: 'bad', means: messages.waveStates.rollingBackMeans },
  RolledBack: { label: messages.waveStates.rolledBack, tone: 'warn', means: messages.waveStates.rolledBackMeans },
  Aborted: { label: messages.waveStates.aborted, tone: 'idle', means: messages.waveStates.abortedMeans },
  Pending: { label: messages.waveStates.pending, tone: 'idle', means: messages.waveStates.pendingMeans },
}

const strange = (name: string | undefined): Word => ({
  label: name || messages.common.unknownLabel,
  tone: 'idle',
  means: messages.common.statePageNotKnow,
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
  if (c.waitsFor === 'Resume')
    return { label: messages.common.paused, tone: 'warn', means: messages.rolloutsWords.noFurtherKymaBeginsBefore }
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
    { key: 'ready', label: messages.rolloutsWords.ready, tone: 'ok', means: messages.rolloutsWords.versionReady, n: wave.ready },
    {
      key: 'updating',
      label: messages.rolloutsWords.updating,
      tone: 'busy',
      means: messages.rolloutsWords.begunNotReadyYet,
      n: wave.updating,
    },
    { key: 'failed', label: messages.common.failed, tone: 'bad', means: messages.rolloutsWords.notReadyTimeNotAny, n: wave.failed },
    {
      key: 'brokenBefore',
      label: messages.rolloutsWords.brokenBefore,
      tone: 'warn',
      means: messages.rolloutsWords.notReadyBeforeBeganNot,
      n: wave.brokenBefore,
    },
    {
      key: 'skipped',
      label: messages.rolloutsWords.skipped,
      tone: 'idle',
      means: messages.rolloutsWords.cannotBeginRuntimeNotAnswer,
      n: wave.skipped,
    },
    {
      key: 'waiting',
      label: messages.rolloutsWords.waiting,
      tone: 'idle',
      means: messages.rolloutsWords.theyHaveNotBegun,
      n: wave.waiting,
    },
  ]
}

/** waveText is a wave in a sentence without a verb: "early: 5 of 20 ready, 2 failed". */
export function waveText(wave: Wave): string {
  const others = partsOf(wave).filter((part) => part.key !== 'ready' && part.n > 0)
  const rest = others.map((part) => `, ${part.n.toLocaleString('en')} ${part.label}`).join('')
  return fill(messages.rolloutsWords.waveReady, {
    name: wave.name,
    ready: wave.ready.toLocaleString('en'),
    kymas: count(wave.total, messages.nouns.kyma),
    others: rest,
  })
}

/** barText is what a bar of waves says. */
export function barText(waves: Wave[]): string {
  return waves.length === 0 ? messages.rolloutsWords.noWaveWasCountedYet : waves.map(waveText).join('; ')
}

/** stepText says which of the waves is under way. */
export function stepText(c: RolloutChannel): string {
  const waves = c.waves ?? []
  const at = waves.findIndex((wave) => wave.name === c.wave)
  return at < 0 ? '' : fill(messages.rolloutsWords.step, { number: at + 1, count: waves.length, name: c.wave })
}

/** channelTitle names a channel; a mandatory module has none. */
export function channelTitle(name: string): string {
  return name ? fill(messages.common.channelName, { name }) : messages.rolloutsWords.allKymas
}

/** planText says what is planned for a wave. */
export function planText(wave: Wave, selects: string | undefined): string {
  const parts = [
    selects
      ? fill(messages.rolloutsWords.kymasWith, { selects })
      : wave.name === 'others'
        ? messages.rolloutsWords.kymasThatNoWaveSelects
        : messages.rolloutsWords.allKymasNoWaveBefore,
    wave.share && fill(messages.rolloutsWords.ofThem, { share: wave.share }),
    wave.maxConcurrent ? fill(messages.rolloutsWords.atATime, { most: wave.maxConcurrent }) : messages.rolloutsWords.allAtOnce,
    wave.allowedFailures > 0
      ? fill(messages.rolloutsWords.failuresAllowed, { failures: count(wave.allowedFailures, messages.nouns.failure) })
      : messages.rolloutsWords.noneMayFail,
    wave.soak && fill(messages.rolloutsWords.observedFor, { soak: wave.soak }),
    wave.approval && messages.rolloutsWords.beginsWhenAPersonApprovesIt,
  ]
  return parts.filter(Boolean).join(' · ')
}

/** verbOf is what the button of an action says. */
export function verbOf(action: RolloutAction, wave?: string): string {
  switch (action) {
    case 'pause':
      return messages.rolloutsWords.pause
    case 'resume':
      return messages.common.resume
    case 'approve':
      return wave ? fill(messages.rolloutsWords.approveWave, { wave }) : messages.rolloutsWords.approve
    case 'abort':
      return messages.rolloutsWords.abort
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
      return { label: messages.rolloutsWords.succeeded, tone: 'ok', means: messages.rolloutsWords.everythingWasReady }
    case 'Failed':
      return { label: messages.rolloutsWords.failed, tone: 'bad', means: messages.rolloutsWords.objectsFailedNotReadyWhen }
    case 'RolledBack':
      return { label: messages.rolloutsWords.takenBack, tone: 'warn', means: messages.rolloutsWords.earlierVersionInstalledPlace }
    case 'Superseded':
      return { label: messages.rolloutsWords.superseded, tone: 'idle', means: messages.rolloutsWords.nextOneBeganBeforeKnown }
  }
  return { label: messages.rolloutsWords.underWay, tone: 'busy', means: messages.rolloutsWords.notKnownYetHowEnds }
}

/** shortDigest is enough of a digest to compare it by eye. */
export function shortDigest(digest: string | undefined): string {
  return (digest ?? '').replace(/^sha256:/, '').slice(0, 12)
}
