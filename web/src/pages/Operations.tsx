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
import { messages } from '../messages'

const options = Object.entries(operationStates).map(([value, { label }]) => ({ value, label }))
const columns = [
  { key: 'title', label: messages.common.what },
  { key: 'state', label: messages.common.state },
  { key: 'user', label: messages.operations.startedBy },
  { key: 'created', label: messages.common.when },
]

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/operations', state, ['state']), true)
  return (
    <>
      <Header title={messages.common.operations} lead={messages.operations.modulesAddedUpgradedDeletedHere} />
      <Filter state={state} name="state" label={messages.common.state} options={options} />
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
            title={messages.operations.noMatchingOperations}
            action={
              <Button variant="light" onClick={state.clear}>
                {messages.common.showAll}
              </Button>
            }
          />
        ) : (
          <Empty
            icon={<ListChecks size={40} aria-hidden />}
            title={messages.operations.noOperationsToShow}
            action={<Action to="/add">{messages.common.addModules}</Action>}
          >
            {messages.operations.addUpgradeDeleteShowsUp}
          </Empty>
        )}
      </div>
    )
  }
  return (
    <>
      <Table label={messages.common.operations} columns={columns}>
        {items.map((operation) => (
          <tr key={operation.id}>
            <td className="lead">
              <To to={'/operations' + at(operation.id)}>
                <strong>{operation.title}</strong>
              </To>
              {operation.message && <p className="dim small flat two-lines">{sentence(operation.message)}</p>}
            </td>
            <td data-label={messages.common.state}>
              <OperationBadge state={operation.state} />
            </td>
            <td data-label={messages.operations.startedBy}>{operation.user}</td>
            <td data-label={messages.common.when}>
              <Ago at={operation.created} />
            </td>
          </tr>
        ))}
      </Table>
      <Pages state={state} total={list.total} noun={messages.nouns.operation} />
    </>
  )
}
