// Before a channel offers another version: how many Kymas end up how, and what changes for them. It is worked out in the background.
import type { Answer } from '../live/useLive'
import { Notice, NotRead } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { count, sentence } from '../words'
import type { Forecast, OutcomeGroup } from '../api'
import { Findings, Others } from './Findings'
import { ObjectChangesView } from './ObjectChanges'
import { besidesOf, fleetText, newsOf, outcomeWord, sharesOf, type Share } from './words'
import { Disclosure, Reading } from './VersionMay'
import { fill, formOf } from '../fill'
import { messages } from '../messages'

/** ForecastView is what a promotion would do, as far as it is known yet. */
export function ForecastView({ answer }: { answer: Answer<Forecast> }) {
  return (
    <section className="stack" aria-label={messages.forecast.whatWouldBecomeOfTheKymas}>
      <Loaded answer={answer} rows={3}>
        {(forecast) => (
          <div className="stack" aria-live="polite" aria-busy={forecast.state === 'Reading'}>
            <NotRead unread={forecast.unread} />
            {forecast.result && <Fleet forecast={forecast} />}
            {forecast.state === 'Reading' && <Reading review={forecast} />}
            {forecast.problem && (
              <Notice tone="warn" title={messages.forecast.changesCannotReadHere}>
                <p>{sentence(forecast.problem.message)}</p>
                {forecast.problem.remedy && <p>{sentence(forecast.problem.remedy)}</p>}
              </Notice>
            )}
            {forecast.changes && <Differences forecast={forecast} />}
          </div>
        )}
      </Loaded>
    </section>
  )
}

function Fleet({ forecast: { result } }: { forecast: Forecast }) {
  const groups = result?.groups ?? []
  const shares = sharesOf(groups)
  return (
    <>
      <p className="flat">
        <strong>{fleetText(result?.kymas ?? 0, shares)}</strong>
      </p>
      {shares.length > 0 && (
        <>
          <div className="bar bar-tall" aria-hidden="true">
            {shares.map((share) => (
              <i key={share.outcome} className={`tone-${share.tone}`} style={{ flexGrow: share.count }} />
            ))}
          </div>
          <ul className="outcomes" aria-label={messages.forecast.outcomes}>
            {shares.map((share) => (
              <ShareOf key={share.outcome} share={share} />
            ))}
          </ul>
        </>
      )}
      {asides(result).map((text) => (
        <p key={text} className="dim small flat">
          {text}
        </p>
      ))}
      <Unknown texts={result?.unknown ?? []} />
    </>
  )
}

/** asides are what else one should know of the Kymas. */
function asides(result: Forecast['result']): string[] {
  const later = sharesOf(result?.then).map((share) => `${share.count} ${small(outcomeWord(share.outcome).label)}`)
  const others = result?.others ?? 0
  return [
    later.length > 0 && fill(messages.forecast.waitRollout, { later: later.join(', ') }),
    others > 0 && fill(formOf(others, messages.forecast.notAffected), { kymas: count(others, messages.nouns.otherKyma) }),
  ].filter((text): text is string => typeof text === 'string')
}

function Unknown({ texts }: { texts: string[] }) {
  if (texts.length === 0) return null
  return (
    <Notice tone="idle" title={messages.forecast.notTakenIntoAccount}>
      <ul>
        {texts.slice(0, 5).map((text) => (
          <li key={text}>{sentence(text)}</li>
        ))}
      </ul>
    </Notice>
  )
}

const small = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function ShareOf({ share }: { share: Share }) {
  const word = outcomeWord(share.outcome)
  const details = share.groups.filter((group) => group.detail || (group.names ?? []).length > 0)
  const head = (
    <>
      <b>{share.count.toLocaleString('en')}</b>
      <span className={`state tone-${share.tone} still`}>{word.label}</span>
      <span className="dim small">{(details.length === 1 && details[0]?.detail) || word.means}</span>
    </>
  )
  if (details.length === 0) return <li className="outcome">{head}</li>
  return (
    <li>
      <details>
        <summary className="outcome">{head}</summary>
        <ul className="flat-list small">
          {details.map((group, i) => (
            <GroupOf key={i} group={group} />
          ))}
        </ul>
      </details>
    </li>
  )
}

function GroupOf({ group }: { group: OutcomeGroup }) {
  const names = group.names ?? []
  const rest = (group.more ?? 0) > 0 ? fill(messages.common.andMore, { more: (group.more ?? 0).toLocaleString('en') }) : ''
  return (
    <li>
      {group.detail && `${group.count.toLocaleString('en')} ${group.detail}: `}
      {names.length > 0 && (
        <span className="dim">
          {names.join(', ')}
          {rest}
        </span>
      )}
    </li>
  )
}

function Differences({ forecast }: { forecast: Forecast }) {
  const { changes, limits } = forecast
  if (!changes) return null
  const against = changes.from?.version
  const added = changes.rights.added ?? []
  const removed = changes.rights.removed ?? []
  const besides = besidesOf(changes.rights)
  return (
    <div className="stack tight">
      <p className="flat">
        <strong>{newsOf(changes.to.version, against, changes.rights)}</strong>
        {changes.downtime && ' ' + messages.forecast.itNeedsDowntime}
      </p>
      {added.length > 0 && (
        <Disclosure
          title={fill(against ? messages.forecast.newWithCount : messages.forecast.whatMayDoCount, {
            version: changes.to.version,
            count: added.length,
          })}
          open={added.length <= 5}
        >
          <Findings findings={added} label={fill(messages.common.newWith, { version: changes.to.version })} />
        </Disclosure>
      )}
      {besides.length > 0 && (
        <Disclosure title={fill(messages.forecast.definitionsWebhooksAndImages, { count: besides.length })} open={false}>
          <Others besides={besides} />
        </Disclosure>
      )}
      {removed.length > 0 && (
        <Disclosure
          title={fill(messages.common.goneWhatOnlyMayDo, { against: against ?? messages.forecast.theVersionBefore, count: removed.length })}
          open={false}
        >
          <Findings findings={removed} label={messages.forecast.gone} />
        </Disclosure>
      )}
      <Disclosure title={messages.forecast.whatChangesInTheClusters} open={false}>
        <ObjectChangesView changes={changes} />
      </Disclosure>
      <p className="dim small flat">{limits}</p>
    </div>
  )
}
