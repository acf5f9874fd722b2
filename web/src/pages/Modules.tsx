// Page 3: every module of every type in one table.
import { Button } from '@mantine/core'
import { Boxes, PackagePlus } from 'lucide-react'
import type { List, ModuleRow } from '../api'
import { useLive } from '../live/useLive'
import { Action, Empty, Header, hidden, NotRead, Unseen } from '../parts/basics'
import { beyondEnd, BeyondEnd, Filter, listQuery, Pages, Search, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { ModuleTable } from '../parts/modules'
import { Narrowed } from '../table/Narrowed'
import { severity, stateWord, types } from '../words'

/** hiddenFilters come with the address of a link, and have no control of their own. */
const hiddenFilters = ['kyma', 'namespace', 'module', 'notVersion', 'cause']
const filters = ['type', 'state', 'outdated', 'pending', 'attention', 'version', 'channel', 'reason', 'labelSelector', ...hiddenFilters]
const worstFirst = 'state'
const typeOptions = Object.entries(types).map(([value, { label }]) => ({ value, label }))
const stateOptions = severity.map((value) => ({ value, label: stateWord(value).label }))

export function Page() {
  const state = useListState()
  const answer = useLive<List<ModuleRow>>(listQuery('/modules', state, filters, { sort: worstFirst }), true)
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
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'Kyma', 'Manifest')
  return (
    <>
      <NotRead unread={list.unread} />
      {items.length > 0 && <ModuleTable modules={items} state={state} sorted={worstFirst} />}
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
    </>
  )
}
