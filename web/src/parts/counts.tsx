// How many are in which state: each number leads to the list of these.
import { Link } from 'react-router'
import type { State } from '../api'
import { count, severity, stateWord } from '../words'
import { To } from './basics'
import { fill, type Noun } from '../fill'
import { messages } from '../messages'

export type CountsOf = Partial<Record<State, number>>

export const sum = (of: CountsOf) => Object.values(of).reduce((all, n) => all + n, 0)

export function Counts({ title, of, to, noun }: { title: string; of: CountsOf; to: string; noun: Noun }) {
  const all = sum(of)
  const known = severity.filter((state) => (of[state] ?? 0) > 0)
  return (
    <section className="card pad stack tight" aria-label={title}>
      <div className="row between">
        <h2 className="flat">{title}</h2>
        <To to={to}>{all === 0 ? messages.counts.none : fill(messages.counts.all, { rows: count(all, noun) })}</To>
      </div>
      {all > 0 && (
        <div className="bar" aria-hidden="true">
          {known.map((state) => (
            <i key={state} className={`tone-${stateWord(state).tone}`} style={{ flexGrow: of[state] }} />
          ))}
        </div>
      )}
      <div className="row">
        {known.map((state) => (
          <Link key={state} to={`${to}?state=${state}`} className="counter">
            <b>{(of[state] ?? 0).toLocaleString('en')}</b>
            <span className="small">{stateWord(state).label}</span>
          </Link>
        ))}
      </div>
    </section>
  )
}
