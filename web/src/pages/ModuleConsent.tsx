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
import { fill } from '../fill'
import { messages } from '../messages'

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
          {pending.version}{' '}
          {act ? messages.common.waitsForYourConsent : fill(messages.moduleConsent.waitsForTheConsentOf, { who: sidesText(pending.from) })}
        </h2>
      </div>
      <p className="flat">
        <strong>{waitingFor(pending, m.version.installed)}</strong>
        {m.version.installed && ' ' + fill(messages.moduleConsent.untilThenRunsOn, { installed: m.version.installed })}
      </p>
      {counts.length > 0 && !shown && <p className="dim small flat">{fill(messages.common.inAll, { counts: counts.join(', ') })}</p>}
      {others && <p className="small flat">{sentence(others)}</p>}
      {until && <p className="small flat">{until}</p>}
      <div className="row">
        {act && (
          <Action allowed={act.allowed} why={act.why} onClick={() => setDeed(act.deed)}>
            {fill(messages.moduleConsent.approveVersion, { version: pending.version })}
          </Action>
        )}
        {!shown && (
          <Action variant="default" onClick={look}>
            {messages.moduleConsent.whatItMayDo}
          </Action>
        )}
        {digest && (
          <span className="dim small" title={pending.digest}>
            {messages.moduleConsent.content} <span className="mono">{digest}</span>
          </span>
        )}
      </div>
      <DeedModal
        title={fill(messages.moduleConsent.approveNameVersion, { name: m.name, version: pending.version })}
        verb={fill(messages.moduleConsent.approveVersion, { version: pending.version })}
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
        <strong>{manual ? messages.moduleConsent.askedBeforeEachVersion : messages.moduleConsent.comeByThemselves}</strong>{' '}
        <span className="dim small">
          {manual ? messages.moduleConsent.channelOffersWaitsUntilPerson : messages.moduleConsent.channelOffersInstalledWithoutQuestion}
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
          {manual ? messages.moduleConsent.installByItself : messages.moduleConsent.askMeFirst}
        </Action>
      )}
      <DeedModal
        title={
          manual
            ? fill(messages.moduleConsent.installNewVersionsWithoutQuestion, { name: m.name })
            : fill(messages.moduleConsent.askBeforeEachNewVersionOf, { name: m.name })
        }
        verb={manual ? messages.moduleConsent.installByItself : messages.moduleConsent.askMeFirst}
        deed={deed}
        close={() => setDeed(null)}
      />
    </div>
  )
}
