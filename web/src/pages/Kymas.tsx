// Page 2: all Kymas.
import { Button } from '@mantine/core'
import { Layers } from 'lucide-react'
import type { KymaLine, List } from '../api'
import { at } from '../live/http'
import { useLive } from '../live/useLive'
import { Empty, Header, hidden, NotRead, StateBadge, Tag, To, Unseen } from '../parts/basics'
import { Ago } from '../parts/details'
import { beyondEnd, BeyondEnd, Filter, listQuery, Pages, Search, Table, useListState, type Column, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { count, sentence, stateWord } from '../words'

const stateOptions = ['Error', 'Warning', 'Processing', 'Deleting', 'Ready'].map((value) => ({ value, label: stateWord(value).label }))
const columns: Column[] = [
  { key: 'name', label: 'Kyma', sort: true },
  { key: 'state', label: 'State', sort: true },
  { key: 'modules', label: 'Modules ready' },
  { key: 'channel', label: 'Channel', sort: true },
  { key: 'where', label: 'Cluster' },
  { key: 'created', label: 'Created', sort: true },
]

export function Page() {
  const state = useListState()
  const answer = useLive<List<KymaLine>>(listQuery('/kymas', state, ['state', 'channel', 'namespace', 'module', 'version']), true)
  return (
    <>
      <Header title="Kymas" lead="A Kyma says which modules a cluster has, and which channel their versions come from." />
      <div className="row">
        <Search state={state} label="Search Kymas" />
        <Filter state={state} name="state" label="State" options={stateOptions} />
      </div>
      <Having state={state} />
      <Loaded answer={answer} rows={8}>
        {(list) => <Body list={list} state={state} />}
      </Loaded>
    </>
  )
}

/** Having says which module and version the Kymas of the list have, where the address asks for that. */
function Having({ state }: { state: ListState }) {
  const module = state.parameters.get('module')
  const version = state.parameters.get('version')
  if (!module) return null
  const what = version === 'none' ? `${module} not installed yet` : version ? `${module} ${version}` : module
  return (
    <p className="row flat">
      <span>
        Only Kymas with <strong className="mono">{what}</strong>
      </span>
      <Button size="compact-sm" variant="light" onClick={state.clear}>
        Show all
      </Button>
    </p>
  )
}

function Body({ list, state }: { list: List<KymaLine>; state: ListState }) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'Kyma')
  return (
    <>
      <NotRead unread={list.unread} />
      {items.length === 0 && (
        <div className="card">
          {blind ? <Unseen /> : <Nothing state={state} />}
        </div>
      )}
      {items.length > 0 && (
        <Table label="Kymas" columns={columns} state={state}>
          {items.map((kyma) => (
            <Row key={`${kyma.namespace}/${kyma.name}`} kyma={kyma} />
          ))}
        </Table>
      )}
      {!blind && <Pages state={state} total={list.total} one="Kyma" />}
    </>
  )
}

function Nothing({ state }: { state: ListState }) {
  if (state.filtered) {
    return (
      <Empty
        icon={<Layers size={40} aria-hidden />}
        title="No matching Kymas"
        action={
          <Button variant="light" onClick={state.clear}>
            Show all
          </Button>
        }
      />
    )
  }
  return (
    <Empty icon={<Layers size={40} aria-hidden />} title="There is no Kyma">
      This cluster is not managed. Modules can still be installed directly: see the catalog. The operator of the lifecycle manager creates a
      Kyma with
      <span className="mono"> kyma kyma create NAME</span>.
    </Empty>
  )
}

function Row({ kyma }: { kyma: KymaLine }) {
  return (
    <tr>
      <td className="lead">
        <To to={'/kymas' + at(kyma.namespace, kyma.name)}>
          <strong>{kyma.name}</strong>
        </To>
        <div className="dim small">{kyma.namespace}</div>
        {kyma.state !== 'Ready' && kyma.message && <p className="dim small flat two-lines">{sentence(kyma.message)}</p>}
      </td>
      <td data-label="State">
        <StateBadge state={kyma.state} message={kyma.message} />
      </td>
      <td data-label="Modules ready">
        <span className="row">
          <span className="nowrap">{kyma.modules}</span>
          {kyma.outdated > 0 && <Tag tone="strong">{count(kyma.outdated, 'upgrade')}</Tag>}
        </span>
      </td>
      <td data-label="Channel">{kyma.channel}</td>
      <td data-label="Cluster">
        {kyma.copy ? (
          <Tag means="The Kyma that a hub keeps here: what you change here, the hub takes over.">From a hub</Tag>
        ) : kyma.local ? (
          'this one'
        ) : (
          'another one'
        )}
      </td>
      <td data-label="Created">
        <Ago at={kyma.created} />
      </td>
    </tr>
  )
}
