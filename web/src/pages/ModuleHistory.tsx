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

/** waitText says what a version waits for. The lifecycle manager's message may name the version itself. */
export function waitText({ version, message = '' }: { version: string; message?: string }): string {
  return message.includes(version) ? sentence(message) : sentence(`${version} waits for its rollout${message && ': '}${message}`)
}

/** Waits says that a version waits for its rollout, and where one sees how far that is. */
export function Waits({ data }: { data: ModuleDetail }) {
  const { waits } = data
  if (!waits) return null
  return (
    <Notice tone="busy">
      <p>
        <strong>{waitText(waits)}</strong> What is installed runs on until then.{' '}
        {waits.rollout && <To to={'/rollouts/' + waits.rollout}>How far the rollout is</To>}
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
          <p className="dim flat">What happened to it, the newest first. {data.way?.none && capital(sentence(data.way.none))}</p>
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
        <Empty title="Nothing that you may see">What it was asked to be is in the Manifest of the module, which you may not read.</Empty>
      ) : (
        <Empty title="No history yet">
          It begins when the lifecycle manager installs the module, and keeps what was installed last.
        </Empty>
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
          Try again
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
          Go back to {back.deed.version}
        </Action>
      )}
      <DeedModal
        title={deed?.kind === 'back' ? `Go back to ${name} ${to}?` : `Try again what ${name} went back from?`}
        verb={deed?.kind === 'back' ? `Go back to ${to}` : 'Try again'}
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
        <strong className="mono">{r.version || 'no version'}</strong>
        <WordBadge word={word} />
        {r.current && <Tag tone="strong">now</Tag>}
        {r.wayBack && (
          <Tag means="The last version that succeeded before: it can be installed again.">
            <span className="row nowrap-row">
              <Undo2 size={13} aria-hidden /> way back
            </span>
          </Tag>
        )}
        {r.avoided && (
          <Tag tone="warn" means="The module went back from it. It is not tried again by itself.">
            avoided
          </Tag>
        )}
      </div>
      <p className="dim small">
        Revision {r.number}, <Ago at={r.at} />
        {r.before && r.before !== 'Ready' && `, begun while the module was in state ${r.before}`}
        {r.digest && (
          <>
            , content <span className="mono">{shortDigest(r.digest)}</span>
          </>
        )}
      </p>
      {r.reason && <p className="small">Ended with {r.reason}.</p>}
      {act && (
        <div className="row">
          <Action size="compact-sm" variant="light" allowed={act.allowed} why={act.why} onClick={() => choose(act.deed)}>
            {act.deed.kind === 'back' ? 'Go back to this version' : 'Try this version again'}
          </Action>
        </div>
      )}
    </li>
  )
}
