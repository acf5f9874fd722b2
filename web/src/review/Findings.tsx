// Lists of what a version may do: grouped by how grave it is, each with its rule behind a disclosure.
import { Button, Tooltip } from '@mantine/core'
import { useState } from 'react'
import { count } from '../words'
import type { Finding } from '../api'
import { grouped, severityWord, type Besides } from './words'
import { fill } from '../fill'
import { messages } from '../messages'

/** few is how many of one severity are shown before a user asks for more. */
const few = 8

/** Findings are sentences, the gravest first. What every module does is only counted, until a user asks for it. */
export function Findings({ findings, label }: { findings: Finding[]; label: string }) {
  const groups = grouped(findings)
  return (
    <ul className="findings" aria-label={label}>
      {groups.map(({ severity, findings: of }) => (
        <Group key={severity} severity={severity} findings={of} first={severity === 'Info' && groups.length > 1 ? 0 : few} />
      ))}
    </ul>
  )
}

function Group({ severity, findings, first }: { severity: string; findings: Finding[]; first: number }) {
  const [all, setAll] = useState(false)
  const word = severityWord(severity)
  const shown = all ? findings : findings.slice(0, first)
  return (
    <li>
      <Tooltip label={word.means}>
        <span className={`state tone-${word.tone} still`}>{word.label}</span>
      </Tooltip>
      <ul>
        {shown.map((finding) => (
          <One key={finding.key} finding={finding} />
        ))}
        {shown.length < findings.length && (
          <li>
            <Button size="compact-sm" variant="subtle" onClick={() => setAll(true)}>
              {first === 0
                ? fill(messages.findings.showThings, { things: count(findings.length, messages.nouns.usualThing) })
                : fill(messages.findings.showMore, { count: findings.length - shown.length })}
              {first > 0 && <span className="hidden-text"> {fill(messages.findings.ofSeverity, { label: word.label })}</span>}
            </Button>
          </li>
        )}
      </ul>
    </li>
  )
}

function One({ finding }: { finding: Finding }) {
  if (!finding.rule && !finding.subject) return <li>{finding.sentence}</li>
  return (
    <li>
      <details className="finding">
        <summary>{finding.sentence}</summary>
        <dl className="rule">
          {finding.rule && (
            <>
              <dt>{messages.findings.rule}</dt>
              <dd className="mono">{finding.rule}</dd>
            </>
          )}
          {finding.subject && (
            <>
              <dt>{messages.findings.for}</dt>
              <dd>{finding.subject}</dd>
            </>
          )}
        </dl>
      </details>
    </li>
  )
}

/** Others are changes that are no right: definitions, webhooks, API services and images. */
export function Others({ besides }: { besides: Besides[] }) {
  const [all, setAll] = useState(false)
  const shown = all ? besides : besides.slice(0, few)
  return (
    <ul className="besides" aria-label={messages.findings.changesBesidesRights}>
      {shown.map((one) => (
        <li key={`${one.what} ${one.name} ${one.texts.join()}`}>
          <span className="dim small">{one.what}</span>
          <span>
            <span className="mono small">{one.name}</span> <span className="small">{one.texts.join(' ')}</span>
          </span>
        </li>
      ))}
      {shown.length < besides.length && (
        <li>
          <Button size="compact-sm" variant="subtle" onClick={() => setAll(true)}>
            {fill(messages.findings.showMoreChanges, { count: besides.length - shown.length })}
          </Button>
        </li>
      )}
    </ul>
  )
}
