// Parts of rollouts: a phase, a bar of waves, the versions that it is about.
import { Tooltip } from '@mantine/core'
import { ArrowRight } from 'lucide-react'
import { sentence, type Word } from '../words'
import type { RolloutChannel, Wave } from '../api'
import { barText, partsOf, shortDigest } from './words'
import { messages } from '../messages'

/** WordBadge is a word in its color; the message, if any, is what one reads on pointing at it. */
export function WordBadge({ word, message }: { word: Word; message?: string }) {
  return (
    <Tooltip label={message ? sentence(message) : word.means}>
      <span className={`state tone-${word.tone}`}>{word.label}</span>
    </Tooltip>
  )
}

/** WavesBar shows all waves beside each other, each as wide as it has Kymas, and in it how many are in which state. */
export function WavesBar({ waves, current }: { waves: Wave[]; current?: string }) {
  return (
    <div className="waves-bar" role="img" aria-label={barText(waves)}>
      {waves.map((wave) => (
        <span key={wave.name} className={wave.name === current ? 'wave-now' : undefined} style={{ flexGrow: Math.max(1, wave.total) }}>
          <WaveParts wave={wave} />
        </span>
      ))}
    </div>
  )
}

/** WaveBar is the bar of one wave. Its counts stand beside it as text. */
export function WaveBar({ wave }: { wave: Wave }) {
  return (
    <div className="bar bar-tall" aria-hidden="true">
      <WaveParts wave={wave} />
    </div>
  )
}

function WaveParts({ wave }: { wave: Wave }) {
  const parts = partsOf(wave).filter((part) => part.n > 0)
  return (
    <>
      {parts.map((part) => (
        <i key={part.key} className={`tone-${part.tone} part-${part.key}`} style={{ flexGrow: part.n }} />
      ))}
    </>
  )
}

/** FromTo is from which version to which one a rollout goes. */
export function FromTo({ channel: c }: { channel: RolloutChannel }) {
  const digest = shortDigest(c.to.digest)
  return (
    <span className="row nowrap-row from-to">
      {c.from?.version && c.from.version !== c.to.version && (
        <>
          <span className="mono dim">{c.from.version}</span>
          <ArrowRight size={14} aria-label={messages.common.to} />
        </>
      )}
      <strong className="mono" title={digest && `sha256:${digest}…`}>
        {c.to.version || messages.common.noVersion}
      </strong>
    </span>
  )
}
