// What a module was asked to be, when, and how that ended; how it goes back; and what it waits for.
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { HistoryDeed, ModuleDetail, Revision, Way } from '../api'
import { DeedModal } from '../deeds/DeedModal'
import { Action, Empty, hidden, Notice, Tag, To } from '../parts/basics'
import { Ago } from '../parts/details'
import { Timeline } from '../history/Timeline'
import { WordBadge } from '../rollouts/parts'
import { outcomeWord, shortDigest } from '../rollouts/words'
import { capital, sentence } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

/** waitText says what a version waits for. The lifecycle manager's message may name the version itself. */
export function waitText({ version, message = '' }: { version: string; message?: string }): string {
  return message.includes(version)
    ? sentence(message)
    : sentence(
        message
          ? fill(messages.moduleHistory.waitsForItsRolloutMessage, { version, message })
          : fill(messages.partsModules.waitsForItsRollout, { offered: version }),
      )
}

/** Waits says that a version waits for its rollout, and where one sees how far that is. */
export function Waits({ data }: { data: ModuleDetail }) {
  const { waits } = data
  if (!waits) return null
  return (
    <Notice tone="busy">
      <p>
        <strong>{waitText(waits)}</strong> {messages.moduleHistory.installedRunsUntil}{' '}
        {waits.rollout && <To to={'/rollouts/' + waits.rollout}>{messages.common.howFarTheRolloutIs}</To>}
      </p>
    </Notice>
  )
}

export function HistoryTab({ data }: { data: ModuleDetail }) {
  const timeline = data.timeline ?? []
  const [deed, setDeed] = useState<HistoryDeed | null>(null)
  const revisionOf = (number: number) => {
    const revision = timeline.find((one) => one.number === number)
    return revision && <RevisionOf revision={revision} way={data.way} choose={setDeed} />
  }
  return (
    <div className="stack">
      {timeline.length === 0 ? (
        <NoRevisions data={data} />
      ) : (
        <div className="row between top">
          <p className="dim flat">
            {messages.moduleHistory.happenedNewestFirst} {data.way?.none && capital(sentence(data.way.none))}
          </p>
          <Ways data={data} deed={deed} setDeed={setDeed} />
        </div>
      )}
      <Timeline kyma={data.module.kyma ?? ''} module={data.module.name} revision={revisionOf} />
    </div>
  )
}

function NoRevisions({ data }: { data: ModuleDetail }) {
  return (
    <div className="card">
      {hidden(data.unread, 'Manifest') ? (
        <Empty title={messages.common.nothingThatYouMaySee}>{messages.moduleHistory.askedManifestModuleNotRead}</Empty>
      ) : (
        <Empty title={messages.moduleHistory.noHistoryYet}>{messages.moduleHistory.beginsWhenLifecycleManagerInstalls}</Empty>
      )}
    </div>
  )
}

interface WaysProps {
  data: ModuleDetail
  deed: HistoryDeed | null
  setDeed(deed: HistoryDeed | null): void
}

/** Ways are the buttons that let the module go back, or try again what it went back from. */
function Ways({ data, deed, setDeed }: WaysProps) {
  const { back, retry } = data.way ?? {}
  const name = data.module.name
  const to = deed?.kind === 'back' ? deed.version : ''
  return (
    <div className="actions">
      {retry && (
        <Action variant="default" allowed={retry.allowed} why={retry.why} onClick={() => setDeed(retry.deed)}>
          {messages.common.tryAgain}
        </Action>
      )}
      {back?.deed.kind === 'back' && (
        <Action
          variant="default"
          allowed={back.allowed}
          why={back.why}
          leftSection={<Undo2 size={16} aria-hidden />}
          onClick={() => setDeed(back.deed)}
        >
          {fill(messages.moduleHistory.rollBackTo, { version: back.deed.version })}
        </Action>
      )}
      <DeedModal
        title={
          deed?.kind === 'back'
            ? fill(messages.moduleHistory.rollBackQuestion, { name, version: to })
            : fill(messages.moduleHistory.retryQuestion, { name })
        }
        verb={deed?.kind === 'back' ? fill(messages.moduleHistory.rollBackTo, { version: to }) : messages.common.tryAgain}
        danger={deed?.kind === 'back'}
        deed={deed}
        close={() => setDeed(null)}
      />
    </div>
  )
}

function RevisionOf({ revision: r, way, choose }: { revision: Revision; way?: Way; choose(deed: HistoryDeed): void }) {
  const word = outcomeWord(r)
  const act = r.wayBack ? way?.back : r.avoided ? way?.retry : undefined
  return (
    <li className={`tone-${word.tone}`} aria-current={r.current ? 'true' : undefined}>
      <div className="row">
        <strong className="mono">{r.version || messages.common.noVersion}</strong>
        <WordBadge word={word} />
        {r.current && <Tag tone="strong">{messages.moduleHistory.now}</Tag>}
        {r.wayBack && (
          <Tag means={messages.moduleHistory.lastVersionSucceededBeforeInstalled}>
            <span className="row nowrap-row">
              <Undo2 size={13} aria-hidden /> {messages.moduleHistory.wayBack}
            </span>
          </Tag>
        )}
        {r.avoided && (
          <Tag tone="warn" means={messages.moduleHistory.moduleWentBackNotTried}>
            {messages.moduleHistory.avoided}
          </Tag>
        )}
      </div>
      <p className="dim small">
        {fill(messages.moduleHistory.revisionNumber, { number: r.number })} <Ago at={r.at} />
        {r.before && r.before !== 'Ready' && fill(messages.moduleHistory.begunWhileModuleState, { before: r.before })}
        {r.digest && (
          <>
            {messages.moduleHistory.content} <span className="mono">{shortDigest(r.digest)}</span>
          </>
        )}
      </p>
      {r.reason && <p className="small">{fill(messages.moduleHistory.endedWith, { reason: r.reason })}</p>}
      {act && (
        <div className="row">
          <Action size="compact-sm" variant="light" allowed={act.allowed} why={act.why} onClick={() => choose(act.deed)}>
            {act.deed.kind === 'back' ? messages.moduleHistory.rollBackToThisVersion : messages.moduleHistory.tryThisVersionAgain}
          </Action>
        </div>
      )}
    </li>
  )
}
