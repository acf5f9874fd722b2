// Page 1: what needs attention, then the state of everything.
import { ArrowUpCircle, CheckCircle2, Hourglass, PackagePlus } from 'lucide-react'
import type { Attention, Overview as OverviewBody, State } from '../api'
import { at, query } from '../live/http'
import { useLive } from '../live/useLive'
import { moduleLink } from '../deeds/Progress'
import { Action, Avatar, Empty, Header, hidden, Notice, NotRead, OperationBadge, StateBadge, To, Unseen } from '../parts/basics'
import { Counts, sum } from '../parts/counts'
import { Ago } from '../parts/details'
import { Loaded } from '../parts/loaded'
import { WordBadge } from '../rollouts/parts'
import { count, sentence, stateWord, type Word } from '../words'

export function Overview() {
  const answer = useLive(query('/overview'))
  return (
    <>
      <Header
        title="Overview"
        lead="What needs you comes first. This page changes by itself."
        actions={
          <Action to="/add" leftSection={<PackagePlus size={17} aria-hidden />}>
            Add modules
          </Action>
        }
      />
      <Loaded answer={answer}>{(data) => <Body data={data} />}</Loaded>
    </>
  )
}

function Body({ data }: { data: OverviewBody }) {
  const modules = sum(data.modules)
  const nothing = modules === 0 && sum(data.kymas) === 0 && data.attention.total === 0
  const blind = nothing && hidden(data.unread, 'Kyma', 'Manifest')
  const manager = data.health.manager
  return (
    <>
      {!manager.ready && (
        <Notice tone="warn" title="Is the lifecycle manager there?">
          <p>{sentence(manager.message) || 'It does not run. Until it does, Kymas stay as they are, and no upgrade arrives.'}</p>
        </Notice>
      )}
      <NotRead unread={data.unread} />
      {blind ? (
        <section className="card">
          <Unseen />
        </section>
      ) : nothing ? (
        <FirstSteps />
      ) : (
        <Needs data={data} />
      )}
      {!blind && (
        <div className="grid grid-two">
          <Counts title="Modules" of={data.modules} to="/modules" one="module" />
          <Counts title="Kymas" of={data.kymas} to="/kymas" one="Kyma" />
        </div>
      )}
      <div className="grid grid-two">
        <Running operations={data.operations ?? []} />
        {!blind && <Newer n={data.outdated} />}
      </div>
    </>
  )
}

function FirstSteps() {
  return (
    <section className="card">
      <Empty
        icon={<PackagePlus size={44} aria-hidden />}
        title="No modules yet"
        action={
          <div className="row center">
            <Action to="/catalog">Look at the catalog</Action>
            <Action variant="default" to="/add">
              Add modules
            </Action>
          </div>
        }
      >
        A module adds something to a cluster, such as a registry or a gateway. Choose some in the catalog: the dashboard shows what each
        would change before anything happens.
      </Empty>
    </section>
  )
}

/** late is what a page lists for being under way for too long. */
const late = ['Processing', 'Deleting'] as const

/** under counts what is not as it was requested yet, without being wrong: whether it gets there is not known. */
const under = (of: Partial<Record<State, number>>) => (of.Processing ?? 0) + (of.Deleting ?? 0) + (of.Unknown ?? 0)

/** bad counts list entries in states that need attention. A Kyma that only reflects its modules is not counted. */
const bad = (of: Partial<Record<State, number>>) => (of.Error ?? 0) + (of.Warning ?? 0)

/** Waits is said instead of an all-clear while something is under way. */
function Waits({ modules, kymas }: { modules: number; kymas: number }) {
  const states = '?state=Processing&state=Deleting&state=Unknown'
  return (
    <section className="card pad row" aria-labelledby="needs">
      <Hourglass size={26} aria-hidden color="var(--busy-line)" />
      <div>
        <h2 id="needs" className="flat">
          Not everything is ready yet
        </h2>
        <p className="dim flat">Nothing has failed so far. What is not ready after two minutes is listed here, with what it waits for.</p>
        <p className="flat row">
          {modules > 0 && <To to={'/modules' + states}>{count(modules, 'module')} not ready yet</To>}
          {kymas > 0 && <To to={'/kymas' + states}>{count(kymas, 'Kyma')} not ready yet</To>}
        </p>
      </div>
    </section>
  )
}

function Needs({ data }: { data: OverviewBody }) {
  const items = data.attention.items ?? []
  const { total } = data.attention
  const waiting = { modules: under(data.modules), kymas: under(data.kymas) }
  if (items.length === 0 && waiting.modules + waiting.kymas > 0) return <Waits {...waiting} />
  if (items.length === 0) {
    return (
      <section className="card pad row" aria-labelledby="needs">
        <CheckCircle2 size={26} aria-hidden color="var(--ok-line)" />
        <div>
          <h2 id="needs" className="flat">
            Nothing needs you
          </h2>
          <p className="dim flat">Everything runs as it was asked for.</p>
        </div>
      </section>
    )
  }
  return (
    <section className="card" aria-labelledby="needs">
      <div className="card-head">
        <h2 id="needs">Needs attention</h2>
        <span className="dim small">{count(total, 'thing')}, the worst first</span>
      </div>
      <ul className="attention" aria-live="polite">
        {items.map((item) => (
          <Need key={`${item.kind}/${item.namespace}/${item.kyma}/${item.name}`} item={item} />
        ))}
      </ul>
      {total > items.length && (
        <p className="pad flat row">
          {bad(data.modules) > 0 && <To to="/modules?state=Error&state=Warning">All {count(bad(data.modules), 'module')} like that</To>}
          {bad(data.kymas) > 0 && <To to="/kymas?state=Error&state=Warning">All {count(bad(data.kymas), 'Kyma')} like that</To>}
          {items.some(({ state }) => late.some((one) => one === state)) && (
            <To to="/modules?state=Processing&state=Deleting">All that are under way</To>
          )}
        </p>
      )}
    </section>
  )
}

/** needOf says where an entry of the list leads, and what it is. */
function needOf(item: Attention): { to: string; what: string } {
  switch (item.kind) {
    case 'Kyma':
      return { to: '/kymas/' + (item.kyma || item.name), what: 'Kyma' }
    case 'Consent':
      return item.kyma
        ? { to: moduleLink(item.kyma, item.name, '?tab=permissions'), what: 'in ' + item.kyma }
        : { to: '/modules?pending=true&search=' + encodeURIComponent(item.name), what: 'in several Kymas' }
    case 'Rollout':
      return { to: '/rollouts' + at(item.namespace ?? '', item.name), what: 'Rollout' }
  }
  return { to: moduleLink(item.kyma, item.name), what: item.kyma ? 'in ' + item.kyma : 'installed directly' }
}

function Need({ item }: { item: Attention }) {
  const { to, what } = needOf(item)
  return (
    <li className={`tone-${item.kind === 'Consent' ? asksYou.tone : stateWord(item.state).tone}`}>
      <Avatar name={item.name} />
      <div>
        <div className="row">
          <To to={to}>
            <strong>{item.name}</strong>
          </To>
          <span className="dim small">{what}</span>
        </div>
        <p>{item.cause || sentence(item.message) || item.reason || stateWord(item.state).means}</p>
      </div>
      {item.kind === 'Consent' ? <WordBadge word={asksYou} /> : <StateBadge state={item.state} />}
    </li>
  )
}

/** asksYou is the state of a version that waits for consent: what is installed is well. */
const asksYou: Word = { label: 'Asks you', tone: 'warn', means: 'It waits until you agree. What is installed runs on.' }

function Running({ operations }: { operations: NonNullable<OverviewBody['operations']> }) {
  return (
    <section className="card" aria-label="Operations">
      <div className="card-head">
        <h2>What is being done</h2>
        <To to="/operations">All operations</To>
      </div>
      {operations.length === 0 ? (
        <p className="dim pad flat">Nothing at the moment. What you add, upgrade or delete shows up here.</p>
      ) : (
        <ul className="attention">
          {operations.map((operation) => (
            <li key={operation.id} className="tone-busy">
              <OperationBadge state={operation.state} />
              <To to={`/operations/${encodeURIComponent(operation.id)}`}>{operation.title}</To>
              <span className="dim small">
                <Ago at={operation.created} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Newer({ n }: { n: number }) {
  return (
    <section className="card pad stack tight" aria-label="Upgrades">
      <div className="row">
        <ArrowUpCircle size={22} aria-hidden color={n > 0 ? 'var(--busy-line)' : 'var(--idle-line)'} />
        <h2 className="flat">Newer versions</h2>
      </div>
      {n === 0 ? (
        <p className="dim flat">
          No channel and no template here offers a newer version. <To to="/upgrade">Look in the sources of community modules, too</To>
        </p>
      ) : (
        <>
          <p className="flat">There is a newer version of {count(n, 'module')}.</p>
          <div>
            <Action variant="light" to="/upgrade">
              See what would change
            </Action>
          </div>
        </>
      )}
    </section>
  )
}
