// What is wrong in the fleet: the modules that need attention, one row for each cause however many Kymas it has.
import { Button } from '@mantine/core'
import type { FleetCause, List } from '../api'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Avatar, StateBadge, Tag, To } from '../parts/basics'
import { Ago } from '../parts/details'
import { Table, type Column, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { count, sentence } from '../words'
import { modulesWith } from './links'

const usual = 10
/** most is how many the server lists at once. */
const most = 200

const columns: Column[] = [
  { key: 'module', label: 'Module' },
  { key: 'state', label: 'State' },
  { key: 'cause', label: 'Cause' },
  { key: 'kymas', label: 'Kymas' },
  { key: 'since', label: 'Oldest' },
]

/** Causes follows the search of the page, and shows more of them on request. */
export function Causes({ state }: { state: ListState }) {
  const all = state.parameters.get('causes') === 'all'
  const search = state.parameters.get('search') ?? ''
  const answer = useLive(query('/fleet/causes', { search, limit: all ? most : usual }), true)
  return (
    <section className="stack tight" aria-labelledby="causes">
      <h2 id="causes" className="flat">
        By cause
      </h2>
      <Loaded answer={answer} rows={3}>
        {(list) => <Groups list={list} all={all} state={state} />}
      </Loaded>
    </section>
  )
}

function Groups({ list, all, state }: { list: List<FleetCause>; all: boolean; state: ListState }) {
  const items = list.items ?? []
  if (items.length === 0) {
    const none = state.filtered ? 'No matching module needs attention.' : 'No module that you may see needs attention.'
    return <p className="dim flat">{none}</p>
  }
  return (
    <>
      <Table label="Modules that need attention, by cause" columns={columns}>
        {items.map((cause) => (
          <Row key={cause.id} cause={cause} />
        ))}
      </Table>
      {(list.total > items.length || all) && (
        <div className="row">
          <span className="dim small">
            {items.length.toLocaleString('en')} of {count(list.total, 'cause')}, the worst first
          </span>
          <Button size="compact-sm" variant="light" onClick={() => state.set('causes', all ? undefined : 'all')}>
            {all ? 'Show fewer' : 'Show more'}
          </Button>
        </div>
      )}
    </>
  )
}

/** counted says how many modules have a cause; usually each Kyma has the module once. */
export function counted({ modules, kymas }: FleetCause): string {
  if (kymas === 0) return count(modules, 'module') + ' without a Kyma'
  return modules === kymas ? count(kymas, 'Kyma') : `${count(modules, 'module')} in ${count(kymas, 'Kyma')}`
}

function Row({ cause }: { cause: FleetCause }) {
  return (
    <tr>
      <td className="lead">
        <div className="name-cell">
          <Avatar name={cause.module} />
          <div>
            <strong>{cause.module}</strong> <span className="mono">{cause.version || 'no version'}</span>
            {cause.namespace && <div className="dim small">{cause.namespace}</div>}
          </div>
        </div>
      </td>
      <td data-label="State">
        <StateBadge state={cause.state} />
      </td>
      <td data-label="Cause">
        <div className="cause">
          {cause.reason && <Tag>{cause.reason}</Tag>}
          <p className="flat small three-lines">{sentence(cause.message) || 'It gives no reason.'}</p>
        </div>
      </td>
      <td data-label="Kymas" className="nowrap">
        <To to={modulesWith(cause)}>
          {counted(cause)}
          <span className="hidden-text">
            {' '}
            with {cause.module} {cause.version} and this cause
          </span>
        </To>
      </td>
      <td data-label="Oldest">
        <Ago at={cause.since} />
      </td>
    </tr>
  )
}
