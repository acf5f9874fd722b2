// The last page before something happens: what would change, what is warned of, what must be typed, and the button.
import { Button, Loader, TextInput } from '@mantine/core'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { Change, Deed, Json, Operation, Preview } from '../api'
import { Notice, Tag } from '../parts/basics'
import { Trouble } from '../parts/loaded'
import { refText, sentence } from '../words'
import { ask, asking, hindrance, refusedOf, sorted, start, staying, takenText, toType, wayText, type Refused, type Review } from './review'
import { fill, fillNodes } from '../fill'
import { messages } from '../messages'

/** useReview tries the deeds whenever they are others, and starts them. */
export function useReview(deeds: Deed[]) {
  const [review, setReview] = useState<Review>(asking)
  const key = JSON.stringify(deeds)
  const latest = useRef('')
  const look = async () => {
    latest.current = key
    setReview(asking)
    const seen = await ask(JSON.parse(key) as Deed[])
    if (latest.current === key) setReview(seen)
  }
  const lookNow = useRef(look)
  useEffect(() => {
    lookNow.current = look
  })
  useEffect(() => {
    void lookNow.current()
  }, [key])
  return {
    review,
    again: () => void look(),
    begin: async (typed: string): Promise<Review> => {
      setReview({ ...review, phase: 'starting', error: undefined })
      const after = await start(deeds, review.previews, typed)
      setReview(after)
      return after
    },
  }
}

interface Props {
  deeds: Deed[]
  /** verb is what the button says. */
  verb: string
  danger?: boolean
  back?: ReactNode
  /** started gets what began, and what of several deeds did not. */
  started(operations: Operation[], refused?: Refused): void
}

export function ReviewPanel({ deeds, verb, danger, back, started }: Props) {
  const { review, again, begin } = useReview(deeds)
  const [typed, setTyped] = useState('')
  const text = toType(review.previews)
  const hindered = hindrance(review, typed)
  const go = async () => {
    const after = await begin(typed.trim())
    if (after.operations.length > 0) started(after.operations, refusedOf(deeds, after))
  }
  if (review.phase === 'failed' && review.previews.length === 0 && review.error) return <Trouble error={review.error} again={again} />
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (!hindered) void go()
      }}
    >
      <div aria-live="polite" aria-busy={review.phase === 'asking'} className="stack">
        {review.phase === 'asking' ? (
          <div className="card pad row">
            <Loader size="sm" />
            <span>{messages.reviewPanel.tryingItOutWithoutChangingAnything}</span>
          </div>
        ) : (
          review.previews.map((preview, i) => <PreviewOf key={i} preview={preview} kind={deeds[i]?.kind ?? 'add'} />)
        )}
        {review.error && (
          <Notice tone="bad" title={messages.reviewPanel.itWasNotStarted}>
            <p>{sentence(review.error.message)}</p>
          </Notice>
        )}
      </div>
      {text && review.phase !== 'asking' && (
        <TextInput
          label={<>{fillNodes(messages.common.typeToConfirm, { text: <strong className="mono">{text}</strong> })}</>}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setTyped(event.currentTarget.value)}
          maw={420}
        />
      )}
      <div className="row">
        <Button type="submit" color={danger ? 'red.9' : undefined} disabled={hindered !== ''} loading={review.phase === 'starting'}>
          {verb}
        </Button>
        {back}
      </div>
    </form>
  )
}

/** PreviewOf is what the server says would happen. */
export function PreviewOf({ preview, kind }: { preview: Preview; kind: Deed['kind'] }) {
  const { changed, unchanged } = sorted(preview.diff)
  const way = wayText(preview.way, kind)
  return (
    <section className="stack tight" aria-label={messages.common.whatWouldHappen}>
      {preview.refused && (
        <Notice tone="bad" title={messages.reviewPanel.thisCannotBeDone}>
          <p>{sentence(preview.refused)}</p>
        </Notice>
      )}
      {!preview.refused && way && <p>{way}</p>}
      {!preview.refused && preview.why && preview.way !== 'Kyma' && <p className="dim">{sentence(preview.why)}</p>}
      {(preview.templates ?? []).map((taken) => (
        <p key={`${taken.kyma ?? ''}/${taken.module}`} className="flat">
          {takenText(taken)}
        </p>
      ))}
      {(preview.warnings ?? []).map((warning, i) => (
        <Notice key={i} tone="warn">
          <p>{sentence(warning)}</p>
        </Notice>
      ))}
      {changed.length > 0 && (
        <div className="card changes">
          {changed.map((change, i) => (
            <ChangeOf key={i} change={change} open={changed.length <= 4} />
          ))}
        </div>
      )}
      {!preview.refused && changed.length === 0 && (
        <Notice>
          <p>{preview.way === 'Gone' ? messages.common.itIsGoneAlready : messages.reviewPanel.nothingChangeEverythingAskAlready}</p>
        </Notice>
      )}
      {changed.length > 0 && unchanged > 0 && <p className="dim small">{staying(unchanged)}</p>}
    </section>
  )
}

const verbs = {
  Create: messages.reviewPanel.new,
  Update: messages.reviewPanel.willBeChanged,
  Delete: messages.reviewPanel.willBeDeleted,
  Unchanged: messages.reviewPanel.stays,
  Refused: messages.reviewPanel.refused,
}

/** ChangeOf is the change of one object, with its fields. */
export function ChangeOf({ change, open }: { change: Change; open: boolean }) {
  const fields = change.fields ?? []
  const bad = change.change === 'Refused' || change.change === 'Delete'
  const head = (
    <span className="row">
      <Tag tone={bad ? 'warn' : 'strong'}>{verbs[change.change]}</Tag>
      <span className="mono">{refText(change.object)}</span>
      {change.kyma && <span className="dim small">{fill(messages.common.inKyma, { kyma: change.kyma })}</span>}
    </span>
  )
  return (
    <div className="change">
      {fields.length > 0 ? (
        <details open={open}>
          <summary>{head}</summary>
          <Fields fields={fields} />
        </details>
      ) : (
        head
      )}
      {change.error && (
        <Notice tone="bad">
          <p>{sentence(change.error)}</p>
        </Notice>
      )}
    </div>
  )
}

function Fields({ fields }: { fields: NonNullable<Change['fields']> }) {
  return (
    <div className="diff" role="group" aria-label={messages.reviewPanel.fieldsThatChange} tabIndex={-1}>
      {fields.map((field, i) => (
        <div key={i} className="field">
          <div className="path">{field.path}</div>
          {there(field.from) && (
            <div className="from">
              <span className="hidden-text">{messages.reviewPanel.before} </span>− {written(field.from)}
            </div>
          )}
          {there(field.to) && (
            <div className="to">
              <span className="hidden-text">{messages.reviewPanel.after} </span>+ {written(field.to)}
            </div>
          )}
        </div>
      ))}
    </div>
  )
}

/** there says that a field had, or will have, a value. */
function there(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** written is a value as text. */
function written(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
