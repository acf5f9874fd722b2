// Page 7: what is outdated, what an upgrade would change, and many at once.
import { Button, Checkbox } from '@mantine/core'
import { ArrowRight, CheckCircle2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useNewer } from '../add/allSources'
import type { Deed, List, Module } from '../api'
import { useDrafts, useUnsaved } from '../app/drafts'
import { useFollow } from '../deeds/place'
import { moduleLink } from '../deeds/Progress'
import { ReviewPanel } from '../deeds/ReviewPanel'
import { ask, query, type Refusal } from '../live/http'
import { reviewQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { Avatar, Empty, Header, hidden, NotRead, To, TypeTag, Unseen } from '../parts/basics'
import { InView } from '../parts/inview'
import { beyondEnd, BeyondEnd, listQuery, Pages, Search, Table, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { Badges, KymaCell } from '../parts/modules'
import { Reads } from '../parts/shelves'
import { eagerly, ReviewOf } from '../review/ReviewOf'
import { capital, count, sentence } from '../words'

/** upgradeOf is the deed that brings modules to the version that is available. */
export function upgradeOf(modules: Module[]): Deed {
  return {
    kind: 'upgrade',
    items: modules.map((m) => ({ kyma: m.kyma ?? '', module: m.name, version: m.version.available ?? '', channel: '' })),
  }
}

/** byItself returns why an upgrade happens automatically, or "" when it must be requested. */
export function byItself(m: Module): string {
  if (m.pending) return m.consentHere ? 'waits for your consent' : 'waits for consent'
  if (m.maintenance) return 'waits for the maintenance window'
  if (m.offered && !m.suspended) return 'comes by itself, with its rollout'
  if (m.type === 'managed' && m.managed && m.channel && !m.suspended) return 'comes by itself, from channel ' + m.channel
  return ''
}

/** selectable says that an upgrade waits for a user, and that something would come of it. */
export function selectable(m: Module): boolean {
  return !m.suspended && !byItself(m)
}

/** everySelectable asks for all pages of a list, and not only for the one that is shown. */
async function everySelectable(search: string): Promise<Module[]> {
  const limit = 200
  const found: Module[] = []
  for (let offset = 0, total = 1; offset < total; offset += limit) {
    const list = await ask(query('/modules', { outdated: 'true', search, limit, offset }))
    found.push(...(list.items ?? []))
    total = list.total
  }
  return found.filter(selectable)
}

/** needed is what must be read before the page can say that all is up to date: installed and available versions. */
const needed = ['Kyma', 'Manifest', 'ModuleReleaseMeta', 'ModuleTemplate']

const keyOf = (m: Module) => `${m.kyma ?? ''}/${m.name}`

/** chosenDraft is the name of what is chosen to be upgraded. */
const chosenDraft = 'upgrade'

/** useChosen is what was chosen: it stays while another page is shown, until it has begun. */
function useChosen() {
  const drafts = useDrafts()
  const [chosen, setChosen] = useState<Map<string, Module>>(() => drafts.get(chosenDraft) ?? new Map())
  useEffect(() => {
    if (chosen.size > 0) drafts.keep(chosenDraft, chosen)
    else drafts.forget(chosenDraft)
  }, [drafts, chosen])
  useUnsaved(chosen.size > 0)
  return { chosen, choose: setChosen, begun: () => drafts.forget(chosenDraft) }
}

export function Page() {
  const { pathname, search, state: place } = useLocation()
  const navigate = useNavigate()
  const { chosen, choose, begun } = useChosen()
  const follow = useFollow()
  const checking = (place as { checking?: boolean } | null)?.checking === true && chosen.size > 0
  const modules = [...chosen.values()]
  return (
    <>
      <Header title="Upgrade" lead="Modules for which there is a newer version. What is configured stays as it is." />
      {checking ? (
        <InView label="What would change">
          <Versions modules={modules} />
          <ReviewPanel
            deeds={[upgradeOf(modules)]}
            verb={`Upgrade ${count(modules.length, 'module')}`}
            started={(operations, refused) => {
              begun()
              follow(operations, refused)
            }}
            back={
              <Button variant="default" onClick={() => void navigate(-1)}>
                Back
              </Button>
            }
          />
        </InView>
      ) : (
        <Choosing chosen={chosen} choose={choose} go={() => void navigate({ pathname, search }, { state: { checking: true } })} />
      )}
    </>
  )
}

/** shownVersions is how many versions are offered to be looked at before an upgrade of many. */
const shownVersions = 20

/** Versions are what each chosen version may do, and what it changes in its Kyma, to be opened one by one. */
function Versions({ modules }: { modules: Module[] }) {
  const managed = modules.filter((m) => m.kyma)
  return (
    <>
      {managed.slice(0, shownVersions).map((m, i) => (
        <ReviewOf
          key={keyOf(m)}
          title={`${m.name} in ${m.kyma}: what ${m.version.available} may do and changes`}
          of={reviewQuery(m.kyma ?? '', m.name, m.version.available ?? '')}
          eager={i < eagerly}
        />
      ))}
    </>
  )
}

function Choosing({ chosen, choose, go }: Omit<Props, 'list' | 'more' | 'state'>) {
  const state = useListState()
  const answer = useLive(listQuery('/modules', state, [], { outdated: 'true' }), true)
  const newer = useNewer(state.parameters.get('search') ?? '')
  return (
    <>
      <div className="row">
        <Search state={state} label="Search outdated modules" />
      </div>
      <Reads kept={newer.kept} />
      <Loaded answer={answer}>
        {(list) => <Body list={list} more={newer.modules} state={state} chosen={chosen} choose={choose} go={go} />}
      </Loaded>
    </>
  )
}

interface Props {
  list: List<Module>
  /** more are those for which a source holds a newer version. */
  more: Module[]
  state: ListState
  chosen: Map<string, Module>
  choose: (to: Map<string, Module>) => void
  go: () => void
}

function Body({ list, more, state, chosen, choose, go }: Props) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  if (items.length === 0 && more.length === 0) {
    return (
      <div className="card">
        <NotRead unread={list.unread} />
        {!state.filtered && hidden(list.unread, ...needed) ? <Unseen /> : <Nothing filtered={state.filtered} />}
      </div>
    )
  }
  const flip = (m: Module) => {
    const next = new Map(chosen)
    if (!next.delete(keyOf(m))) next.set(keyOf(m), m)
    choose(next)
  }
  const open = items.filter(selectable)
  const all = open.length > 0 && open.every((m) => chosen.has(keyOf(m)))
  const flipAll = () => {
    const next = new Map(chosen) // what was chosen on other pages, or one by one, stays
    for (const m of open) {
      if (all) next.delete(keyOf(m))
      else next.set(keyOf(m), m)
    }
    choose(next)
  }
  return (
    <>
      <NotRead unread={list.unread} />
      {open.length > 0 && (
        <Checkbox
          label={`All of this page that need you (${open.length})`}
          checked={all}
          indeterminate={!all && open.some((m) => chosen.has(keyOf(m)))}
          onChange={flipAll}
        />
      )}
      {list.total > items.length && <EveryPage search={state.parameters.get('search') ?? ''} chosen={chosen} choose={choose} />}
      {items.length > 0 && <Outdated label="Outdated modules" items={items} chosen={chosen} flip={flip} />}
      {more.length > 0 && (
        <>
          <h2 className="flat">Newer in the sources that they came from</h2>
          <Outdated label="Newer in sources" items={more} chosen={chosen} flip={flip} />
        </>
      )}
      <Pages state={state} total={list.total + (list.total === 0 ? more.length : 0)} one="module" />
      <div className="sticky row between">
        <span className="dim small" role="status">
          {chosen.size === 0 ? 'Choose what to upgrade.' : `${count(chosen.size, 'module')} chosen`}
        </span>
        <Button disabled={chosen.size === 0} onClick={go}>
          See what would change
        </Button>
      </div>
    </>
  )
}

/** EveryPage chooses what no page shows all of. */
function EveryPage({ search, chosen, choose }: { search: string; chosen: Map<string, Module>; choose: Props['choose'] }) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Refusal>()
  const all = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const every = await everySelectable(search)
      choose(new Map([...chosen, ...every.map((m): [string, Module] => [keyOf(m), m])]))
    } catch (refusal) {
      setError(refusal as Refusal)
    }
    setBusy(false)
  }
  return (
    <div className="row">
      <Button size="compact-sm" variant="default" loading={busy} onClick={() => void all()}>
        Choose all that need you, on every page
      </Button>
      {error && (
        <span role="alert" className="small">
          {sentence(error.message)}
        </span>
      )}
    </div>
  )
}

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <Empty
      icon={<CheckCircle2 size={40} aria-hidden />}
      title={filtered ? 'No matching modules' : 'Everything is up to date'}
    >
      {filtered ? '' : 'Every module is in the newest version that it may have.'}
    </Empty>
  )
}

const columns = [
  { key: 'module', label: 'Module' },
  { key: 'kyma', label: 'Kyma' },
  { key: 'versions', label: 'Upgrade' },
  { key: 'how', label: 'How' },
]

interface OutdatedProps {
  label: string
  items: Module[]
  chosen: Map<string, Module>
  flip: (m: Module) => void
}

function Outdated({ label, items, chosen, flip }: OutdatedProps) {
  return (
    <Table label={label} columns={columns}>
      {items.map((m) => (
        <tr key={keyOf(m)}>
          <td className="lead">
            <div className="name-cell">
              <Checkbox
                checked={chosen.has(keyOf(m))}
                disabled={m.suspended}
                onChange={() => flip(m)}
                aria-label={`Upgrade ${m.name} ${m.kyma ? 'in ' + m.kyma : ''}`}
                mt={7}
              />
              <Avatar name={m.name} />
              <div>
                <To to={moduleLink(m.kyma, m.name)}>
                  <strong>{m.name}</strong>
                </To>
                <div className="row tags">
                  <TypeTag type={m.type} />
                  <Badges module={m} />
                </div>
              </div>
            </div>
          </td>
          <td data-label="Kyma">
            <KymaCell kyma={m.kyma} />
          </td>
          <td data-label="Upgrade">
            <span className="row nowrap-row mono">
              <span>{m.version.installed}</span>
              <ArrowRight size={14} aria-label="to" />
              <span className="newer">{m.version.available}</span>
            </span>
          </td>
          <td data-label="How" className="small">
            {m.suspended ? 'Not while it is suspended' : capital(byItself(m)) || 'Manual'}
          </td>
        </tr>
      ))}
    </Table>
  )
}
