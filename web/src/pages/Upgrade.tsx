// Page 7: what is outdated, what an upgrade would change, and many at once.
import { Button, Checkbox } from '@mantine/core'
import { ArrowRight, CheckCircle2 } from 'lucide-react'
import { useLocation, useNavigate } from 'react-router'
import type { List, Module } from '../api'
import { useFollow } from '../deeds/place'
import { moduleLink } from '../deeds/Progress'
import { ReviewPanel } from '../deeds/ReviewPanel'
import { byItself, chosenUpgrades, isModule, plainModule, selectable, upgradeKey, upgradeOf } from '../deeds/upgrading'
import { reviewQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { Avatar, Empty, Header, hidden, NotRead, To, TypeTag, Unseen } from '../parts/basics'
import { InView } from '../parts/inview'
import { beyondEnd, BeyondEnd, Filter, listParameters, listQuery, Pages, Search, Table, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { Badges, KymaCell } from '../parts/modules'
import { eagerly, ReviewOf } from '../review/ReviewOf'
import { SelectAll, SelectionBar } from '../table/Selecting'
import { flipped, useSelection, type Chosen } from '../table/selection'
import { capital, count, types, moduleText } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

/** needed is what must be read before the page can say that all is up to date: installed and available versions. */
const needed = ['Kyma', 'Manifest', 'ModuleReleaseMeta', 'ModuleTemplate']

/** check is the step of this page, in its address, that shows what would change. */
const check = 'check'

/** withStep is the query of this page at a step. */
function withStep(search: string, step: string): string {
  const next = new URLSearchParams(search)
  next.delete('step')
  if (step) next.set('step', step)
  const text = next.toString()
  return text && '?' + text
}

export function Page() {
  const { pathname, search, state: place } = useLocation()
  const navigate = useNavigate()
  const { chosen, choose, forget } = useSelection(chosenUpgrades, upgradeKey, plainModule, isModule)
  const follow = useFollow()
  const checking = new URLSearchParams(search).get('step') === check && chosen.size > 0
  const modules = [...chosen.values()]
  const back = () => {
    if ((place as { chose?: boolean } | null)?.chose) void navigate(-1)
    else void navigate({ pathname, search: withStep(search, '') }, { replace: true })
  }
  return (
    <>
      <Header title={messages.common.upgrade} lead={messages.upgrade.modulesNewerVersionConfiguredStays} />
      {checking ? (
        <InView label={messages.common.whatWouldChange}>
          <Versions modules={modules} />
          <ReviewPanel
            deeds={[upgradeOf(modules)]}
            verb={fill(messages.upgrade.upgradeModules, { modules: count(modules.length, messages.nouns.module) })}
            started={(operations, refused) => {
              forget()
              follow(operations, refused)
            }}
            back={
              <Button variant="default" onClick={back}>
                {messages.common.back}
              </Button>
            }
          />
        </InView>
      ) : (
        <Choosing
          chosen={chosen}
          choose={choose}
          go={() => void navigate({ pathname, search: withStep(search, check) }, { state: { chose: true } })}
        />
      )}
    </>
  )
}

/** shownVersions is how many versions are offered to be looked at before an upgrade of many. */
const shownVersions = 20

/** Versions are what each chosen version may do, and what it changes in its cluster, to be opened one by one. */
function Versions({ modules }: { modules: Module[] }) {
  const more = modules.length - shownVersions
  return (
    <section className="stack tight" aria-label={messages.common.whatChangesInTheCluster}>
      {modules.slice(0, shownVersions).map((m, i) => (
        <ReviewOf
          key={upgradeKey(m)}
          title={fill(messages.upgrade.whatMayDoAndChanges, { module: moduleText(m), available: m.version.available })}
          of={reviewQuery(m.kyma ?? '', m.name, m.version.available ?? '')}
          eager={i < eagerly}
        />
      ))}
      {more > 0 && (
        <p className="dim flat">
          {fill(messages.upgrade.objectsNotComparedHerePage, { modules: count(more, messages.nouns.otherModule) })}
        </p>
      )}
    </section>
  )
}

interface Props {
  list: List<Module>
  state: ListState
  chosen: Chosen<Module>
  choose: (to: Chosen<Module>) => void
  go: () => void
}

function Choosing({ chosen, choose, go }: Omit<Props, 'list' | 'state'>) {
  const state = useListState()
  const answer = useLive(listQuery('/modules', state, ['type'], { outdated: 'true' }), true)
  return (
    <>
      <div className="row">
        <Search state={state} label={messages.upgrade.searchOutdatedModules} />
        <Filter state={state} name="type" label={messages.common.type} options={typeOptions} />
      </div>
      <Loaded answer={answer}>{(list) => <Body list={list} state={state} chosen={chosen} choose={choose} go={go} />}</Loaded>
    </>
  )
}

const typeOptions = Object.entries(types).map(([value, { label }]) => ({ value, label }))

function Body({ list, state, chosen, choose, go }: Props) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const bar = (
    <SelectionBar
      noun={messages.nouns.module}
      rows={items}
      chosen={chosen}
      choose={choose}
      keyOf={upgradeKey}
      empty={messages.upgrade.chooseWhatToUpgrade}
    >
      <Button disabled={chosen.size === 0} onClick={go}>
        {messages.common.seeWhatWouldChange}
      </Button>
    </SelectionBar>
  )
  if (items.length === 0) {
    return (
      <>
        <div className="card">
          <NotRead unread={list.unread} />
          {!state.filtered && hidden(list.unread, ...needed) ? <Unseen /> : <Nothing filtered={state.filtered} />}
        </div>
        {chosen.size > 0 && bar}
      </>
    )
  }
  return (
    <>
      <NotRead unread={list.unread} />
      <SelectAll
        noun={messages.nouns.module}
        rows={items}
        total={list.total}
        chosen={chosen}
        choose={choose}
        keyOf={upgradeKey}
        open={selectable}
        all={{ path: '/modules', parameters: listParameters(state.parameters, ['type'], { outdated: 'true' }) }}
      />
      <Outdated items={items} chosen={chosen} flip={(m) => choose(flipped(chosen, upgradeKey(m), m))} />
      <Pages state={state} total={list.total} noun={messages.nouns.module} />
      {bar}
    </>
  )
}

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <Empty
      icon={<CheckCircle2 size={40} aria-hidden />}
      title={filtered ? messages.common.noMatchingModules : messages.upgrade.everythingIsUpToDate}
    >
      {filtered ? '' : messages.upgrade.everyModuleNewestVersion}
    </Empty>
  )
}

const columns = [
  { key: 'module', label: messages.common.module },
  { key: 'kyma', label: messages.common.kyma },
  { key: 'versions', label: messages.common.upgrade },
  { key: 'how', label: messages.upgrade.how },
]

interface OutdatedProps {
  items: Module[]
  chosen: Chosen<Module>
  flip: (m: Module) => void
}

function Outdated({ items, chosen, flip }: OutdatedProps) {
  return (
    <Table label={messages.upgrade.outdatedModules} columns={columns}>
      {items.map((m) => (
        <tr key={upgradeKey(m)}>
          <td className="lead">
            <div className="name-cell">
              <Checkbox
                checked={chosen.has(upgradeKey(m))}
                disabled={m.suspended}
                onChange={() => flip(m)}
                aria-label={fill(messages.upgrade.upgradeModule, { module: moduleText(m) })}
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
          <td data-label={messages.common.kyma}>
            <KymaCell kyma={m.kyma} />
          </td>
          <td data-label={messages.common.upgrade}>
            <span className="row nowrap-row mono">
              <span>{m.version.installed}</span>
              <ArrowRight size={14} aria-label={messages.common.to} />
              <span className="newer">{m.version.available}</span>
            </span>
          </td>
          <td data-label={messages.upgrade.how} className="small">
            {m.suspended ? messages.upgrade.notWhileItIsSuspended : capital(byItself(m)) || messages.upgrade.manual}
          </td>
        </tr>
      ))}
    </Table>
  )
}
