// Page 11: what is being done, and what was done.
import { ListChecks } from 'lucide-react'
import { Button } from '@mantine/core'
import type { List, Operation } from '../api'
import { at } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Empty, Header, OperationBadge, To } from '../parts/basics'
import { Ago } from '../parts/details'
import { beyondEnd, BeyondEnd, Filter, listQuery, Pages, Table, useListState, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { operationStates, sentence } from '../words'

const options = Object.entries(operationStates).map(([value, { label }]) => ({ value, label }))
const columns = [
  { key: 'title', label: 'What' },
  { key: 'state', label: 'State' },
  { key: 'user', label: 'Started by' },
  { key: 'created', label: 'When' },
]

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/operations', state, ['state']), true)
  return (
    <>
      <Header
        title="Operations"
        lead="Modules added, upgraded or deleted here. Operations continue without this page, and can be resumed after an interruption."
      />
      <Filter state={state} name="state" label="State" options={options} />
      <Loaded answer={answer}>{(list) => <Body list={list} state={state} />}</Loaded>
    </>
  )
}

function Body({ list, state }: { list: List<Operation>; state: ListState }) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  if (items.length === 0) {
    return (
      <div className="card">
        {state.filtered ? (
          <Empty
            icon={<ListChecks size={40} aria-hidden />}
            title="No matching operations"
            action={
              <Button variant="light" onClick={state.clear}>
                Show all
              </Button>
            }
          />
        ) : (
          <Empty icon={<ListChecks size={40} aria-hidden />} title="No operations to show" action={<Action to="/add">Add modules</Action>}>
            What you add, upgrade or delete shows up here, and what others do with modules that you may read.
          </Empty>
        )}
      </div>
    )
  }
  return (
    <>
      <Table label="Operations" columns={columns}>
        {items.map((operation) => (
          <tr key={operation.id}>
            <td className="lead">
              <To to={'/operations' + at(operation.id)}>
                <strong>{operation.title}</strong>
              </To>
              {operation.message && <p className="dim small flat two-lines">{sentence(operation.message)}</p>}
            </td>
            <td data-label="State">
              <OperationBadge state={operation.state} />
            </td>
            <td data-label="Started by">{operation.user}</td>
            <td data-label="When">
              <Ago at={operation.created} />
            </td>
          </tr>
        ))}
      </Table>
      <Pages state={state} total={list.total} one="operation" />
    </>
  )
}
