// One rollout: its waves live, what it waits for, which Kymas fail, and what can be decided.
import { CirclePause, CirclePlay, OctagonX, Rocket, ThumbsUp } from 'lucide-react'
import { useState } from 'react'
import { useParams } from 'react-router'
import { DeedModal } from '../deeds/DeedModal'
import { moduleLink } from '../deeds/Progress'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Avatar, Header, Notice, NotRead, Tag, To } from '../parts/basics'
import { Ago, Conditions, Events } from '../parts/details'
import { Table } from '../parts/list'
import { Loaded } from '../parts/loaded'
import type { Rollout, RolloutAct, RolloutAction, RolloutChannel, RolloutDeed, RolloutDetail, RolloutFailure, Wave } from '../api'
import { Promotion, wishFor, type Wish } from '../rollouts/Promotion'
import { FromTo, WaveBar, WavesBar, WordBadge } from '../rollouts/parts'
import { channelTitle, channelWord, conditionTone, partsOf, planText, rolloutWord, shortDigest, verbOf, waveWord } from '../rollouts/words'
import { count, sentence } from '../words'
import { fill, fillNodes } from '../fill'
import { messages } from '../messages'

export function Page() {
  const { ns = '', name = '' } = useParams()
  const answer = useLive(query('/rollouts/{ns}/{name}', { ns, name }))
  return (
    <>
      {!answer.data && (
        <Header title={name} mark={<Avatar name={name} big />} lead={fill(messages.rollout.rolloutInNamespace, { namespace: ns })} />
      )}
      <Loaded answer={answer}>{(data) => <Body data={data} />}</Loaded>
    </>
  )
}

function Body({ data }: { data: RolloutDetail }) {
  const { rollout } = data
  const channels = rollout.channels ?? []
  const [deed, setDeed] = useState<RolloutDeed | null>(null)
  return (
    <>
      <Header
        title={rollout.name}
        mark={<Avatar name={rollout.name} big />}
        badges={
          <>
            <WordBadge word={rolloutWord(rollout.phase)} />
            {rollout.paused && (
              <Tag tone="warn" means={messages.rollout.noFurtherKymaBeginsUpgrades}>
                {messages.common.paused}
              </Tag>
            )}
          </>
        }
        lead={fill(messages.rollout.rolloutInNamespace, { namespace: rollout.namespace })}
        actions={
          <>
            <Action variant="default" to={`/fleet?search=${encodeURIComponent(rollout.name)}`}>
              {messages.common.versionsInTheFleet}
            </Action>
            <Offering rollout={rollout} />
            {(data.actions ?? []).map((act) => (
              <Button key={act.deed.action} act={act} press={setDeed} />
            ))}
          </>
        }
      />
      <NotRead unread={data.unread} />
      <Troubles rollout={rollout} />
      {channels.map((channel, i) => (
        <Channel
          key={channel.name}
          channel={channel}
          rollout={rollout}
          selects={data.selects ?? {}}
          acts={data.decisions?.[i] ?? []}
          press={setDeed}
        />
      ))}
      <About data={data} />
      <section className="stack tight" aria-label={messages.common.events}>
        <h2 className="flat">{messages.common.events}</h2>
        <Events events={data.events} />
      </section>
      <DeedModal
        title={deed ? titleOf(deed) : ''}
        verb={deed ? verbOf(deed.action, deed.wave) : ''}
        deed={deed}
        danger={deed?.action === 'abort'}
        close={() => setDeed(null)}
      />
    </>
  )
}

/** Offering begins what the rollout then carries out: a channel offers another version. */
function Offering({ rollout }: { rollout: Rollout }) {
  const [wish, setWish] = useState<Wish>()
  const { data } = useLive(query('/releases', { search: rollout.name, limit: 200 }), true)
  const release = data?.items?.find(({ name, namespace }) => name === rollout.name && namespace === rollout.namespace)
  const followed = (rollout.channels ?? []).map(({ name }) => name)
  const channels = [...followed, ...(data?.channels ?? []).filter((channel) => !followed.includes(channel))]
  if (!release || release.mandatory) return null
  return (
    <>
      <Action
        variant="default"
        allowed={release.access.edit}
        leftSection={<Rocket size={16} aria-hidden />}
        onClick={() => setWish(wishFor(release, channels))}
      >
        {messages.rollout.offerAnotherVersion}
      </Action>
      <Promotion wish={wish} channels={channels} change={setWish} />
    </>
  )
}

/** titleOf asks what the button would do. */
function titleOf(deed: RolloutDeed): string {
  const name = deed.rollout.split('/')[1] ?? ''
  const version = (deed.target ?? '').split('@')[0]
  switch (deed.action) {
    case 'pause':
      return fill(messages.rollout.pauseTheRolloutOf, { name })
    case 'resume':
      return fill(messages.rollout.resumeTheRolloutOf, { name: version ? `${name} ${version}` : name })
    case 'approve':
      return fill(messages.rollout.approveWaveOf, { wave: deed.wave, name, version })
    case 'abort':
      return deed.version
        ? fill(messages.rollout.abortAndOffer, { name, version, before: deed.version })
        : fill(messages.rollout.abortTheRolloutOf, { name, version })
  }
}

const icons: Record<RolloutAction, typeof CirclePause> = { pause: CirclePause, resume: CirclePlay, approve: ThumbsUp, abort: OctagonX }

function Button({ act, press }: { act: RolloutAct; press: (deed: RolloutDeed) => void }) {
  const Icon = icons[act.deed.action]
  const strong = act.deed.action === 'approve' || act.deed.action === 'resume'
  return (
    <Action
      variant={strong ? 'filled' : 'default'}
      allowed={act.allowed}
      why={act.why}
      leftSection={<Icon size={16} aria-hidden />}
      onClick={() => press(act.deed)}
    >
      {verbOf(act.deed.action, act.deed.wave)}
      {act.deed.channel && <span className="hidden-text"> {fill(messages.rollout.onChannel, { channel: act.deed.channel })}</span>}
    </Action>
  )
}

/** Troubles are what is wrong with the plan itself, or not yet in place. */
function Troubles({ rollout }: { rollout: Rollout }) {
  return (
    <>
      {rollout.problem && (
        <Notice tone="bad" title={messages.rollout.thisPlanCannotBeCarriedOut}>
          <p>{sentence(rollout.problem)}</p>
        </Notice>
      )}
      {rollout.phase === 'Pending' && (
        <Notice tone="busy">
          <p>{messages.common.lifecycleManagerNotLookedYet}</p>
        </Notice>
      )}
      {rollout.phase !== 'Pending' && !rollout.armed && (
        <Notice tone="warn" title={messages.rollout.noKymaGetsAnotherVersionYet}>
          <p>{sentence(rollout.armedMessage || messages.rollout.theReleaseIsNotMarkedYet)}</p>
        </Notice>
      )}
      {rollout.deleting && (
        <Notice tone="warn">
          <p>{messages.rollout.beingDeletedRemovedOnceEvery}</p>
        </Notice>
      )}
    </>
  )
}

interface ChannelProps {
  channel: RolloutChannel
  rollout: Rollout
  selects: Record<string, string>
  acts: RolloutAct[]
  press: (deed: RolloutDeed) => void
}

function Channel({ channel: c, rollout, selects, acts, press }: ChannelProps) {
  const waves = c.waves ?? []
  const word = channelWord(c)
  return (
    <section className="card pad stack" aria-label={channelTitle(c.name)}>
      <div className="row between top">
        <div className="row">
          <h2 className="flat">{channelTitle(c.name)}</h2>
          <FromTo channel={c} />
          <WordBadge word={word} />
        </div>
        <div className="actions">
          {acts.map((act) => (
            <Button key={act.deed.action} act={act} press={press} />
          ))}
        </div>
      </div>
      <div aria-live="polite">
        {c.message && (
          <Notice tone={word.tone === 'ok' ? 'idle' : word.tone}>
            <p>{sentence(c.message)}</p>
            {c.nextAt && <p>{fill(messages.rollout.goesItselfIfNothingFails, { soon: soon(c.nextAt) })}</p>}
          </Notice>
        )}
      </div>
      {waves.length > 0 && <WavesBar waves={waves} current={c.wave} />}
      {c.phase === 'Completed' ? (
        <details>
          <summary>{count(waves.length, messages.nouns.wave)}</summary>
          <WaveList waves={waves} selects={selects} />
        </details>
      ) : (
        <WaveList waves={waves} current={c.wave} selects={selects} />
      )}
      <Worst worst={c.worst ?? []} rollout={rollout} />
      {c.to.digest && (
        <p className="dim small">
          {fillNodes(messages.rollout.contentOf, { version: c.to.version })} <span className="mono">{shortDigest(c.to.digest)}</span>
        </p>
      )}
    </section>
  )
}

/** soon is a moment to come, as a time of day, and with its date if that is not today. */
export function soon(at: string, now = new Date()): string {
  const then = new Date(at)
  if (Number.isNaN(then.getTime())) return messages.rollout.later
  const time = then.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
  return then.toDateString() === now.toDateString()
    ? fill(messages.rollout.atTime, { time })
    : fill(messages.rollout.onAt, { date: then.toLocaleDateString(), time })
}

function WaveList({ waves, current, selects }: { waves: Wave[]; current?: string; selects: Record<string, string> }) {
  return (
    <ol className="waves" aria-label={messages.common.waves}>
      {waves.map((wave, i) => (
        <WaveOf key={wave.name} wave={wave} n={i + 1} now={wave.name === current} selects={selects[wave.name]} />
      ))}
    </ol>
  )
}

function WaveOf({ wave, n, now, selects }: { wave: Wave; n: number; now: boolean; selects?: string }) {
  return (
    <li className={'wave' + (now ? ' wave-now' : '')} aria-current={now ? 'step' : undefined}>
      <div className="row between">
        <div className="row">
          <span className="dim small">{n}</span>
          <strong>{wave.name}</strong>
          <WordBadge word={waveWord(wave.state)} />
          {now && wave.since && (
            <span className="dim small">
              {messages.rollout.since} <Ago at={wave.since} />
            </span>
          )}
        </div>
        <span className="small nowrap">{count(wave.total, messages.nouns.kyma)}</span>
      </div>
      <WaveBar wave={wave} />
      <dl className="wave-counts">
        {partsOf(wave)
          .filter((part) => now || part.n > 0 || part.key === 'ready')
          .map((part) => (
            <div key={part.key} className={part.n === 0 ? 'none' : `tone-${part.tone}`} title={part.means}>
              <dt>{part.label}</dt>
              <dd>{part.n.toLocaleString('en')}</dd>
            </div>
          ))}
      </dl>
      <p className="dim small flat">{planText(wave, selects)}</p>
    </li>
  )
}

const worstColumns = [
  { key: 'kyma', label: messages.common.kyma },
  { key: 'reason', label: messages.common.why },
  { key: 'since', label: messages.common.since },
]

/** Worst are the Kymas that failed or are late, each with the way to its module. */
function Worst({ worst, rollout }: { worst: RolloutFailure[]; rollout: Rollout }) {
  if (worst.length === 0) return null
  return (
    <div className="stack tight">
      <h3 className="flat">{messages.rollout.lookAtTheseFirst}</h3>
      <Table label={messages.rollout.kymasThatFailedOrAreLate} columns={worstColumns}>
        {worst.map((one) => (
          <tr key={one.kyma}>
            <td className="lead">
              <To to={moduleLink(`${rollout.namespace}/${one.kyma}`, rollout.name)}>{one.kyma}</To>
            </td>
            <td data-label={messages.common.why}>
              <span>
                <Tag tone="warn">{one.reason}</Tag>
                {one.message && <span className="small"> {sentence(one.message)}</span>}
              </span>
            </td>
            <td data-label={messages.common.since}>
              <Ago at={one.since} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  )
}

const verbs: Record<RolloutAction, string> = {
  pause: messages.rollout.pausedIt,
  resume: messages.rollout.resumed,
  approve: messages.rollout.approved,
  abort: messages.rollout.aborted,
}

function About({ data }: { data: RolloutDetail }) {
  const { rollout } = data
  const last = rollout.decision
  return (
    <div className="grid grid-two">
      <section className="card pad stack">
        <h2 className="flat">{messages.rollout.plan}</h2>
        <dl className="facts">
          <dt>{messages.rollout.failedAfter}</dt>
          <dd>{fill(messages.rollout.withoutBeingReady, { deadline: rollout.progressDeadline || '30m' })}</dd>
          <dt>{messages.rollout.whenTooManyFail}</dt>
          <dd>{rollout.onFailure === 'Rollback' ? messages.rollout.thoseThatHaveItGoBack : messages.rollout.noFurtherKymaGetsIt}</dd>
          {last && (
            <>
              <dt>{messages.rollout.lastDecision}</dt>
              <dd>
                {last.by || messages.rollout.aPerson} {verbs[last.action] ?? last.action} {last.target.split('@')[0]}
                {last.channel && ' ' + fill(messages.rollout.onChannel, { channel: last.channel })}
                {last.wave && ' ' + fill(messages.rollout.inWave, { wave: last.wave })} <Ago at={last.at} />
              </dd>
            </>
          )}
        </dl>
      </section>
      <section className="card pad stack">
        <h2 className="flat">{messages.common.conditions}</h2>
        <Conditions conditions={data.conditions ?? []} tone={conditionTone} />
      </section>
    </div>
  )
}
