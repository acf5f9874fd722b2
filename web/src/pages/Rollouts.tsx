// All rollouts: how far each module's version is, those that need a person first.
import { Waves } from 'lucide-react'
import { at } from '../live/http'
import { useLive } from '../live/useLive'
import { Avatar, Empty, Header, hidden, Notice, NotRead, Tag, To, Unseen } from '../parts/basics'
import { beyondEnd, BeyondEnd, Filter, listQuery, Pages, Search, Table, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import type { Rollout, RolloutChannel, RolloutList } from '../api'
import { FromTo, WavesBar, WordBadge } from '../rollouts/parts'
import { channelWord, rolloutWord, stepText } from '../rollouts/words'
import { sentence } from '../words'

const phaseOptions = ['Halted', 'Waiting', 'Progressing', 'Completed'].map((value) => ({ value, label: rolloutWord(value).label }))
const columns = [
  { key: 'module', label: 'Module' },
  { key: 'channel', label: 'Channel' },
  { key: 'version', label: 'Version' },
  { key: 'phase', label: 'How it is going' },
  { key: 'waves', label: 'Waves' },
]

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/rollouts', state, ['phase']), true)
  return (
    <>
      <Header
        title="Rollouts"
        lead="A rollout decides when each Kyma gets what a channel moves to: wave after wave, and no further when too many fail."
      />
      <div className="row">
        <Search state={state} label="Search rollouts" />
        <Filter state={state} name="phase" label="Phase" options={phaseOptions} />
      </div>
      <Loaded answer={answer}>{(list) => <Body list={list} state={state} />}</Loaded>
    </>
  )
}

function Body({ list, state }: { list: RolloutList; state: ListState }) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'ModuleRollout')
  return (
    <>
      <NotRead unread={list.unread} />
      {list.missing && (
        <Notice>
          <p>{sentence(list.missing)}</p>
        </Notice>
      )}
      {items.length === 0 && !list.missing && <div className="card">{blind ? <Unseen /> : <Nothing state={state} />}</div>}
      {items.length > 0 && (
        <Table label="Rollouts" columns={columns}>
          {items.flatMap((rollout) => rowsOf(rollout))}
        </Table>
      )}
      {!blind && !list.missing && <Pages state={state} total={list.total} one="rollout" />}
    </>
  )
}

function Nothing({ state }: { state: ListState }) {
  if (state.filtered) return <Empty icon={<Waves size={40} aria-hidden />} title="No matching rollouts" />
  return (
    <Empty icon={<Waves size={40} aria-hidden />} title="No rollouts yet">
      A channel that moves reaches all of its Kymas at once. To release a module in waves, create a ModuleRollout of its name in the
      namespace of its release.
    </Empty>
  )
}

/** rowsOf has a row for each channel, and one for a rollout that was not looked at yet. */
function rowsOf(rollout: Rollout) {
  const channels = rollout.channels ?? []
  const key = `${rollout.namespace}/${rollout.name}`
  if (channels.length === 0) return [<Row key={key} rollout={rollout} />]
  return channels.map((channel) => <Row key={`${key}/${channel.name}`} rollout={rollout} channel={channel} />)
}

function Row({ rollout, channel }: { rollout: Rollout; channel?: RolloutChannel }) {
  const message = channel?.message || rollout.problem || rollout.armedMessage
  return (
    <tr>
      <td className="lead">
        <div className="name-cell">
          <Avatar name={rollout.name} />
          <div>
            <To to={'/rollouts' + at(rollout.namespace, rollout.name)}>
              <strong>{rollout.name}</strong>
              {channel?.name && <span className="hidden-text"> on channel {channel.name}</span>}
            </To>
            <div className="dim small">{rollout.namespace}</div>
          </div>
        </div>
      </td>
      <td data-label="Channel">{channel ? channel.name || <Tag means="Every Kyma has this module.">Mandatory</Tag> : '–'}</td>
      <td data-label="Version">{channel ? <FromTo channel={channel} /> : '–'}</td>
      <td data-label="How it is going">
        <div className="progress-cell">
          <WordBadge word={channel ? channelWord(channel) : rolloutWord(rollout.phase)} message={message} />
          {message && <p className="dim small flat two-lines">{sentence(message)}</p>}
        </div>
      </td>
      <td data-label="Waves" className="waves-cell">
        {channel ? (
          <div>
            <WavesBar waves={channel.waves ?? []} current={channel.wave} />
            <div className="dim small">{stepText(channel)}</div>
          </div>
        ) : (
          '–'
        )}
      </td>
    </tr>
  )
}
