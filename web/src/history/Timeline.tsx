// What happened, the newest first: from operations, edits, revisions, rollouts, states and events in one list.
import { NativeSelect } from '@mantine/core'
import type { ReactNode } from 'react'
import { moduleLink } from '../deeds/Progress'
import { at } from '../live/http'
import { useLive } from '../live/useLive'
import { Empty, NotRead, Tag, To } from '../parts/basics'
import { Ago } from '../parts/details'
import { beyondEnd, BeyondEnd, Filter, listQuery, Pages, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { capital, count, sentence } from '../words'
import type { History, HistoryEntry } from '../api'
import { allKinds, byText, changedFields, heldFields, kinds, toneOf } from './words'
import { fill } from '../fill'
import { messages } from '../messages'

interface Props {
  /** kyma is NAMESPACE/NAME; module is one of its modules, without it is all of the Kyma. */
  kyma: string
  module?: string
  /** revision is what the page knows of a revision, in the place of what the list says. */
  revision?: (number: number) => ReactNode
}

export function Timeline({ kyma, module, revision }: Props) {
  const state = useListState()
  const answer = useLive(historyQuery(kyma, module, state), true)
  return (
    <div className="stack">
      <div className="row">
        <Filter
          state={state}
          name="kind"
          label={messages.common.kind}
          options={allKinds.map((value) => ({ value, label: kinds[value].many }))}
        />
        <Who state={state} who={answer.data?.who ?? []} />
      </div>
      <Loaded answer={answer} rows={5}>
        {(history) => <Entries history={history} state={state} kyma={kyma} revision={revision} />}
      </Loaded>
    </div>
  )
}

function historyQuery(id: string, module: string | undefined, state: ListState) {
  const [ns = '', kyma = ''] = id.split('/')
  if (module === undefined) return listQuery('/kymas/{ns}/{name}/history', state, ['kind', 'who'], { ns, name: kyma })
  return listQuery('/modules/{ns}/{kyma}/{name}/history', state, ['kind', 'who'], { ns, kyma, name: module })
}

function Who({ state, who }: { state: ListState; who: string[] }) {
  const chosen = state.parameters.get('who') ?? ''
  if (who.length === 0 && chosen === '') return null
  const all = [...new Set([...who, chosen].filter(Boolean))]
  return (
    <NativeSelect
      aria-label={messages.timeline.who}
      size="xs"
      value={chosen}
      data={[{ value: '', label: messages.timeline.byAnyone }, ...all.map((value) => ({ value, label: value }))]}
      onChange={(event) => state.set('who', event.currentTarget.value || undefined)}
    />
  )
}

function Entries({ history, state, kyma, revision }: { history: History; state: ListState } & Omit<Props, 'module'>) {
  const items = history.items ?? []
  if (beyondEnd(history)) return <BeyondEnd state={state} />
  return (
    <>
      <NotRead unread={history.unread} />
      {items.length === 0 ? (
        <div className="card">
          <Empty title={messages.timeline.nothingIsRecorded}>{messages.timeline.nothingFiltersLeaveHappenedWithin}</Empty>
        </div>
      ) : (
        <div className="card pad">
          <ol className="chain" aria-label={messages.common.history}>
            {items.map((entry, i) => (
              <Row key={`${entry.at} ${entry.kind} ${i}`} entry={entry} kyma={kyma} revision={revision} />
            ))}
          </ol>
        </div>
      )}
      <Pages state={state} total={history.total} noun={messages.nouns.entry} />
      <details>
        <summary>{messages.timeline.howFarBackThisReaches}</summary>
        <ul className="small dim">
          {(history.horizon ?? []).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </details>
    </>
  )
}

function Row({ entry, kyma, revision }: { entry: HistoryEntry } & Omit<Props, 'module'>) {
  const known = entry.revision === undefined ? undefined : revision?.(entry.revision)
  if (known) return known
  const kind = kinds[entry.kind] ?? { label: entry.kind, means: '' }
  const by = byText(entry)
  return (
    <li className={`tone-${toneOf(entry)}`}>
      <div className="row">
        <Tag means={kind.means}>{kind.label}</Tag>
        {entry.module && kyma && <To to={moduleLink(kyma, entry.module)}>{entry.module}</To>}
        <strong>{entry.operation ? <To to={'/operations' + at(entry.operation)}>{entry.what}</To> : sentence(entry.what)}</strong>
      </div>
      <p className="dim small">
        <Ago at={entry.at} />
        {by && ` ${by}`}
        {entry.state && `, ${entry.state}`}
        {entry.reason && `, ${entry.reason}`}
        {entry.count && ` (${count(entry.count, messages.nouns.time)})`}
        {entry.object && `, ${entry.object}`}
      </p>
      <Fields entry={entry} />
      {entry.rollout && (
        <p className="small">
          <To to={'/rollouts/' + entry.rollout}>{messages.common.howFarTheRolloutIs}</To>
        </p>
      )}
    </li>
  )
}

function Fields({ entry }: { entry: HistoryEntry }) {
  const changed = changedFields(entry)
  const held = heldFields(entry)
  return (
    <>
      {changed.length > 0 && (
        <ul className="small" aria-label={messages.timeline.fieldsThatChanged}>
          {changed.map((field, i) => (
            <li key={i}>
              <span className="mono">{field.path}</span>:{' '}
              {field.from ? <span className="mono">{field.from}</span> : messages.timeline.nothing} →{' '}
              {field.to ? <span className="mono">{field.to}</span> : messages.timeline.nothing}
            </li>
          ))}
        </ul>
      )}
      {held.length > 0 && (
        <p className="small dim">
          {capital('holds')} <span className="mono">{held.slice(0, 8).join(', ')}</span>
          {held.length > 8 && fill(messages.timeline.andMore, { count: held.length - 8 })}
        </p>
      )}
    </>
  )
}
