// Parts of detail pages: chain of reasons, events, time, versions.
import { ArrowRight } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import type { Event, KymaCondition, Version, Why } from '../api'
import { ago, count, refText, sentence, stateWord, type Tone } from '../words'
import { Empty, Notice, StateBadge, Tag } from './basics'
import { Table } from './list'

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
      <span className="mono">{installed || 'not installed'}</span>
      {mismatch && (
        <span className="row">
          <ArrowRight size={14} aria-label="on its way to" />
          <span className="mono">{desired}</span>
        </span>
      )}
      {outdated && (
        <Tag tone="strong" means={`Version ${available} is available.`}>
          {available} available
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
                <strong>What to do:</strong> {sentence(link.remedy)}
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
        <Empty title="No events">The cluster keeps events for about an hour. Nothing was reported in that time.</Empty>
      </div>
    )
  }
  const columns = [
    { key: 'last', label: 'When' },
    { key: 'type', label: 'Kind' },
    { key: 'object', label: 'About' },
    { key: 'message', label: 'What happened' },
  ]
  return (
    <Table label="Events" columns={columns}>
      {events.map((event, i) => (
        <tr key={i}>
          <td data-label="When">
            <Ago at={event.last} />
          </td>
          <td data-label="Kind">
            <span className={`state tone-${event.type === 'Warning' ? 'warn' : 'ok'}`}>{event.type}</span>
          </td>
          <td data-label="About" className="mono small">
            {refText(event.object)}
          </td>
          <td data-label="What happened">
            <span>
              <strong>{event.reason}</strong>
              {event.count > 1 && <span className="dim"> ({count(event.count, 'time')})</span>}
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
  if (conditions.length === 0) return <p className="dim">The lifecycle manager has not looked at it yet.</p>
  return (
    <ul className="chain">
      {conditions.map((c) => (
        <li key={c.type} className={`tone-${tone(c.type, c.status)}`}>
          <div className="row">
            <strong>{c.type}</strong>
            <span className="dim small">{c.status === 'True' ? 'yes' : c.status === 'False' ? 'no' : 'unknown'}</span>
          </div>
          {c.message && <p className="dim small">{sentence(c.message)}</p>}
        </li>
      ))}
    </ul>
  )
}
