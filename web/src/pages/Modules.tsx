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
import { messages } from '../messages'

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
    [messages.common.kyma, (m) => m.kyma],
    [messages.common.module, (m) => m.name],
    [messages.common.type, (m) => m.type],
    [messages.common.state, (m) => m.state],
    [messages.common.needsAttention, (m) => m.attention],
    [messages.common.notReadySince, (m) => m.since],
    [messages.common.reason, reasonWord],
    [messages.common.message, reasonOf],
    [messages.common.installation, (m) => m.installation.state],
    [messages.common.channel, (m) => m.channel],
    [messages.common.desired, (m) => m.version.desired],
    [messages.common.installed, (m) => m.version.installed],
    [messages.common.available, (m) => m.version.available],
    [messages.modules.outdated, (m) => m.version.outdated],
  ],
})

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/modules', state, filters, { sort: worstFirst }), true)
  return (
    <>
      <Header
        title={messages.common.modules}
        lead={messages.modules.allModulesKymaInstalledManaged}
        actions={
          <Action to="/add" leftSection={<PackagePlus size={17} aria-hidden />}>
            {messages.common.addModules}
          </Action>
        }
      />
      <div className="stack tight">
        <div className="row">
          <Search state={state} label={messages.modules.searchModules} />
          <Filter state={state} name="type" label={messages.common.type} options={typeOptions} />
        </div>
        <div className="row">
          <Filter state={state} name="state" label={messages.common.state} options={stateOptions} />
          <Filter
            state={state}
            name="outdated"
            label={messages.common.version}
            options={[{ value: 'true', label: messages.modules.outdated }]}
          />
          <Filter
            state={state}
            name="pending"
            label={messages.modules.consent}
            options={[{ value: 'true', label: messages.modules.waitsForConsent }]}
          />
          <Filter
            state={state}
            name="attention"
            label={messages.common.attention}
            options={[{ value: 'true', label: messages.common.needsAttention }]}
          />
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
          noun={messages.nouns.module}
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
              title={messages.common.noMatchingModules}
              action={
                <Button variant="light" onClick={state.clear}>
                  {messages.common.showAll}
                </Button>
              }
            />
          ) : (
            <Empty
              icon={<Boxes size={40} aria-hidden />}
              title={messages.common.noModulesYet}
              action={<Action to="/catalog">{messages.common.lookAtTheCatalog}</Action>}
            >
              {messages.modules.catalogShowsEachModule}
            </Empty>
          )}
        </div>
      )}
      {!blind && <Pages state={state} total={list.total} noun={messages.nouns.module} />}
      {chosen.size > 0 && (
        <SelectionBar noun={messages.nouns.module} rows={items} chosen={chosen} choose={choose} keyOf={upgradeKey} empty="">
          <Button onClick={() => void navigate('/upgrade?step=check', { state: { chose: true } })}>
            {messages.modules.seeWhatAnUpgradeWouldChange}
          </Button>
        </SelectionBar>
      )}
    </>
  )
}
