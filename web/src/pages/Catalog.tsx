// Page 5: what is available.
import { Button } from '@mantine/core'
import { Store } from 'lucide-react'
import { Link } from 'react-router'
import { useShelves } from '../add/allSources'
import type { List, Offer } from '../api'
import { useLive } from '../live/useLive'
import { Action, Avatar, Empty, Header, hidden, NotRead, Tag, TypeTag, Unseen } from '../parts/basics'
import { beyondEnd, BeyondEnd, Filter, listQuery, Pages, Search, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { Reads } from '../parts/shelves'
import { count } from '../words'

const typeOptions = [
  { value: 'manageable', label: 'Manageable' },
  { value: 'community', label: 'Community' },
]

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/catalog', state, ['type', 'installed']), true)
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
      <div className="row">
        <Search state={state} label="Search the catalog" />
        <Filter state={state} name="type" label="Type" options={typeOptions} />
        <Filter
          state={state}
          name="installed"
          label="Installed"
          options={[
            { value: 'true', label: 'Installed' },
            { value: 'false', label: 'Not installed' },
          ]}
        />
      </div>
      <Loaded answer={answer} rows={6}>
        {(list) => <Body list={list} state={state} />}
      </Loaded>
      {ofSources(state) && <FromSources words={(state.parameters.get('search') ?? '').toLowerCase().split(/\s+/)} />}
    </>
  )
}

/** ofSources says that the filters leave what sources hold: community modules. It stands behind the first page. */
function ofSources(state: ListState): boolean {
  const types = state.parameters.getAll('type')
  const installed = state.parameters.getAll('installed')
  return state.page === 1 && (types.length === 0 || types.includes('community')) && (installed.length === 0 || installed.includes('false'))
}

/** FromSources are the modules that sources hold, each with the newest version there. */
function FromSources({ words }: { words: string[] }) {
  const kept = useShelves()
  return (
    <>
      <Reads kept={kept} />
      {kept.shelves.map(({ source, offers }) => {
        const found = (offers ?? []).filter(({ name }) => words.every((word) => name.includes(word)))
        return (
          found.length > 0 && (
            <section key={source.name} className="stack" aria-label={`Source ${source.name}`}>
              <h2 className="flat">From source {source.name}</h2>
              <div className="grid grid-cards">
                {found.map((offer) => (
                  <SourceCard key={offer.name} offer={offer} source={source.name} />
                ))}
              </div>
            </section>
          )
        )
      })}
    </>
  )
}

function SourceCard({ offer, source }: { offer: Offer; source: string }) {
  const newest = offer.versions?.[0]?.version
  return (
    <Link to={`/add?module=${encodeURIComponent(offer.name)}&source=${encodeURIComponent(source)}`} className="card pad offer">
      <span className="row nowrap-row">
        <Avatar name={offer.name} />
        <strong>{offer.name}</strong>
      </span>
      <span className="row tags">
        <TypeTag type={offer.type} />
      </span>
      <span className="dim small">{newest ? `Version ${newest}` : 'No version can be had'}</span>
    </Link>
  )
}

function Body({ list, state }: { list: List<Offer>; state: ListState }) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'ModuleReleaseMeta', 'ModuleTemplate')
  return (
    <>
      <NotRead unread={list.unread} />
      {items.length === 0 && (
        <div className="card">
          {blind ? (
            <Unseen />
          ) : state.filtered ? (
            <Empty
              icon={<Store size={40} aria-hidden />}
              title="No matching modules"
              action={
                <Button variant="light" onClick={state.clear}>
                  Show all
                </Button>
              }
            />
          ) : (
            <Empty
              icon={<Store size={40} aria-hidden />}
              title="The catalog is empty"
              action={<Action to="/sources">Add a source</Action>}
            >
              Nothing describes modules here yet. A source is a list of community modules at an address that you trust.
            </Empty>
          )}
        </div>
      )}
      <div className="grid grid-cards">
        {items.map((offer) => (
          <Card key={`${offer.namespace}/${offer.name}`} offer={offer} />
        ))}
      </div>
      {!blind && <Pages state={state} total={list.total} one="module" />}
    </>
  )
}

function Card({ offer }: { offer: Offer }) {
  const newest = offer.versions?.[0]?.version
  const there = offer.installed ?? []
  const where = offer.namespace ? `?namespace=${encodeURIComponent(offer.namespace)}` : ''
  return (
    <Link to={`/catalog/${encodeURIComponent(offer.name)}${where}`} className="card pad offer">
      <span className="row nowrap-row">
        <Avatar name={offer.name} />
        <strong>{offer.name}</strong>
      </span>
      <span className="row tags">
        <TypeTag type={offer.type} />
        {offer.mandatory && <Tag means="It comes by itself.">Mandatory</Tag>}
        {offer.restricted && <Tag means="Only some Kymas may have it.">Restricted</Tag>}
        {offer.versions?.[0]?.beta && <Tag tone="warn">Beta</Tag>}
      </span>
      <span className="dim small">
        {(offer.channels ?? []).length > 0
          ? (offer.channels ?? [])
              .slice(0, 3)
              .map((c) => `${c.channel} ${c.version}`)
              .join(' · ')
          : newest
            ? `Version ${newest}`
            : 'No version can be had'}
      </span>
      <span className="dim small">{there.length > 0 ? `Installed ${count(there.length, 'time')}` : 'Not installed'}</span>
    </Link>
  )
}
