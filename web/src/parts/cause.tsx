// Why a module is not ready: one sentence, what to do, and what the sentence was concluded from.
import type { ReactNode } from 'react'
import type { Cause, Fact } from '../api'
import { count, refText, sentence } from '../words'
import { Notice, Tag } from './basics'
import { Ago } from './details'

const sources: Record<Fact['source'], string> = {
  owners: 'Belongs to',
  status: 'Status',
  event: 'Event',
  log: 'Log',
  unread: 'Not read',
}

/** CauseOf says the cause in the words of the server, and the remedy. Evidence is folded, but not what could not be read. */
export function CauseOf({ cause, children }: { cause: Cause; children?: ReactNode }) {
  const facts = (cause.evidence ?? []).filter((fact) => fact.source !== 'unread')
  const unread = (cause.evidence ?? []).filter((fact) => fact.source === 'unread')
  const also = cause.also ?? []
  return (
    <div className="stack tight">
      <p className="flat">
        <strong>{cause.sentence}</strong>
      </p>
      <div className="row">
        <Tag>{cause.reason}</Tag>
        <span className="mono small dim">{refText(cause.object)}</span>
      </div>
      {cause.remedy && (
        <Notice tone="busy">
          <p>
            <strong>What to do:</strong> {sentence(cause.remedy)}
          </p>
        </Notice>
      )}
      {unread.length > 0 && (
        <Notice tone="warn" title="Not everything could be looked at, so there may be more">
          <ul className="flat">
            {unread.map((fact, i) => (
              <li key={i}>{sentence(fact.text)}</li>
            ))}
          </ul>
        </Notice>
      )}
      <details>
        <summary>Evidence</summary>
        <div className="stack tight">
          {facts.length > 0 && (
            <ul className="facts-list" aria-label="Evidence">
              {facts.map((fact, i) => (
                <Evidence key={i} fact={fact} />
              ))}
            </ul>
          )}
          {also.length > 0 && (
            <>
              <p className="flat">Besides:</p>
              <ul aria-label="Other causes">
                {also.map((one, i) => (
                  <li key={i}>{one}</li>
                ))}
              </ul>
            </>
          )}
          {children}
        </div>
      </details>
    </div>
  )
}

function Evidence({ fact }: { fact: Fact }) {
  return (
    <li>
      <span className="row">
        <Tag>{sources[fact.source] ?? fact.source}</Tag>
        {fact.object && <span className="mono small dim">{fact.object}</span>}
        {fact.at && (
          <span className="small dim">
            <Ago at={fact.at} />
            {(fact.count ?? 1) > 1 && ` (${count(fact.count ?? 1, 'time')})`}
          </span>
        )}
      </span>
      <span className={fact.source === 'log' ? 'mono small' : 'small'}>{fact.text}</span>
    </li>
  )
}
