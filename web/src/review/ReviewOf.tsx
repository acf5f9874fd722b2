// What one version may do and changes, behind a disclosure. The server reads a registry for it: it is asked for when a user opens it, or at
// once where the one sentence should be there without.
import { useState } from 'react'
import type { Query } from '../live/http'
import { useLive } from '../live/useLive'
import type { Review } from '../api'
import { VersionMay } from './VersionMay'
import { newsOf } from './words'
import { messages } from '../messages'

/** eagerly is how many versions a page asks for at once: it has few live queries. */
export const eagerly = 4

interface Props {
  title: string
  /** of is the query about a version of a module or of an offer. */
  of: Query<Review>
  /** eager asks at once. */
  eager?: boolean
  open?: boolean
}

export function ReviewOf({ title, of, eager = false, open = false }: Props) {
  const [opened, setOpened] = useState(open || eager)
  const answer = useLive(opened ? of : null)
  const review = answer.data
  const unread = review?.state === 'Unreadable' ? messages.reviewOf.itCannotBeReadFromHere : ''
  const headline = review?.changes ? newsOf(review.version, review.against, review.changes.rights) : unread
  return (
    <details
      className="card pad"
      open={open}
      onToggle={(event) => {
        if (event.currentTarget.open) setOpened(true) // what was read once stays
      }}
    >
      <summary>
        <strong>{title}</strong>
        {eager && !open && <span className="headline">{headline}</span>}
      </summary>
      <div className="after-summary">{opened && <VersionMay answer={answer} />}</div>
    </details>
  )
}
