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
import { fill } from '../fill'
import { messages } from '../messages'

export function Overview() {
  const answer = useLive(query('/overview'))
  return (
    <>
      <Header
        title={messages.common.overview}
        lead={messages.overview.needsComesFirstPageChanges}
        actions={
          <Action to="/add" leftSection={<PackagePlus size={17} aria-hidden />}>
            {messages.common.addModules}
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
        <Notice tone="warn" title={messages.overview.isTheLifecycleManagerThere}>
          <p>{sentence(manager.message) || messages.overview.notRunUntilKymasStay}</p>
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
          <Counts title={messages.common.modules} of={data.modules} to="/modules" noun={messages.nouns.module} />
          <Counts title={messages.common.kymas} of={data.kymas} to="/kymas" noun={messages.nouns.kyma} />
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
        title={messages.common.noModulesYet}
        action={
          <div className="row center">
            <Action to="/catalog">{messages.common.lookAtTheCatalog}</Action>
            <Action variant="default" to="/add">
              {messages.common.addModules}
            </Action>
          </div>
        }
      >
        {messages.overview.moduleAddsSomethingClusterSuch}
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
          {messages.overview.notEverythingIsReadyYet}
        </h2>
        <p className="dim flat">{messages.overview.nothingFailedFarNotReady}</p>
        <p className="flat row">
          {modules > 0 && (
            <To to={'/modules' + states}>{fill(messages.overview.notReadyYet, { modules: count(modules, messages.nouns.module) })}</To>
          )}
          {kymas > 0 && (
            <To to={'/kymas' + states}>{fill(messages.overview.kymasNotReadyYet, { kymas: count(kymas, messages.nouns.kyma) })}</To>
          )}
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
            {messages.overview.nothingNeedsYou}
          </h2>
          <p className="dim flat">{messages.overview.everythingRunsAsked}</p>
        </div>
      </section>
    )
  }
  return (
    <section className="card" aria-labelledby="needs">
      <div className="card-head">
        <h2 id="needs">{messages.common.needsAttention}</h2>
        <span className="dim small">{fill(messages.overview.worstFirst, { rows: count(total, messages.nouns.thing) })}</span>
      </div>
      <ul className="attention" aria-live="polite">
        {items.map((item) => (
          <Need key={`${item.kind}/${item.namespace}/${item.kyma}/${item.name}`} item={item} />
        ))}
      </ul>
      {total > items.length && (
        <p className="pad flat row">
          {bad(data.modules) > 0 && (
            <To to="/modules?state=Error&state=Warning">
              {fill(messages.overview.allLikeThat, { modules: count(bad(data.modules), messages.nouns.module) })}
            </To>
          )}
          {bad(data.kymas) > 0 && (
            <To to="/kymas?state=Error&state=Warning">
              {fill(messages.overview.allKymasLikeThat, { kymas: count(bad(data.kymas), messages.nouns.kyma) })}
            </To>
          )}
          {items.some(({ state }) => late.some((one) => one === state)) && (
            <To to="/modules?state=Processing&state=Deleting">{messages.overview.allThatAreUnderWay}</To>
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
      return { to: '/kymas/' + (item.kyma || item.name), what: messages.common.kyma }
    case 'Consent':
      return item.kyma
        ? { to: moduleLink(item.kyma, item.name, '?tab=permissions'), what: fill(messages.common.inKyma, { kyma: item.kyma }) }
        : { to: '/modules?pending=true&search=' + encodeURIComponent(item.name), what: messages.overview.inSeveralKymas }
    case 'Rollout':
      return { to: '/rollouts' + at(item.namespace ?? '', item.name), what: messages.overview.rollout }
  }
  return {
    to: moduleLink(item.kyma, item.name),
    what: item.kyma ? fill(messages.common.inKyma, { kyma: item.kyma }) : messages.common.installedDirectlyWord,
  }
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
const asksYou: Word = { label: messages.overview.asksYou, tone: 'warn', means: messages.overview.waitsUntilAgreeInstalledRuns }

function Running({ operations }: { operations: NonNullable<OverviewBody['operations']> }) {
  return (
    <section className="card" aria-label={messages.common.operations}>
      <div className="card-head">
        <h2>{messages.overview.whatIsBeingDone}</h2>
        <To to="/operations">{messages.common.allOperations}</To>
      </div>
      {operations.length === 0 ? (
        <p className="dim pad flat">{messages.overview.nothingMomentAddUpgradeDelete}</p>
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
    <section className="card pad stack tight" aria-label={messages.common.upgrades}>
      <div className="row">
        <ArrowUpCircle size={22} aria-hidden color={n > 0 ? 'var(--busy-line)' : 'var(--idle-line)'} />
        <h2 className="flat">{messages.overview.newerVersions}</h2>
      </div>
      {n === 0 ? (
        <p className="dim flat">
          {messages.overview.noChannelNoTemplateHere} <To to="/upgrade">{messages.overview.lookSourcesCommunityModulesToo}</To>
        </p>
      ) : (
        <>
          <p className="flat">{fill(messages.overview.thereIsANewerVersionOf, { modules: count(n, messages.nouns.module) })}</p>
          <div>
            <Action variant="light" to="/upgrade">
              {messages.common.seeWhatWouldChange}
            </Action>
          </div>
        </>
      )}
    </section>
  )
}
