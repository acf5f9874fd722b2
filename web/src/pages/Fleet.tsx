// The versions of every module across all Kymas: how many have which, and where a channel leads.
import { Grid3x3 } from 'lucide-react'
import { Link } from 'react-router'
import type { List } from '../api'
import { query as withParameters } from '../live/http'
import { useLive } from '../live/useLive'
import { Avatar, Empty, Header, hidden, NotRead, Tag, To, Unseen } from '../parts/basics'
import { beyondEnd, BeyondEnd, listQuery, Pages, Search, Table, useListState, type Column, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import type { FleetModule, FleetVersion } from '../rollouts/answers'
import { count } from '../words'

const columns: Column[] = [
  { key: 'name', label: 'Module', sort: true },
  { key: 'kymas', label: 'Kymas', sort: true },
  { key: 'versions', label: 'Versions', sort: true },
]

export function Page() {
  const state = useListState()
  const answer = useLive<List<FleetModule>>(listQuery('/fleet', state, []), true)
  return (
    <>
      <Header title="Fleet" lead="Which versions of each module the Kymas have installed. A number leads to those Kymas." />
      <Search state={state} label="Search modules and versions" />
      <Loaded answer={answer}>{(list) => <Body list={list} state={state} />}</Loaded>
    </>
  )
}

function Body({ list, state }: { list: List<FleetModule>; state: ListState }) {
  const items = list.items ?? []
  if (beyondEnd(list)) return <BeyondEnd state={state} />
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'Kyma')
  return (
    <>
      <NotRead unread={list.unread} />
      {items.length === 0 && (
        <div className="card">
          {blind ? (
            <Unseen />
          ) : state.filtered ? (
            <Empty icon={<Grid3x3 size={40} aria-hidden />} title="No matching modules" />
          ) : (
            <Empty icon={<Grid3x3 size={40} aria-hidden />} title="No modules yet">
              No Kyma has a module. Add some in the catalog.
            </Empty>
          )}
        </div>
      )}
      {items.length > 0 && (
        <Table label="Versions in the fleet" columns={columns} state={state}>
          {items.map((module) => (
            <Row key={`${module.namespace}/${module.name}`} module={module} />
          ))}
        </Table>
      )}
      {!blind && <Pages state={state} total={list.total} one="module" />}
    </>
  )
}

/** kymasWith is the address of the Kymas that have a version of a module. */
export function kymasWith(module: FleetModule, version?: string): string {
  const parameters = { namespace: module.namespace, module: module.name, ...(version === undefined ? {} : { version: version || 'none' }) }
  return withParameters('/kymas', parameters).replace(/^\/api\/v1/, '')
}

function Row({ module: m }: { module: FleetModule }) {
  const versions = m.versions ?? []
  return (
    <tr>
      <td className="lead">
        <div className="name-cell">
          <Avatar name={m.name} />
          <div>
            <To to={`/modules?search=${encodeURIComponent(m.name)}`}>
              <strong>{m.name}</strong>
            </To>
            <div className="row tags">
              <span className="dim small">{m.namespace}</span>
              {m.mandatory && <Tag means="Every Kyma has this module.">Mandatory</Tag>}
              {m.waiting > 0 && (
                <To to={`/rollouts?search=${encodeURIComponent(m.name)}`}>
                  <span className="small">{m.waiting.toLocaleString('en')} wait for a rollout</span>
                </To>
              )}
            </div>
          </div>
        </div>
      </td>
      <td data-label="Kymas">
        <To to={kymasWith(m)}>
          {m.kymas.toLocaleString('en')}
          <span className="hidden-text"> Kymas with {m.name}</span>
        </To>
      </td>
      <td data-label="Versions" className="fleet-cell">
        <ul className="fleet" aria-label={`Versions of ${m.name}`}>
          {versions.map((version) => (
            <VersionOf key={version.version} module={m} version={version} />
          ))}
          {m.others.versions > 0 && (
            <li className="fleet-version">
              <span className="row nowrap-row between">
                <span className="dim small">{count(m.others.versions, 'more version')}</span>
                <b>{m.others.kymas.toLocaleString('en')}</b>
              </span>
            </li>
          )}
        </ul>
      </td>
    </tr>
  )
}

function VersionOf({ module: m, version: v }: { module: FleetModule; version: FleetVersion }) {
  const name = v.version || 'not installed yet'
  const channels = v.channels ?? []
  const body = (
    <>
      <span className="row nowrap-row between">
        <span className={v.version ? 'mono' : 'dim small'}>
          <span className="hidden-text">{m.name} </span>
          {name}
        </span>
        <b>
          {v.kymas.toLocaleString('en')}
          <span className="hidden-text"> {v.kymas === 1 ? 'Kyma' : 'Kymas'}</span>
        </b>
      </span>
      <span className="bar" aria-hidden="true">
        <i className="tone-bad" style={{ flexGrow: v.troubled }} />
        <i className={v.version ? 'tone-ok' : ''} style={{ flexGrow: v.kymas - v.troubled }} />
        <i className="rest" style={{ flexGrow: m.kymas - v.kymas }} />
      </span>
      <span className="dim small">
        {[channels.join(', '), v.troubled > 0 && `${v.troubled.toLocaleString('en')} in trouble`].filter(Boolean).join(' · ') || '\u00a0'}
      </span>
    </>
  )
  if (v.kymas === 0) {
    return (
      <li className="fleet-version">
        {body}
      </li>
    )
  }
  return (
    <li className="fleet-version">
      <Link to={kymasWith(m, v.version)}>{body}</Link>
    </li>
  )
}
