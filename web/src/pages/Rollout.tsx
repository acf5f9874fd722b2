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

export function Page() {
  const { ns = '', name = '' } = useParams()
  const answer = useLive(query('/rollouts/{ns}/{name}', { ns, name }))
  return (
    <>
      {!answer.data && <Header title={name} mark={<Avatar name={name} big />} lead={`Rollout in ${ns}`} />}
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
              <Tag tone="warn" means="No further Kyma begins. Upgrades that have begun continue.">
                Paused
              </Tag>
            )}
          </>
        }
        lead={`Rollout in ${rollout.namespace}`}
        actions={
          <>
            <Action variant="default" to={`/fleet?search=${encodeURIComponent(rollout.name)}`}>
              Versions in the fleet
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
      <section className="stack tight" aria-label="Events">
        <h2 className="flat">Events</h2>
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
        Offer another version
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
      return `Pause the rollout of ${name}?`
    case 'resume':
      return `Resume the rollout of ${name}${version ? ' ' + version : ''}?`
    case 'approve':
      return `Approve wave ${deed.wave} of ${name} ${version}?`
    case 'abort':
      return `Abort the rollout of ${name} ${version}${deed.version ? `, and offer ${deed.version} again` : ''}?`
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
      {act.deed.channel && <span className="hidden-text"> on channel {act.deed.channel}</span>}
    </Action>
  )
}

/** Troubles are what is wrong with the plan itself, or not yet in place. */
function Troubles({ rollout }: { rollout: Rollout }) {
  return (
    <>
      {rollout.problem && (
        <Notice tone="bad" title="This plan cannot be carried out">
          <p>{sentence(rollout.problem)}</p>
        </Notice>
      )}
      {rollout.phase === 'Pending' && (
        <Notice tone="busy">
          <p>The lifecycle manager has not looked at it yet.</p>
        </Notice>
      )}
      {rollout.phase !== 'Pending' && !rollout.armed && (
        <Notice tone="warn" title="No Kyma gets another version yet">
          <p>{sentence(rollout.armedMessage || 'The release is not marked yet')}</p>
        </Notice>
      )}
      {rollout.deleting && (
        <Notice tone="warn">
          <p>It is being deleted, and is removed once every version that its channels name is released to every Kyma.</p>
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
            {c.nextAt && <p>It goes on by itself {soon(c.nextAt)}, if nothing fails.</p>}
          </Notice>
        )}
      </div>
      {waves.length > 0 && <WavesBar waves={waves} current={c.wave} />}
      {c.phase === 'Completed' ? (
        <details>
          <summary>{count(waves.length, 'wave')}</summary>
          <WaveList waves={waves} selects={selects} />
        </details>
      ) : (
        <WaveList waves={waves} current={c.wave} selects={selects} />
      )}
      <Worst worst={c.worst ?? []} rollout={rollout} />
      {c.to.digest && <p className="dim small">Content of {c.to.version}: <span className="mono">{shortDigest(c.to.digest)}</span></p>}
    </section>
  )
}

/** soon is a moment to come, as a time of day, and with its date if that is not today. */
export function soon(at: string, now = new Date()): string {
  const then = new Date(at)
  if (Number.isNaN(then.getTime())) return 'later'
  const time = then.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
  return then.toDateString() === now.toDateString() ? `at ${time}` : `on ${then.toLocaleDateString()} at ${time}`
}

function WaveList({ waves, current, selects }: { waves: Wave[]; current?: string; selects: Record<string, string> }) {
  return (
    <ol className="waves" aria-label="Waves">
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
              since <Ago at={wave.since} />
            </span>
          )}
        </div>
        <span className="small nowrap">{count(wave.total, 'Kyma')}</span>
      </div>
      <WaveBar wave={wave} />
      <dl className="wave-counts">
        {partsOf(wave).filter((part) => now || part.n > 0 || part.key === 'ready').map((part) => (
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
  { key: 'kyma', label: 'Kyma' },
  { key: 'reason', label: 'Why' },
  { key: 'since', label: 'Since' },
]

/** Worst are the Kymas that failed or are late, each with the way to its module. */
function Worst({ worst, rollout }: { worst: RolloutFailure[]; rollout: Rollout }) {
  if (worst.length === 0) return null
  return (
    <div className="stack tight">
      <h3 className="flat">Look at these first</h3>
      <Table label="Kymas that failed or are late" columns={worstColumns}>
        {worst.map((one) => (
          <tr key={one.kyma}>
            <td className="lead">
              <To to={moduleLink(`${rollout.namespace}/${one.kyma}`, rollout.name)}>{one.kyma}</To>
            </td>
            <td data-label="Why">
              <span>
                <Tag tone="warn">{one.reason}</Tag>
                {one.message && <span className="small"> {sentence(one.message)}</span>}
              </span>
            </td>
            <td data-label="Since">
              <Ago at={one.since} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  )
}

const verbs: Record<RolloutAction, string> = { pause: 'paused it', resume: 'resumed', approve: 'approved', abort: 'aborted' }

function About({ data }: { data: RolloutDetail }) {
  const { rollout } = data
  const last = rollout.decision
  return (
    <div className="grid grid-two">
      <section className="card pad stack">
        <h2 className="flat">Plan</h2>
        <dl className="facts">
          <dt>Failed after</dt>
          <dd>{rollout.progressDeadline || '30m'} without being ready</dd>
          <dt>When too many fail</dt>
          <dd>{rollout.onFailure === 'Rollback' ? 'those that have it go back' : 'no further Kyma gets it'}</dd>
          {last && (
            <>
              <dt>Last decision</dt>
              <dd>
                {last.by || 'A person'} {verbs[last.action] ?? last.action} {last.target.split('@')[0]}
                {last.channel && ` on channel ${last.channel}`}
                {last.wave && ` in wave ${last.wave}`}{' '}
                <Ago at={last.at} />
              </dd>
            </>
          )}
        </dl>
      </section>
      <section className="card pad stack">
        <h2 className="flat">Conditions</h2>
        <Conditions conditions={data.conditions ?? []} tone={conditionTone} />
      </section>
    </div>
  )
}
