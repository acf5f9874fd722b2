// A version that waits for consent: what it asks for in one sentence, whose consent is missing, and the button where it is one's own.
import { ShieldQuestion } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import type { ApproveDeed, ModuleDetail, StrategyDeed } from '../api'
import { DeedModal } from '../deeds/DeedModal'
import { Action } from '../parts/basics'
import { countsOf, sidesText, untilText, waitingFor } from '../review/words'
import { shortDigest } from '../rollouts/words'
import { sentence } from '../words'

/** ConsentCard stands above the tabs, so that a user who must decide sees it first. */
export function ConsentCard({ data }: { data: ModuleDetail }) {
  const [deed, setDeed] = useState<ApproveDeed | null>(null)
  const [parameters, change] = useSearchParams()
  const { consent, module: m } = data
  if (!consent) return null
  const { pending, act, others } = consent
  const counts = countsOf(pending)
  const digest = shortDigest(pending.digest)
  const until = untilText(pending.deadline, Date.now())
  const shown = parameters.get('tab') === 'permissions'
  const look = () =>
    change((old) => {
      const next = new URLSearchParams(old)
      next.set('tab', 'permissions')
      return next
    })
  return (
    <section className="card pad stack tight consent" aria-labelledby="consent">
      <div className="row">
        <ShieldQuestion size={22} aria-hidden color="var(--busy-line)" />
        <h2 id="consent" className="flat">
          {pending.version} {act ? 'waits for your consent' : `waits for the consent of ${sidesText(pending.from)}`}
        </h2>
      </div>
      <p className="flat">
        <strong>{waitingFor(pending, m.version.installed)}</strong>
        {m.version.installed && ` Until then ${m.version.installed} runs on.`}
      </p>
      {counts.length > 0 && !shown && <p className="dim small flat">In all: {counts.join(', ')}.</p>}
      {others && <p className="small flat">{sentence(others)}</p>}
      {until && <p className="small flat">{until}</p>}
      <div className="row">
        {act && (
          <Action allowed={act.allowed} why={act.why} onClick={() => setDeed(act.deed)}>
            Approve {pending.version}
          </Action>
        )}
        {!shown && (
          <Action variant="default" onClick={look}>
            What it may do
          </Action>
        )}
        {digest && (
          <span className="dim small" title={pending.digest}>
            Content <span className="mono">{digest}</span>
          </span>
        )}
      </div>
      <DeedModal
        title={`Approve ${m.name} ${pending.version}?`}
        verb={`Approve ${pending.version}`}
        deed={deed}
        close={() => setDeed(null)}
        before={
          <p className="flat">
            <strong>{waitingFor(pending, m.version.installed)}</strong>
          </p>
        }
      />
    </section>
  )
}

/** StrategyLine says how the module follows its channel, and changes that. */
export function StrategyLine({ data }: { data: ModuleDetail }) {
  const [deed, setDeed] = useState<StrategyDeed | null>(null)
  const { strategy, module: m } = data
  if (!strategy) return null
  const manual = strategy.is === 'Manual'
  return (
    <div className="row between choice">
      <span>
        <strong>{manual ? 'You are asked before each version.' : 'New versions come by themselves.'}</strong>{' '}
        <span className="dim small">
          {manual
            ? 'What the channel offers waits until a person agrees, and what is installed runs on.'
            : 'What the channel offers is installed without a question, unless the hub asks for consent.'}
        </span>
      </span>
      {strategy.act && (
        <Action
          size="compact-sm"
          variant="default"
          allowed={strategy.act.allowed}
          why={strategy.act.why}
          onClick={() => setDeed(strategy.act?.deed ?? null)}
        >
          {manual ? 'Install by itself' : 'Ask me first'}
        </Action>
      )}
      <DeedModal
        title={manual ? `Install new versions of ${m.name} without a question?` : `Ask before each new version of ${m.name}?`}
        verb={manual ? 'Install by itself' : 'Ask me first'}
        deed={deed}
        close={() => setDeed(null)}
      />
    </div>
  )
}
