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

const typeOptions = [
  { value: 'manageable', label: 'Manageable' },
  { value: 'community', label: 'Community' },
]
const installedOptions = [
  { value: 'true', label: 'Installed' },
  { value: 'false', label: 'Not installed' },
]

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/catalog', state, ['type', 'installed', 'source']), true)
  const sources = answer.data?.sources ?? []
  return (
    <>
      <Header
        title="Catalog"
        lead="Every module that can be had. Manageable ones are looked after by the lifecycle manager; community ones by you."
        actions={
          <Action variant="default" to="/sources">
            Sources
          </Action>
        }
      />
      <div className="stack tight">
        <div className="row">
          <Search state={state} label="Search the catalog" />
          <Filter state={state} name="type" label="Type" options={typeOptions} />
          <Filter state={state} name="installed" label="Installed" options={installedOptions} />
        </div>
        {(sources.length > 0 || state.parameters.has('source')) && (
          <div className="row">
            <span className="dim small">From</span>
            <Filter state={state} name="source" label="Source" options={sourceOptions(sources, state)} />
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
  return [{ value: ofCluster, label: 'This cluster' }, ...names.map((name) => ({ value: name, label: name }))]
}

const columnsOf = (sources: SourceLine[]): CellColumn<OfferRow>[] => [
  { key: 'name', label: 'Module', sort: true, cell: (offer) => <Name offer={offer} /> },
  {
    key: 'source',
    label: 'From',
    sort: true,
    cell: (offer) => <From offer={offer} source={sources.find((s) => s.name === offer.source)} />,
  },
  { key: 'versions', label: 'Versions', cell: (offer) => <Versions offer={offer} /> },
  { key: 'installed', label: 'Installed', sort: true, cell: (offer) => <Installed offer={offer} /> },
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
          {offer.mandatory && <Tag means="It comes by itself.">Mandatory</Tag>}
          {offer.restricted && <Tag means="Only some Kymas may have it.">Restricted</Tag>}
          {offer.versions?.[0]?.beta && <Tag tone="warn">Beta</Tag>}
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
        {offer.source ? `Source ${offer.source}` : offer.namespace ? `Namespace ${offer.namespace}` : 'This cluster'}
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
  const lines =
    channels.length > 0 ? channels.map((c) => `${c.channel} ${c.version}`) : versions.map(({ version }) => version)
  if (lines.length === 0 || versions.length === 0) return <span className="dim">No version can be had</span>
  const more = lines.length - shownVersions
  return (
    <span className="mono small">
      {lines.slice(0, shownVersions).join(' · ')}
      {more > 0 && ` and ${more} more`}
    </span>
  )
}

function Installed({ offer }: { offer: OfferRow }) {
  const there = offer.installed ?? []
  const [first] = there
  if (!first) return <span className="dim">Not installed</span>
  const where = there.length > 1 ? count(there.length, 'time') : first.kyma ? `in ${first.kyma}` : 'without a Kyma'
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
        <DataTable label="Catalog" columns={columnsOf(sources)} rows={items} keyOf={keyOf} state={state} sorted="name" />
      )}
      {!blind && <Pages state={state} total={list.total} one="module" />}
    </>
  )
}

function Nothing({ state, waits }: { state: ListState; waits: boolean }) {
  if (waits) return <Empty icon={<Store size={40} aria-hidden />} title="The sources are being read" />
  if (state.filtered)
    return (
      <Empty
        icon={<Store size={40} aria-hidden />}
        title="No matching modules"
        action={
          <Button variant="light" onClick={state.clear}>
            Show all
          </Button>
        }
      />
    )
  return (
    <Empty icon={<Store size={40} aria-hidden />} title="The catalog is empty" action={<Action to="/sources">Add a source</Action>}>
      Nothing describes modules here yet. A source is a list of community modules at an address that you trust.
    </Empty>
  )
}
