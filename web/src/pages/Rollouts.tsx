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
import { fill } from '../fill'
import { messages } from '../messages'

const phaseOptions = ['Halted', 'Waiting', 'Progressing', 'Completed'].map((value) => ({ value, label: rolloutWord(value).label }))
const columns = [
  { key: 'module', label: messages.common.module },
  { key: 'channel', label: messages.common.channel },
  { key: 'version', label: messages.common.version },
  { key: 'phase', label: messages.common.howItIsGoing },
  { key: 'waves', label: messages.common.waves },
]

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/rollouts', state, ['phase']), true)
  return (
    <>
      <Header title={messages.common.rollouts} lead={messages.rollouts.rolloutDecidesWhenEachKyma} />
      <div className="row">
        <Search state={state} label={messages.rollouts.searchRollouts} />
        <Filter state={state} name="phase" label={messages.rollouts.phase} options={phaseOptions} />
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
        <Table label={messages.common.rollouts} columns={columns}>
          {items.flatMap((rollout) => rowsOf(rollout))}
        </Table>
      )}
      {!blind && !list.missing && <Pages state={state} total={list.total} noun={messages.nouns.rollout} />}
    </>
  )
}

function Nothing({ state }: { state: ListState }) {
  if (state.filtered) return <Empty icon={<Waves size={40} aria-hidden />} title={messages.rollouts.noMatchingRollouts} />
  return (
    <Empty icon={<Waves size={40} aria-hidden />} title={messages.rollouts.noRolloutsYet}>
      {messages.rollouts.channelMovesReachesAllKymas}
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
              {channel?.name && <span className="hidden-text"> {fill(messages.rollouts.onChannel, { name: channel.name })}</span>}
            </To>
            <div className="dim small">{rollout.namespace}</div>
          </div>
        </div>
      </td>
      <td data-label={messages.common.channel}>
        {channel ? channel.name || <Tag means={messages.common.everyKymaHasThisModule}>{messages.common.mandatory}</Tag> : '–'}
      </td>
      <td data-label={messages.common.version}>{channel ? <FromTo channel={channel} /> : '–'}</td>
      <td data-label={messages.common.howItIsGoing}>
        <div className="progress-cell">
          <WordBadge word={channel ? channelWord(channel) : rolloutWord(rollout.phase)} message={message} />
          {message && <p className="dim small flat two-lines">{sentence(message)}</p>}
        </div>
      </td>
      <td data-label={messages.common.waves} className="waves-cell">
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
