// The fleet: counts on top, what is wrong by cause, and the versions of every module across all Kymas.
import { Grid3x3 } from 'lucide-react'
import { Link } from 'react-router'
import { Causes } from '../attention/Causes'
import { modulesOf, otherVersionsOf } from '../attention/links'
import { useLive } from '../live/useLive'
import { Avatar, Empty, Header, hidden, NotRead, Tag, To, Unseen } from '../parts/basics'
import { Counts } from '../parts/counts'
import { beyondEnd, BeyondEnd, listQuery, Pages, Search, Table, useListState, type Column, type ListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import type { FleetList, FleetModule, FleetVersion } from '../api'
import { count } from '../words'
import { fill, formOf } from '../fill'
import { messages } from '../messages'

const columns: Column[] = [
  { key: 'name', label: messages.common.module, sort: true },
  { key: 'kymas', label: messages.common.kymas, sort: true },
  { key: 'troubled', label: messages.fleet.needAttention, sort: true },
  { key: 'versions', label: messages.common.versions, sort: true },
]
const worstFirst = 'troubled'

export function Page() {
  const state = useListState()
  const answer = useLive(listQuery('/fleet', state, [], { sort: worstFirst }), true)
  return (
    <>
      <Header title={messages.common.fleet} lead={messages.fleet.wrongAcrossAllKymasVersions} />
      <Loaded answer={answer}>{(list) => <Body list={list} state={state} />}</Loaded>
    </>
  )
}

function Body({ list, state }: { list: FleetList; state: ListState }) {
  const items = list.items ?? []
  const blind = items.length === 0 && !state.filtered && hidden(list.unread, 'Kyma')
  return (
    <>
      <NotRead unread={list.unread} />
      {!blind && (
        <div className="grid grid-cards">
          <Counts title={messages.common.kymas} of={list.counts.kymas} to="/kymas" noun={messages.nouns.kyma} />
          <Counts title={messages.common.modules} of={list.counts.modules} to="/modules" noun={messages.nouns.module} />
          <Attention n={list.counts.attention} />
        </div>
      )}
      <Search state={state} label={messages.fleet.searchModulesAndVersions} />
      {!blind && <Causes state={state} />}
      <section className="stack tight" aria-labelledby="versions">
        <h2 id="versions" className="flat">
          {messages.fleet.byVersion}
        </h2>
        {beyondEnd(list) ? <BeyondEnd state={state} /> : <Matrix items={items} state={state} blind={blind} />}
        {!blind && !beyondEnd(list) && <Pages state={state} total={list.total} noun={messages.nouns.module} />}
      </section>
    </>
  )
}

/** Attention counts what the Overview lists one by one. */
function Attention({ n }: { n: number }) {
  return (
    <section className="card pad stack tight" aria-label={messages.common.attention}>
      <h2 className="flat">{messages.common.needsAttention}</h2>
      <p className="flat">
        {n === 0 ? messages.fleet.noModuleNeedsAttention : <To to="/modules?attention=true">{count(n, messages.nouns.module)}</To>}
      </p>
      <p className="dim small flat">{messages.fleet.stateErrorWarningProgressMore}</p>
    </section>
  )
}

function Matrix({ items, state, blind }: { items: FleetModule[]; state: ListState; blind: boolean }) {
  if (items.length > 0) {
    return (
      <Table label={messages.common.versionsInTheFleet} columns={columns} state={state} sorted={worstFirst}>
        {items.map((module) => (
          <Row key={`${module.namespace}/${module.name}`} module={module} />
        ))}
      </Table>
    )
  }
  return (
    <div className="card">
      {blind ? (
        <Unseen />
      ) : state.filtered ? (
        <Empty icon={<Grid3x3 size={40} aria-hidden />} title={messages.common.noMatchingModules} />
      ) : (
        <Empty icon={<Grid3x3 size={40} aria-hidden />} title={messages.common.noModulesYet}>
          {messages.fleet.noKymaModuleAddSome}
        </Empty>
      )}
    </div>
  )
}

function Row({ module: m }: { module: FleetModule }) {
  const versions = m.versions ?? []
  return (
    <tr>
      <td className="lead">
        <div className="name-cell">
          <Avatar name={m.name} />
          <div>
            <To to={modulesOf(m)}>
              <strong>{m.name}</strong>
            </To>
            <div className="row tags">
              <span className="dim small">{m.namespace}</span>
              {m.mandatory && <Tag means={messages.common.everyKymaHasThisModule}>{messages.common.mandatory}</Tag>}
              {m.waiting > 0 && (
                <To to={`/rollouts?search=${encodeURIComponent(m.name)}`}>
                  <span className="small">{fill(messages.fleet.waitForARollout, { count: m.waiting.toLocaleString('en') })}</span>
                </To>
              )}
            </div>
          </div>
        </div>
      </td>
      <td data-label={messages.common.kymas}>
        <Number n={m.kymas} to={modulesOf(m)} means={fill(messages.fleet.kymasWith, { name: m.name })} />
      </td>
      <td data-label={messages.fleet.needAttention}>
        <Number n={m.troubled} to={modulesOf(m, { attention: true })} means={fill(messages.fleet.withNeedAttention, { name: m.name })} />
      </td>
      <td data-label={messages.common.versions} className="fleet-cell">
        <ul className="fleet" aria-label={fill(messages.fleet.versionsOf, { name: m.name })}>
          {versions.map((version) => (
            <VersionOf key={version.version} module={m} version={version} />
          ))}
          {m.others.versions > 0 && (
            <li className="fleet-version">
              <Link to={otherVersionsOf(m)} className="row nowrap-row between">
                <span className="dim small">{count(m.others.versions, messages.nouns.moreVersion)}</span>
                <b>{m.others.kymas.toLocaleString('en')}</b>
              </Link>
            </li>
          )}
        </ul>
      </td>
    </tr>
  )
}

/** Number leads to what it counts, if that is anything. */
function Number({ n, to, means }: { n: number; to: string; means: string }) {
  if (n === 0) return <span className="dim">0</span>
  return (
    <To to={to}>
      {n.toLocaleString('en')}
      <span className="hidden-text"> {means}</span>
    </To>
  )
}

function VersionOf({ module: m, version: v }: { module: FleetModule; version: FleetVersion }) {
  const name = v.version || messages.fleet.notInstalledYet
  const body = (
    <>
      <span className="row nowrap-row between">
        <span className={v.version ? 'mono' : 'dim small'}>
          <span className="hidden-text">{m.name} </span>
          {name}
        </span>
        <b>
          {v.kymas.toLocaleString('en')}
          <span className="hidden-text"> {v.kymas === 1 ? messages.common.kyma : messages.common.kymas}</span>
        </b>
      </span>
      <span className="bar" aria-hidden="true">
        <i className="tone-bad" style={{ flexGrow: v.troubled }} />
        <i className={v.version ? 'tone-ok' : ''} style={{ flexGrow: v.kymas - v.troubled }} />
        <i className="rest" style={{ flexGrow: m.kymas - v.kymas }} />
      </span>
    </>
  )
  return (
    <li className="fleet-version">
      {v.kymas === 0 ? body : <Link to={modulesOf(m, v)}>{body}</Link>}
      <span className="dim small row nowrap-row">
        {(v.channels ?? []).join(', ') || (v.troubled === 0 && '\u00a0')}
        {v.troubled > 0 && (
          <To to={modulesOf(m, { version: v.version, attention: true })}>
            {fill(formOf(v.troubled, messages.fleet.needAttentionCount), { count: v.troubled.toLocaleString('en') })}
            <span className="hidden-text"> {fill(messages.fleet.withVersion, { module: m.name, version: name })}</span>
          </To>
        )}
      </span>
    </li>
  )
}
