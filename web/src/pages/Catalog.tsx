// Page 5: what is available, in this cluster and in all sources, in one table.
import { Button } from '@mantine/core'
import { Store } from 'lucide-react'
import type { OfferList, OfferRow, SourceLine } from '../api'
import { offerLink, ofCluster } from '../catalog/links'
import { Trust } from '../catalog/Trust'
import { useLive } from '../live/useLive'
import { Action, Avatar, Empty, Header, hidden, NotRead, Tag, To, TypeTag, Unseen } from '../parts/basics'
import { beyondEnd, BeyondEnd, Filter, listQuery, Pages, Search, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { Reads } from '../parts/shelves'
import { DataTable, type CellColumn } from '../table/DataTable'
import { count } from '../words'
import { vouchedIn } from './OfferVersion'
import { fill } from '../fill'
import { messages } from '../messages'

const typeOptions = [
  { value: 'manageable', label: messages.catalog.manageable },
  { value: 'community', label: messages.catalog.community },
]
const installedOptions = [
  { value: 'true', label: messages.common.installed },
  { value: 'false', label: messages.catalog.notInstalled },
]

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/catalog', state, ['type', 'installed', 'source']), true)
  const sources = answer.data?.sources ?? []
  return (
    <>
      <Header
        title={messages.common.catalog}
        lead={messages.catalog.everyModuleManageableOnesLooked}
        actions={
          <Action variant="default" to="/sources">
            {messages.common.sources}
          </Action>
        }
      />
      <div className="stack tight">
        <div className="row">
          <Search state={state} label={messages.common.searchTheCatalog} />
          <Filter state={state} name="type" label={messages.common.type} options={typeOptions} />
          <Filter state={state} name="installed" label={messages.common.installed} options={installedOptions} />
        </div>
        {(sources.length > 0 || state.parameters.has('source')) && (
          <div className="row">
            <span className="dim small">{messages.catalog.from}</span>
            <Filter state={state} name="source" label={messages.common.source} options={sourceOptions(sources, state)} />
          </div>
        )}
      </div>
      <Reads sources={sources} />
      <Loaded answer={answer} rows={6}>
        {(list) => <Body list={list} state={state} />}
      </Loaded>
    </>
  )
}

/** sourceOptions are this cluster, all sources, and those of the address, which may be gone. */
function sourceOptions(sources: SourceLine[], state: ListState) {
  const all = [...sources.map(({ name }) => name), ...state.parameters.getAll('source')]
  const names = [...new Set(all)].filter((name) => name !== ofCluster)
  return [{ value: ofCluster, label: messages.common.thisCluster }, ...names.map((name) => ({ value: name, label: name }))]
}

const columnsOf = (sources: SourceLine[]): CellColumn<OfferRow>[] => [
  { key: 'name', label: messages.common.module, sort: true, cell: (offer) => <Name offer={offer} /> },
  {
    key: 'source',
    label: messages.catalog.from,
    sort: true,
    cell: (offer) => <From offer={offer} source={sources.find((s) => s.name === offer.source)} />,
  },
  { key: 'versions', label: messages.common.versions, cell: (offer) => <Versions offer={offer} /> },
  { key: 'installed', label: messages.common.installed, sort: true, cell: (offer) => <Installed offer={offer} /> },
]

function Name({ offer }: { offer: OfferRow }) {
  return (
    <div className="name-cell">
      <Avatar name={offer.name} />
      <div>
        <To to={offerLink(offer)}>
          <strong>{offer.name}</strong>
        </To>
        <div className="row tags">
          <TypeTag type={offer.type} />
          {offer.mandatory && <Tag means={messages.catalog.itComesByItself}>{messages.common.mandatory}</Tag>}
          {offer.restricted && <Tag means={messages.catalog.onlySomeKymasMayHaveIt}>{messages.common.restricted}</Tag>}
          {offer.versions?.[0]?.beta && <Tag tone="warn">{messages.common.beta}</Tag>}
        </div>
        {offer.description && <p className="dim small flat two-lines">{offer.description}</p>}
      </div>
    </div>
  )
}

/** From says which place offers a module, who publishes it, and who answers for it. */
function From({ offer, source }: { offer: OfferRow; source?: SourceLine }) {
  const vouched = vouchedIn(offer.vouched)
  const publisher = publisherOf(offer)
  return (
    <div>
      <span className="row">
        {offer.source
          ? fill(messages.catalog.sourceSource, { source: offer.source })
          : offer.namespace
            ? fill(messages.catalog.namespaceNamespace, { namespace: offer.namespace })
            : messages.common.thisCluster}
        {source && <Trust trust={source.trust} />}
      </span>
      {publisher && <div className="dim small anywhere">{publisher}</div>}
      {offer.vouched && (
        <Tag tone={vouched.tone} means={vouched.means}>
          {vouched.label}
        </Tag>
      )}
    </div>
  )
}

/** publisherOf is who publishes a module: its component, or the place of its source code. */
export function publisherOf({ component, repository }: OfferRow): string {
  return component || (repository ?? '').replace(/^https:\/\//, '')
}

const shownVersions = 3

function Versions({ offer }: { offer: OfferRow }) {
  const channels = offer.channels ?? []
  const versions = offer.versions ?? []
  const lines = channels.length > 0 ? channels.map((c) => `${c.channel} ${c.version}`) : versions.map(({ version }) => version)
  if (lines.length === 0 || versions.length === 0) return <span className="dim">{messages.common.noVersionCanBeHad}</span>
  const more = lines.length - shownVersions
  return (
    <span className="mono small">
      {lines.slice(0, shownVersions).join(' · ')}
      {more > 0 && fill(messages.common.andMore, { more })}
    </span>
  )
}

function Installed({ offer }: { offer: OfferRow }) {
  const there = offer.installed ?? []
  const [first] = there
  if (!first) return <span className="dim">{messages.catalog.notInstalled}</span>
  const where =
    there.length > 1
      ? count(there.length, messages.nouns.time)
      : first.kyma
        ? fill(messages.common.inKyma, { kyma: first.kyma })
        : messages.catalog.withoutAKyma
  return (
    <To to={`/modules?module=${encodeURIComponent(offer.name)}`}>
      {there.length === 1 && first.version ? `${first.version} ` : ''}
      {where}
    </To>
  )
}

const keyOf = (offer: OfferRow) => `${offer.source ?? ''}/${offer.namespace ?? ''}/${offer.name}`

function Body({ list, state }: { list: OfferList; state: ListState }) {
  const items = list.items ?? []
  const sources = list.sources ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'ModuleReleaseMeta', 'ModuleTemplate')
  return (
    <>
      <NotRead unread={list.unread} />
      {items.length === 0 ? (
        <div className="card">{blind ? <Unseen /> : <Nothing state={state} waits={sources.some((s) => s.state === 'Reading')} />}</div>
      ) : (
        <DataTable label={messages.common.catalog} columns={columnsOf(sources)} rows={items} keyOf={keyOf} state={state} sorted="name" />
      )}
      {!blind && <Pages state={state} total={list.total} noun={messages.nouns.module} />}
    </>
  )
}

function Nothing({ state, waits }: { state: ListState; waits: boolean }) {
  if (waits) return <Empty icon={<Store size={40} aria-hidden />} title={messages.catalog.theSourcesAreBeingRead} />
  if (state.filtered)
    return (
      <Empty
        icon={<Store size={40} aria-hidden />}
        title={messages.common.noMatchingModules}
        action={
          <Button variant="light" onClick={state.clear}>
            {messages.common.showAll}
          </Button>
        }
      />
    )
  return (
    <Empty
      icon={<Store size={40} aria-hidden />}
      title={messages.catalog.theCatalogIsEmpty}
      action={<Action to="/sources">{messages.common.addASource}</Action>}
    >
      {messages.catalog.nothingDescribesModulesHereYet}
    </Empty>
  )
}
