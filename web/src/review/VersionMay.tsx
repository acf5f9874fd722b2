// "This version may ...": what a version asks for, what is new since the installed one, and where it stands. It is read in the background.
import { Loader } from '@mantine/core'
import { ShieldCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Answer } from '../live/useLive'
import { Notice } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { count, sentence } from '../words'
import type { Difference, Pending, Review } from '../api'
import { Findings, Others } from './Findings'
import { ObjectChangesView } from './ObjectChanges'
import { besidesOf, countsOf, newsOf, waitingFor } from './words'
import { fill } from '../fill'
import { messages } from '../messages'

interface Props {
  answer: Answer<Review>
  /** pending is what the lifecycle manager says of a version that waits for consent: it is there when the version itself cannot be read. */
  pending?: Pending
  /** installed is the version that runs. */
  installed?: string
  /** bare leaves out what changes in the cluster, where a page shows it otherwise. */
  bare?: boolean
}

export function VersionMay({ answer, pending, installed, bare }: Props) {
  return (
    <Loaded answer={answer} rows={4}>
      {(review) => {
        const told = pending && pending.version === review.version ? pending : undefined
        if (review.state === 'Done' && review.changes) return <Told review={review} bare={bare} />
        return (
          <div className="stack tight" aria-live="polite">
            {review.state === 'Reading' ? <Reading review={review} /> : <Unread review={review} told={told !== undefined} />}
            {told && <FromStatus pending={told} installed={installed} />}
          </div>
        )
      }}
    </Loaded>
  )
}

export function Reading({ review }: { review: { version: string; step?: string } }) {
  return (
    <p className="row flat" role="status">
      <Loader size="sm" />
      <span>{sentence(review.step) || fill(messages.versionMay.readingWhatHolds, { version: review.version })}</span>
    </p>
  )
}

function Unread({ review, told }: { review: Review; told: boolean }) {
  return (
    <Notice tone="warn" title={fill(messages.versionMay.cannotReadHere, { version: review.version })}>
      <p>{sentence(review.problem?.message) || messages.versionMay.theRegistryDoesNotAnswer}</p>
      {review.problem?.remedy && <p>{sentence(review.problem.remedy)}</p>}
      {told && <p>{messages.versionMay.belowLifecycleManagerReadSays}</p>}
    </Notice>
  )
}

/** FromStatus is what the lifecycle manager says of a version that waits: counts, and the gravest sentences. */
export function FromStatus({ pending, installed }: { pending: Pending; installed?: string }) {
  const counts = countsOf(pending)
  const gravest = pending.gravest ?? []
  return (
    <section className="stack tight" aria-label={fill(messages.versionMay.whatTheLifecycleManagerSaysOf, { version: pending.version })}>
      <p className="flat">
        <strong>{waitingFor(pending, installed)}</strong>
      </p>
      {gravest.length > 0 && (
        <ul className="flat-list">
          {gravest.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {counts.length > 0 && <p className="dim small flat">{fill(messages.common.inAll, { counts: counts.join(', ') })}</p>}
    </section>
  )
}

function Told({ review, bare }: { review: Review; bare?: boolean }) {
  const { changes, version, against } = review
  if (!changes) return null
  const rights = changes.rights
  return (
    <div className="stack" aria-live="polite">
      <p className="flat lead-line">
        <ShieldCheck size={20} aria-hidden />
        <strong>{newsOf(version, against, rights)}</strong>
      </p>
      {review.note && (
        <Notice>
          <p>{sentence(review.note)}</p>
        </Notice>
      )}
      {against ? <News review={review} rights={rights} /> : <Everything review={review} open />}
      {!bare && (
        <Disclosure title={against ? messages.common.whatChangesInTheCluster : messages.versionMay.whatItInstalls} open={false}>
          <ObjectChangesView changes={changes} />
        </Disclosure>
      )}
      <p className="dim small flat">{review.limits}</p>
    </div>
  )
}

/** News is what differs from the installed version: what is new, what else changes, what is gone; and then everything. */
function News({ review, rights }: { review: Review; rights: Difference }) {
  const { version, against } = review
  const added = rights.added ?? []
  const removed = rights.removed ?? []
  const besides = besidesOf(rights)
  return (
    <>
      {added.length > 0 && (
        <section className="stack tight" aria-label={fill(messages.common.newWith, { version })}>
          <h3 className="flat">{fill(messages.common.newWith, { version })}</h3>
          <Findings findings={added} label={fill(messages.common.newWith, { version })} />
        </section>
      )}
      {besides.length > 0 && (
        <section className="stack tight" aria-label={messages.versionMay.definitionsWebhooksAndImages}>
          <h3 className="flat">{messages.versionMay.definitionsWebhooksAndImages}</h3>
          <Others besides={besides} />
        </section>
      )}
      {removed.length > 0 && (
        <Disclosure title={fill(messages.common.goneWhatOnlyMayDo, { against, count: removed.length })} open={false}>
          <Findings findings={removed} label={fill(messages.versionMay.whatOnlyMayDo, { against })} />
        </Disclosure>
      )}
      <Everything review={review} open={false} />
    </>
  )
}

function Everything({ review, open }: { review: Review; open: boolean }) {
  const may = review.may ?? []
  const more = review.more ?? 0
  if (may.length === 0) return null
  const list = (
    <>
      <Findings findings={may} label={fill(messages.versionMay.everythingThatMayDo, { version: review.version })} />
      {more > 0 && (
        <p className="dim small">{fill(messages.versionMay.noneMoreSevere, { things: count(more, messages.nouns.moreThing) })}</p>
      )}
    </>
  )
  if (open) return list
  return (
    <Disclosure
      title={fill(messages.versionMay.everythingThatVersionMayDoCount, { version: review.version, count: may.length + more })}
      open={false}
    >
      {list}
    </Disclosure>
  )
}

/** Disclosure is a part that a user opens. */
export function Disclosure({ title, open, children }: { title: string; open: boolean; children: ReactNode }) {
  return (
    <details open={open} className="disclosure">
      <summary>
        <strong>{title}</strong>
      </summary>
      <div className="stack tight after-summary">{children}</div>
    </details>
  )
}
