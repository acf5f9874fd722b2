// Page 2: all Kymas.
import { Button } from '@mantine/core'
import { Layers } from 'lucide-react'
import type { KymaRow, List } from '../api'
import { at, query } from '../live/http'
import { useAsked } from '../live/useAsked'
import { useLive } from '../live/useLive'
import { Action, Empty, Header, hidden, NotRead, StateBadge, Tag, To, Unseen } from '../parts/basics'
import { Ago } from '../parts/details'
import { beyondEnd, BeyondEnd, Filter, listParameters, listQuery, Pages, Search, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { DataTable, type CellColumn } from '../table/DataTable'
import { MoreFilters } from '../table/MoreFilters'
import { Narrowed } from '../table/Narrowed'
import { TableTools, type Export } from '../table/TableTools'
import { count, sentence, stateWord } from '../words'
import { fill, fillNodes } from '../fill'
import { messages } from '../messages'

const stateOptions = ['Error', 'Warning', 'Processing', 'Deleting', 'Ready'].map((value) => ({ value, label: stateWord(value).label }))
/** hiddenFilters come with the address of a link, and have no control of their own. */
const hiddenFilters = ['namespace', 'module', 'version'] as const
const filters = ['state', 'channel', 'reason', 'labelSelector', ...hiddenFilters] as const
const worstFirst = 'state'

const columns: CellColumn<KymaRow>[] = [
  { key: 'name', label: messages.common.kyma, sort: true, cell: (kyma) => <Name kyma={kyma} /> },
  { key: 'state', label: messages.common.state, sort: true, cell: (kyma) => <StateBadge state={kyma.state} message={kyma.message} /> },
  {
    key: 'modules',
    label: messages.common.modulesReady,
    cell: (kyma) => (
      <span className="row">
        <span className="nowrap">{kyma.modules}</span>
        {kyma.outdated > 0 && <Tag tone="strong">{count(kyma.outdated, messages.nouns.upgrade)}</Tag>}
      </span>
    ),
  },
  {
    key: 'channel',
    label: messages.common.channel,
    sort: true,
    cell: (kyma) => (kyma.release ? fill(messages.common.releaseRelease, { release: kyma.release }) : kyma.channel),
  },
  { key: 'where', label: messages.common.cluster, cell: (kyma) => <Where kyma={kyma} /> },
  { key: 'created', label: messages.common.created, sort: true, cell: (kyma) => <Ago at={kyma.created} /> },
  { key: 'reason', label: messages.common.reason, off: true, cell: (kyma) => kyma.reason || '–' },
  { key: 'labels', label: messages.common.labels, off: true, cell: (kyma) => <Labels labels={kyma.labels} /> },
]

const keyOf = (kyma: KymaRow) => `${kyma.namespace}/${kyma.name}`

/** file is what a row of the list becomes in a file. */
const file = (state: ListState): Export<KymaRow> => ({
  path: '/kymas',
  parameters: listParameters(state.parameters, filters),
  keyOf,
  fields: [
    [messages.common.namespace, (kyma) => kyma.namespace],
    [messages.common.kyma, (kyma) => kyma.name],
    [messages.common.state, (kyma) => kyma.state],
    [messages.common.reason, (kyma) => kyma.reason],
    [messages.common.message, (kyma) => kyma.message],
    [messages.common.modulesReady, (kyma) => kyma.modules.replace('/', messages.kymas.of)], // a spreadsheet would make a date of 3/4
    [messages.common.upgrades, (kyma) => kyma.outdated],
    [messages.common.channel, (kyma) => kyma.channel],
    [messages.kymas.release, (kyma) => kyma.release],
    [messages.kymas.onRelease, (kyma) => kyma.onRelease],
    [messages.common.created, (kyma) => kyma.created],
    [messages.common.labels, (kyma) => labelsText(kyma.labels).join(',')],
  ],
})

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/kymas', state, filters, { sort: worstFirst }), true)
  return (
    <>
      <Header title={messages.common.kymas} lead={messages.kymas.kymaSaysModulesClusterChannel} actions={<Make />} />
      <div className="stack tight">
        <div className="row">
          <Search state={state} label={messages.kymas.searchKymas} />
          <Filter state={state} name="state" label={messages.common.state} options={stateOptions} />
        </div>
        <div className="row">
          <TableTools name="kymas" columns={columns} file={file(state)} />
          <MoreFilters state={state} choices={['channel', 'reason']} />
        </div>
        <Narrowed state={state} names={hiddenFilters} />
      </div>
      <Loaded answer={answer} rows={8}>
        {(list) => <Body list={list} state={state} />}
      </Loaded>
    </>
  )
}

/** Make leads to the page for a new Kyma, or says why there is none. */
function Make() {
  const { data } = useAsked(query('/newkyma'))
  return (
    <Action to="/kymas/new" allowed={data?.allowed ?? false} why={data?.why ?? messages.kymas.notKnownYetWhether}>
      {messages.common.newKyma}
    </Action>
  )
}

function Body({ list, state }: { list: List<KymaRow>; state: ListState }) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'Kyma')
  return (
    <>
      <NotRead unread={list.unread} />
      {items.length === 0 && <div className="card">{blind ? <Unseen /> : <Nothing state={state} />}</div>}
      {items.length > 0 && (
        <DataTable
          label={messages.common.kymas}
          name="kymas"
          columns={columns}
          rows={items}
          keyOf={keyOf}
          state={state}
          sorted={worstFirst}
        />
      )}
      {!blind && <Pages state={state} total={list.total} noun={messages.nouns.kyma} />}
    </>
  )
}

function Nothing({ state }: { state: ListState }) {
  if (state.filtered) {
    return (
      <Empty
        icon={<Layers size={40} aria-hidden />}
        title={messages.kymas.noMatchingKymas}
        action={
          <Button variant="light" onClick={state.clear}>
            {messages.common.showAll}
          </Button>
        }
      />
    )
  }
  return (
    <Empty icon={<Layers size={40} aria-hidden />} title={messages.kymas.thereIsNoKyma}>
      {fillNodes(messages.kymas.clusterNotManaged, { command: <span className="mono">{messages.commands.createKyma}</span> })}
    </Empty>
  )
}

function Name({ kyma }: { kyma: KymaRow }) {
  return (
    <>
      <To to={'/kymas' + at(kyma.namespace, kyma.name)}>
        <strong>{kyma.name}</strong>
      </To>
      <div className="dim small">{kyma.namespace}</div>
      {kyma.state !== 'Ready' && kyma.message && <p className="dim small flat two-lines">{sentence(kyma.message)}</p>}
    </>
  )
}

function Where({ kyma }: { kyma: KymaRow }) {
  if (kyma.copy) return <Tag means={messages.kymas.kymaHubKeepsHereChange}>{messages.common.fromAHub}</Tag>
  return kyma.local ? messages.kymas.thisOne : messages.kymas.anotherOne
}

/** labelsText are labels as kubectl writes them, sorted. */
function labelsText(labels: KymaRow['labels']): string[] {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
}

function Labels({ labels }: { labels: KymaRow['labels'] }) {
  const all = labelsText(labels)
  if (all.length === 0) return <span className="dim">{messages.common.none}</span>
  return (
    <span className="row tags">
      {all.map((label) => (
        <span key={label} className="tag label-tag" title={label}>
          {label}
        </span>
      ))}
    </span>
  )
}
