// Why a module is not ready: one sentence, what to do, and what the sentence was concluded from.
import type { ReactNode } from 'react'
import type { Cause, Fact, Ref } from '../api'
import { count, refText, sentence } from '../words'
import { Notice, Tag, To } from './basics'
import { Ago } from './details'

const sources: Record<Fact['source'], string> = {
  owners: 'Belongs to',
  status: 'Status',
  event: 'Event',
  log: 'Log',
  unread: 'Not read',
}

interface Props {
  cause: Cause
  children?: ReactNode
  /** linkOf is the address of an object, and linkOfFact that of a piece of evidence; '' where there is none. */
  linkOf?(ref: Ref): string
  linkOfFact?(fact: Fact): string
}

/** CauseOf says the cause in the words of the server, and the remedy. Evidence is folded, but not what could not be read. */
export function CauseOf({ cause, children, linkOf, linkOfFact }: Props) {
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
        <Linked to={linkOf?.(cause.object)}>{refText(cause.object)}</Linked>
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
                <Evidence key={i} fact={fact} to={linkOfFact?.(fact)} />
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

function Linked({ to, children }: { to?: string; children: string }) {
  return <span className="mono small dim">{to ? <To to={to}>{children}</To> : children}</span>
}

function Evidence({ fact, to }: { fact: Fact; to?: string }) {
  return (
    <li>
      <span className="row">
        <Tag>{sources[fact.source] ?? fact.source}</Tag>
        {fact.object && <Linked to={to}>{fact.object}</Linked>}
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
