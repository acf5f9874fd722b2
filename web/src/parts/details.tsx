// Parts of detail pages: chain of reasons, events, time, versions.
import { ArrowRight } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import type { Event, KymaCondition, Version, Why } from '../api'
import { ago, count, refText, sentence, stateWord, type Tone } from '../words'
import { Empty, Notice, StateBadge, Tag } from './basics'
import { Table } from './list'
import { fill } from '../fill'
import { messages } from '../messages'

let now = Date.now()
const clocks = new Set<() => void>()
let ticking: ReturnType<typeof setInterval> | undefined

function tick(listen: () => void): () => void {
  clocks.add(listen)
  ticking ??= setInterval(() => {
    now = Date.now()
    clocks.forEach((one) => one())
  }, 15_000)
  return () => {
    clocks.delete(listen)
    if (clocks.size === 0) {
      clearInterval(ticking)
      ticking = undefined
    }
  }
}

/** Ago is a moment in words, which grow older by themselves. */
export function Ago({ at }: { at?: string }) {
  const current = useSyncExternalStore(tick, () => now)
  if (!at || Number.isNaN(Date.parse(at))) return <span className="dim">–</span>
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="nowrap">
      {ago(at, Math.max(current, Date.now() - 15_000))}
    </time>
  )
}

/** Versions says desired, installed and available in one line, where there is no room for three columns. */
export function Versions({ version }: { version: Version }) {
  const { desired, installed, available, mismatch, outdated } = version
  return (
    <span className="row">
      <span className="mono">{installed || messages.details.notInstalled}</span>
      {mismatch && (
        <span className="row">
          <ArrowRight size={14} aria-label={messages.details.onItsWayTo} />
          <span className="mono">{desired}</span>
        </span>
      )}
      {outdated && (
        <Tag tone="strong" means={fill(messages.details.versionIsAvailable, { available })}>
          {available} {messages.details.available}
        </Tag>
      )}
    </span>
  )
}

/** Reasons is the chain from the Kyma to what fails: the last link is the one to look at. */
export function Reasons({ why }: { why: Why[] }) {
  return (
    <ol className="chain">
      {why.map((link, i) => (
        <li key={i} className={`tone-${stateWord(link.state).tone}`}>
          <div className="row">
            <strong>{link.what}</strong>
            <StateBadge state={link.state} />
            {link.reason && <Tag>{link.reason}</Tag>}
          </div>
          {link.message && <p>{sentence(link.message)}</p>}
          {link.remedy && (
            <Notice tone="busy">
              <p>
                <strong>{messages.common.whatToDo}</strong> {sentence(link.remedy)}
              </p>
            </Notice>
          )}
        </li>
      ))}
    </ol>
  )
}

/** Events is what the cluster reported, the newest first. */
export function Events({ events }: { events: Event[] | null }) {
  if (!events || events.length === 0) {
    return (
      <div className="card">
        <Empty title={messages.details.noEvents}>{messages.details.clusterKeepsEventsAboutHour}</Empty>
      </div>
    )
  }
  const columns = [
    { key: 'last', label: messages.common.when },
    { key: 'type', label: messages.common.kind },
    { key: 'object', label: messages.details.about },
    { key: 'message', label: messages.details.whatHappened },
  ]
  return (
    <Table label={messages.common.events} columns={columns}>
      {events.map((event, i) => (
        <tr key={i}>
          <td data-label={messages.common.when}>
            <Ago at={event.last} />
          </td>
          <td data-label={messages.common.kind}>
            <span className={`state tone-${event.type === 'Warning' ? 'warn' : 'ok'}`}>{event.type}</span>
          </td>
          <td data-label={messages.details.about} className="mono small">
            {refText(event.object)}
          </td>
          <td data-label={messages.details.whatHappened}>
            <span>
              <strong>{event.reason}</strong>
              {event.count > 1 && <span className="dim"> ({count(event.count, messages.nouns.time)})</span>}
              <br />
              {event.message}
            </span>
          </td>
        </tr>
      ))}
    </Table>
  )
}

const toneOf = (_: string, status: string): Tone => (status === 'True' ? 'ok' : status === 'False' ? 'bad' : 'idle')

/** Conditions are the checks that a Kyma makes of itself. */
export function Conditions({ conditions, tone = toneOf }: { conditions: KymaCondition[]; tone?: (type: string, status: string) => Tone }) {
  if (conditions.length === 0) return <p className="dim">{messages.common.lifecycleManagerNotLookedYet}</p>
  return (
    <ul className="chain">
      {conditions.map((c) => (
        <li key={c.type} className={`tone-${tone(c.type, c.status)}`}>
          <div className="row">
            <strong>{c.type}</strong>
            <span className="dim small">
              {c.status === 'True' ? messages.common.yes : c.status === 'False' ? messages.common.no : messages.common.unknown}
            </span>
          </div>
          {c.message && <p className="dim small">{sentence(c.message)}</p>}
        </li>
      ))}
    </ul>
  )
}
