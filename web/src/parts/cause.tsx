// Why a module is not ready: one sentence, what to do, and what the sentence was concluded from.
import type { ReactNode } from 'react'
import type { Cause, Fact, Ref } from '../api'
import { count, refText, sentence } from '../words'
import { Notice, Tag, To } from './basics'
import { Ago } from './details'
import { messages } from '../messages'

const sources: Record<Fact['source'], string> = {
  owners: messages.cause.belongsTo,
  status: messages.common.status,
  event: messages.cause.event,
  log: messages.cause.log,
  unread: messages.cause.notRead,
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
            <strong>{messages.common.whatToDo}</strong> {sentence(cause.remedy)}
          </p>
        </Notice>
      )}
      {unread.length > 0 && (
        <Notice tone="warn" title={messages.cause.notEverythingLookedMore}>
          <ul className="flat">
            {unread.map((fact, i) => (
              <li key={i}>{sentence(fact.text)}</li>
            ))}
          </ul>
        </Notice>
      )}
      <details>
        <summary>{messages.cause.evidence}</summary>
        <div className="stack tight">
          {facts.length > 0 && (
            <ul className="facts-list" aria-label={messages.cause.evidence}>
              {facts.map((fact, i) => (
                <Evidence key={i} fact={fact} to={linkOfFact?.(fact)} />
              ))}
            </ul>
          )}
          {also.length > 0 && (
            <>
              <p className="flat">{messages.cause.besides}</p>
              <ul aria-label={messages.cause.otherCauses}>
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
            {(fact.count ?? 1) > 1 && ` (${count(fact.count ?? 1, messages.nouns.time)})`}
          </span>
        )}
      </span>
      <span className={fact.source === 'log' ? 'mono small' : 'small'}>{fact.text}</span>
    </li>
  )
}
