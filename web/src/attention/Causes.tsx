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
import { fill } from '../fill'
import { messages } from '../messages'

const usual = 10
/** most is how many the server lists at once. */
const most = 200

const columns: Column[] = [
  { key: 'module', label: messages.common.module },
  { key: 'state', label: messages.common.state },
  { key: 'cause', label: messages.causes.cause },
  { key: 'kymas', label: messages.common.kymas },
  { key: 'since', label: messages.causes.oldest },
]

/** Causes follows the search of the page, and shows more of them on request. */
export function Causes({ state }: { state: ListState }) {
  const all = state.parameters.get('causes') === 'all'
  const search = state.parameters.get('search') ?? ''
  const answer = useLive(query('/fleet/causes', { search, limit: all ? most : usual }), true)
  return (
    <section className="stack tight" aria-labelledby="causes">
      <h2 id="causes" className="flat">
        {messages.causes.byCause}
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
    const none = state.filtered ? messages.causes.noMatchingModuleNeedsAttention : messages.causes.noModuleSeeNeedsAttention
    return <p className="dim flat">{none}</p>
  }
  return (
    <>
      <Table label={messages.causes.modulesThatNeedAttentionByCause} columns={columns}>
        {items.map((cause) => (
          <Row key={cause.id} cause={cause} />
        ))}
      </Table>
      {(list.total > items.length || all) && (
        <div className="row">
          <span className="dim small">
            {fill(messages.causes.ofTheWorstFirst, {
              count: items.length.toLocaleString('en'),
              causes: count(list.total, messages.nouns.cause),
            })}
          </span>
          <Button size="compact-sm" variant="light" onClick={() => state.set('causes', all ? undefined : 'all')}>
            {all ? messages.causes.showFewer : messages.causes.showMore}
          </Button>
        </div>
      )}
    </>
  )
}

/** counted says how many modules have a cause; usually each Kyma has the module once. */
export function counted({ modules, kymas }: FleetCause): string {
  if (kymas === 0) return fill(messages.causes.withoutAKyma, { modules: count(modules, messages.nouns.module) })
  return modules === kymas
    ? count(kymas, messages.nouns.kyma)
    : fill(messages.causes.modulesInKymas, { modules: count(modules, messages.nouns.module), kymas: count(kymas, messages.nouns.kyma) })
}

function Row({ cause }: { cause: FleetCause }) {
  return (
    <tr>
      <td className="lead">
        <div className="name-cell">
          <Avatar name={cause.module} />
          <div>
            <strong>{cause.module}</strong> <span className="mono">{cause.version || messages.common.noVersion}</span>
            {cause.namespace && <div className="dim small">{cause.namespace}</div>}
          </div>
        </div>
      </td>
      <td data-label={messages.common.state}>
        <StateBadge state={cause.state} />
      </td>
      <td data-label={messages.causes.cause}>
        <div className="cause">
          {cause.reason && <Tag>{cause.reason}</Tag>}
          <p className="flat small three-lines">{sentence(cause.message) || messages.causes.itGivesNoReason}</p>
        </div>
      </td>
      <td data-label={messages.common.kymas} className="nowrap">
        <To to={modulesWith(cause)}>
          {counted(cause)}
          <span className="hidden-text"> {fill(messages.causes.withAndThisCause, { module: cause.module, version: cause.version })}</span>
        </To>
      </td>
      <td data-label={messages.causes.oldest}>
        <Ago at={cause.since} />
      </td>
    </tr>
  )
}
