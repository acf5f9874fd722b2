// Page 3: every module of every type in one table.
import { Button } from '@mantine/core'
import { Boxes, PackagePlus } from 'lucide-react'
import { useNavigate } from 'react-router'
import type { List, Module, ModuleRow } from '../api'
import { chosenUpgrades, isModule, plainModule, selectable, upgradeKey } from '../deeds/upgrading'
import { useLive } from '../live/useLive'
import { Action, Empty, Header, hidden, NotRead, Unseen } from '../parts/basics'
import { beyondEnd, BeyondEnd, Filter, listParameters, listQuery, Pages, Search, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { moduleColumns, moduleKey, ModuleTable, reasonOf, reasonWord } from '../parts/modules'
import { MoreFilters } from '../table/MoreFilters'
import { Narrowed } from '../table/Narrowed'
import { SelectAll, SelectionBar } from '../table/Selecting'
import { flipped, useSelection } from '../table/selection'
import { TableTools, type Export } from '../table/TableTools'
import { severity, stateWord, types } from '../words'

/** hiddenFilters come with the address of a link, and have no control of their own. */
const hiddenFilters = ['kyma', 'namespace', 'module', 'notVersion', 'cause'] as const
const shownFilters = ['type', 'state', 'outdated', 'pending', 'attention', 'version', 'channel', 'reason', 'labelSelector'] as const
const filters = [...shownFilters, ...hiddenFilters] as const
const worstFirst = 'state'
const typeOptions = Object.entries(types).map(([value, { label }]) => ({ value, label }))
const stateOptions = severity.map((value) => ({ value, label: stateWord(value).label }))

/** file is what a row of the list becomes in a file. */
const file = (state: ListState): Export<ModuleRow> => ({
  path: '/modules',
  parameters: listParameters(state.parameters, filters),
  keyOf: moduleKey,
  fields: [
    ['Kyma', (m) => m.kyma],
    ['Module', (m) => m.name],
    ['Type', (m) => m.type],
    ['State', (m) => m.state],
    ['Needs attention', (m) => m.attention],
    ['Not ready since', (m) => m.since],
    ['Reason', reasonWord],
    ['Message', reasonOf],
    ['Installation', (m) => m.installation.state],
    ['Channel', (m) => m.channel],
    ['Desired', (m) => m.version.desired],
    ['Installed', (m) => m.version.installed],
    ['Available', (m) => m.version.available],
    ['Outdated', (m) => m.version.outdated],
  ],
})

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/modules', state, filters, { sort: worstFirst }), true)
  return (
    <>
      <Header
        title="Modules"
        lead="All modules that are in a Kyma or installed, managed or not."
        actions={
          <Action to="/add" leftSection={<PackagePlus size={17} aria-hidden />}>
            Add modules
          </Action>
        }
      />
      <div className="stack tight">
        <div className="row">
          <Search state={state} label="Search modules" />
          <Filter state={state} name="type" label="Type" options={typeOptions} />
        </div>
        <div className="row">
          <Filter state={state} name="state" label="State" options={stateOptions} />
          <Filter state={state} name="outdated" label="Version" options={[{ value: 'true', label: 'Outdated' }]} />
          <Filter state={state} name="pending" label="Consent" options={[{ value: 'true', label: 'Waits for consent' }]} />
          <Filter state={state} name="attention" label="Attention" options={[{ value: 'true', label: 'Needs attention' }]} />
        </div>
        <div className="row">
          <TableTools name="modules" columns={moduleColumns} file={file(state)} />
          <MoreFilters state={state} choices={['channel', 'version', 'reason']} />
        </div>
        <Narrowed state={state} names={hiddenFilters} />
      </div>
      <Loaded answer={answer} rows={8}>
        {(list) => <Body list={list} state={state} />}
      </Loaded>
    </>
  )
}

function Body({ list, state }: { list: List<ModuleRow>; state: ListState }) {
  const items = list.items ?? []
  const navigate = useNavigate()
  const { chosen, choose } = useSelection<Module>(chosenUpgrades, upgradeKey, plainModule, isModule)
  const select = { has: (m: Module) => chosen.has(upgradeKey(m)), flip: (m: Module) => choose(flipped(chosen, upgradeKey(m), m)) }
  const choosable = items.some(selectable) || chosen.size > 0
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'Kyma', 'Manifest')
  return (
    <>
      <NotRead unread={list.unread} />
      {choosable && (
        <SelectAll
          one="module"
          rows={items}
          total={list.total}
          chosen={chosen}
          choose={choose}
          keyOf={upgradeKey}
          open={selectable}
          all={{ path: '/modules', parameters: listParameters(state.parameters, filters) }}
        />
      )}
      {items.length > 0 && <ModuleTable modules={items} name="modules" state={state} sorted={worstFirst} select={select} />}
      {items.length === 0 && (
        <div className="card">
          {blind ? (
            <Unseen />
          ) : state.filtered ? (
            <Empty
              icon={<Boxes size={40} aria-hidden />}
              title="No matching modules"
              action={
                <Button variant="light" onClick={state.clear}>
                  Show all
                </Button>
              }
            />
          ) : (
            <Empty
              icon={<Boxes size={40} aria-hidden />}
              title="No modules yet"
              action={<Action to="/catalog">Look at the catalog</Action>}
            >
              The catalog shows what can be had, and what each module does.
            </Empty>
          )}
        </div>
      )}
      {!blind && <Pages state={state} total={list.total} one="module" />}
      {chosen.size > 0 && (
        <SelectionBar one="module" rows={items} chosen={chosen} choose={choose} keyOf={upgradeKey} empty="">
          <Button onClick={() => void navigate('/upgrade?step=check', { state: { chose: true } })}>See what an upgrade would change</Button>
        </SelectionBar>
      )}
    </>
  )
}
