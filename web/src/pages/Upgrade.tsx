// Page 7: what is outdated, what an upgrade would change, and many at once.
import { Button, Checkbox } from '@mantine/core'
import { ArrowRight, CheckCircle2 } from 'lucide-react'
import { useState } from 'react'
import type { Deed, List, Module, Operation } from '../api'
import { moduleLink, Progress } from '../deeds/Progress'
import { ReviewPanel } from '../deeds/ReviewPanel'
import { query, send, type Refusal } from '../live/http'
import { useLive } from '../live/useLive'
import { Avatar, Empty, Header, hidden, NotRead, To, TypeTag, Unseen } from '../parts/basics'
import { beyondEnd, BeyondEnd, listQuery, Pages, Search, Table, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { Badges, KymaCell } from '../parts/modules'
import { capital, count, sentence } from '../words'

/** upgradeOf is the deed that brings modules to the version that is available. */
export function upgradeOf(modules: Module[]): Deed {
  return {
    kind: 'upgrade',
    items: modules.map((m) => ({ kyma: m.kyma ?? '', module: m.name, version: m.version.available ?? '', channel: '' })),
  }
}

/** byItself says why an upgrade comes without anybody's help; "" when somebody has to ask for it. */
export function byItself(m: Module): string {
  if (m.maintenance) return 'waits for the maintenance window'
  if (m.type === 'managed' && m.managed && m.channel && !m.suspended) return 'comes by itself, from channel ' + m.channel
  return ''
}

/** selectable says that an upgrade waits for a person, and that something would come of it. */
export function selectable(m: Module): boolean {
  return !m.suspended && !byItself(m)
}

/** everySelectable asks for all pages of a list, and not only for the one that is shown. */
async function everySelectable(search: string): Promise<Module[]> {
  const limit = 200
  const found: Module[] = []
  for (let offset = 0, total = 1; offset < total; offset += limit) {
    const list = await send<List<Module>>('GET', query('/modules', { outdated: 'true', search, limit, offset }))
    found.push(...(list.items ?? []))
    total = list.total
  }
  return found.filter(selectable)
}

/** needed is what has to be read before anybody can say that all is up to date: what is installed, and what there is. */
const needed = ['Kyma', 'Manifest', 'ModuleReleaseMeta', 'ModuleTemplate']

const keyOf = (m: Module) => `${m.kyma ?? ''}/${m.name}`

export function Page() {
  const state = useListState()
  const answer = useLive<List<Module>>(listQuery('/modules', state, [], { outdated: 'true' }), true)
  const [chosen, setChosen] = useState<Map<string, Module>>(new Map())
  const [checking, setChecking] = useState(false)
  const [operations, setOperations] = useState<Operation[]>([])
  if (operations.length > 0) {
    return (
      <>
        <Header title="Upgrading" lead="You may close this page: it goes on, and is listed under Operations." />
        {operations.map((operation) => (
          <Progress key={operation.id} id={operation.id} />
        ))}
      </>
    )
  }
  const modules = [...chosen.values()]
  return (
    <>
      <Header title="Upgrade" lead="Modules for which there is a newer version. What is configured stays as it is." />
      {checking ? (
        <ReviewPanel
          deeds={[upgradeOf(modules)]}
          verb={`Upgrade ${count(modules.length, 'module')}`}
          started={setOperations}
          back={
            <Button variant="default" onClick={() => setChecking(false)}>
              Back
            </Button>
          }
        />
      ) : (
        <>
          <div className="row">
            <Search state={state} label="Search outdated modules" />
          </div>
          <Loaded answer={answer}>
            {(list) => <Body list={list} state={state} chosen={chosen} choose={setChosen} go={() => setChecking(true)} />}
          </Loaded>
        </>
      )}
    </>
  )
}

interface Props {
  list: List<Module>
  state: ListState
  chosen: Map<string, Module>
  choose: (to: Map<string, Module>) => void
  go: () => void
}

function Body({ list, state, chosen, choose, go }: Props) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  if (items.length === 0) {
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
      <Outdated items={items} chosen={chosen} flip={flip} />
      <Pages state={state} total={list.total} one="module" />
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

function Outdated({ items, chosen, flip }: { items: Module[]; chosen: Map<string, Module>; flip: (m: Module) => void }) {
  return (
    <Table label="Outdated modules" columns={columns}>
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
