// One object: its summary, its YAML, its logs. Everything that is chosen stands in the address.
import type { Container, Event, ObjectCondition, ObjectDetail, ObjectNode } from '../api'
import { CloseButton, Tabs } from '@mantine/core'
import { objectQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { NotRead, Notice, StateBadge, Tag } from '../parts/basics'
import { Ago } from '../parts/details'
import { InView } from '../parts/inview'
import { Loaded } from '../parts/loaded'
import { count, sentence } from '../words'
import { Copy } from './Copy'
import { harmless } from './harmless'
import { describeCommand, getCommand } from './kubectl'
import { Logs } from './Logs'
import type { ExplorerState, Panel } from './state'
import { idOf, presenceWords, refOf } from './tree'
import { Yaml } from './Yaml'
import { messages } from '../messages'

interface Props {
  path: string
  id: string
  node?: ObjectNode
  state: ExplorerState
  close(): void
}

export function ObjectPanel({ path, id, node, state, close }: Props) {
  const ref = refOf(id)
  const asked = ref && {
    apiVersion: node?.apiVersion || state.version || (ref.group ? ref.group + '/v1' : 'v1'),
    kind: ref.kind,
    namespace: ref.namespace,
    name: ref.name,
    managedFields: state.panel === 'yaml' && state.managed,
    wanted: state.panel === 'yaml' && state.side !== 'live',
  }
  const answer = useLive(asked ? objectQuery(path, asked) : null, true)
  const title = ref ? `${harmless(ref.kind)} ${harmless(ref.name)}` : messages.objectPanel.noObject
  return (
    <InView label={title} close={close}>
      <div className="card pad stack">
        <div className="row between">
          <h2 className="flat">
            <span className="dim">{ref && harmless(ref.kind)} </span>
            <span className="mono">{ref && harmless((ref.namespace ? ref.namespace + '/' : '') + ref.name)}</span>
          </h2>
          <CloseButton aria-label={messages.objectPanel.closeTheObject} onClick={close} />
        </div>
        {ref ? (
          <Loaded answer={answer} rows={4}>
            {(detail) => <Body detail={detail} path={path} state={state} node={node} />}
          </Loaded>
        ) : (
          <p className="flat">{messages.objectPanel.theAddressNamesNoObject}</p>
        )}
      </div>
    </InView>
  )
}

function Body({ detail, path, state, node }: { detail: ObjectDetail; path: string; state: ExplorerState; node?: ObjectNode }) {
  const { ref } = detail
  const target = { resource: detail.resource ?? ref.kind, namespace: ref.namespace, name: ref.name }
  const pod = ref.kind === 'Pod' && ref.apiVersion === 'v1'
  const panel: Panel = state.panel === 'logs' && !pod ? 'summary' : state.panel
  return (
    <>
      <div className="row">
        {(node?.state ?? detail.state) && <StateBadge state={node?.state ?? detail.state} />}
        {presenceWords[detail.presence] && <Tag tone="warn">{presenceWords[detail.presence]}</Tag>}
        {detail.deleting && <Tag tone="warn">{messages.common.beingDeleted}</Tag>}
        <Copy text={getCommand(target)}>{messages.objectPanel.copyAsKubectlGet}</Copy>
        <Copy text={describeCommand(target)}>{messages.objectPanel.copyAsKubectlDescribe}</Copy>
      </div>
      <NotRead unread={detail.unread} />
      <Tabs value={panel} onChange={(to) => state.set({ panel: to === 'summary' ? undefined : (to ?? undefined) })} keepMounted={false}>
        <Tabs.List aria-label={messages.objectPanel.aboutThisObject}>
          <Tabs.Tab value="summary">{messages.objectPanel.summary}</Tabs.Tab>
          <Tabs.Tab value="yaml">{messages.common.yaml}</Tabs.Tab>
          {pod && <Tabs.Tab value="logs">{messages.objectPanel.logs}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="summary" pt="md">
          <Summary detail={detail} node={node} state={state} />
        </Tabs.Panel>
        <Tabs.Panel value="yaml" pt="md">
          <Yaml detail={detail} state={state} />
        </Tabs.Panel>
        {pod && (
          <Tabs.Panel value="logs" pt="md">
            <Logs detail={detail} path={path} state={state} />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  )
}

function Summary({ detail, node, state }: { detail: ObjectDetail; node?: ObjectNode; state: ExplorerState }) {
  const message = node?.message || detail.message
  const bad = detail.presence !== 'Present' || (node?.state ?? detail.state) !== 'Ready'
  return (
    <div className="stack">
      {message && bad && (
        <Notice tone={detail.presence === 'Present' ? 'warn' : 'idle'}>
          <p>{sentence(harmless(message))}</p>
          {node?.remedy && (
            <p>
              <strong>{messages.common.whatToDo}</strong> {sentence(node.remedy)}
            </p>
          )}
        </Notice>
      )}
      {detail.presence === 'Present' && <Facts detail={detail} state={state} />}
      {!!detail.containers?.length && <Containers containers={detail.containers} state={state} />}
      {!!detail.conditions?.length && <Conditions conditions={detail.conditions} />}
      {detail.presence !== 'Unread' && <Events events={detail.events ?? []} />}
    </div>
  )
}

function Facts({ detail, state }: { detail: ObjectDetail; state: ExplorerState }) {
  return (
    <dl className="facts">
      <dt>{messages.common.created}</dt>
      <dd>
        <Ago at={detail.created} />
      </dd>
      <dt>{messages.objectPanel.owner}</dt>
      <dd>
        {!detail.owners?.length && <span className="dim">{messages.common.none}</span>}
        {detail.owners?.map((owner) => (
          <button
            key={idOf(owner)}
            type="button"
            className="sort"
            onClick={() => state.set({ object: idOf(owner), version: owner.apiVersion })}
          >
            {harmless(`${owner.kind} ${owner.name}`)}
          </button>
        ))}
      </dd>
      <dt>{messages.objectPanel.apiVersion}</dt>
      <dd className="mono small">{harmless(detail.ref.apiVersion)}</dd>
      <dt>{messages.objectPanel.uid}</dt>
      <dd className="mono small">{harmless(detail.uid ?? '')}</dd>
    </dl>
  )
}

function Containers({ containers, state }: { containers: Container[]; state: ExplorerState }) {
  return (
    <section className="stack tight" aria-label={messages.objectPanel.containersOfThePod}>
      <h3 className="flat">{messages.objectPanel.containers}</h3>
      <ul className="facts-list" aria-label={messages.objectPanel.containers}>
        {containers.map((one) => (
          <li key={one.kind + one.name}>
            <span className="row">
              <button type="button" className="sort" onClick={() => state.set({ panel: 'logs', container: one.name })}>
                {harmless(one.name)}
                <span className="hidden-text"> {messages.objectPanel.itsLog}</span>
              </button>
              {one.kind !== 'container' && <Tag>{one.kind}</Tag>}
              <span className="small">
                {harmless([one.state, one.reason].filter(Boolean).join(': ')) || messages.objectPanel.notKnownYet}
              </span>
              {one.restarts > 0 && <span className="small dim">{count(one.restarts, messages.nouns.restart)}</span>}
            </span>
            <span className="mono small dim">{harmless(one.image ?? '')}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Conditions({ conditions }: { conditions: ObjectCondition[] }) {
  return (
    <section className="stack tight" aria-label={messages.objectPanel.conditionsOfTheObject}>
      <h3 className="flat">{messages.common.conditions}</h3>
      <ul className="facts-list" aria-label={messages.common.conditions}>
        {conditions.map((one, i) => (
          <li key={i}>
            <span className="row">
              <strong>{harmless(one.type)}</strong>
              <span className="small">{harmless(one.status)}</span>
              <span className="small dim">
                <Ago at={one.since} />
              </span>
            </span>
            <span className="small">{harmless([one.reason, one.message].filter(Boolean).join(': '))}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Events({ events }: { events: Event[] }) {
  return (
    <section className="stack tight" aria-label={messages.objectPanel.eventsOfTheObject}>
      <h3 className="flat">{messages.common.events}</h3>
      {events.length === 0 && <p className="dim small flat">{messages.objectPanel.noneClusterKeepsEventsAbout}</p>}
      <ul className="facts-list" aria-label={messages.common.events}>
        {events.map((event, i) => (
          <li key={i}>
            <span className="row">
              <span className={`state tone-${event.type === 'Warning' ? 'warn' : 'ok'}`}>{harmless(event.type)}</span>
              <strong>{harmless(event.reason)}</strong>
              <span className="small dim">
                <Ago at={event.last} />
                {event.count > 1 && ` (${count(event.count, messages.nouns.time)})`}
              </span>
            </span>
            <span className="small">{harmless(event.message)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
