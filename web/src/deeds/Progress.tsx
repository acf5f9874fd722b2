// An operation while it runs, and after: its steps, the objects it waits for, and what can be done with it.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Operation } from '../api'
import { at, post, query, type Refusal } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Notice, OperationBadge, StateBadge, To } from '../parts/basics'
import { Ago } from '../parts/details'
import { Loaded } from '../parts/loaded'
import { refText, sentence, operationWord } from '../words'
import { fill, fillNodes } from '../fill'
import { messages } from '../messages'

const tones = { Waiting: 'idle', Running: 'busy', Done: 'ok', Failed: 'bad' } as const
const said = {
  Waiting: messages.progress.waits,
  Running: messages.progress.runs,
  Done: messages.progress.done,
  Failed: messages.common.failed,
} as const

/** Progress follows an operation live. */
export function Progress({ id }: { id: string }) {
  const answer = useLive(query('/operations/{id}', { id }))
  return (
    <Loaded answer={answer} rows={4}>
      {(operation) => <OperationView operation={operation} />}
    </Loaded>
  )
}

export function OperationView({ operation }: { operation: Operation }) {
  const steps = operation.steps ?? []
  const objects = operation.objects ?? []
  const word = operationWord(operation.state)
  return (
    <section className="card" aria-label={operation.title}>
      <div className="card-head">
        <div className="row">
          <h2>{operation.title}</h2>
          <OperationBadge state={operation.state} />
        </div>
        <Buttons operation={operation} />
      </div>
      <div className="pad stack">
        <p className="hidden-text" role="status" aria-live="polite">
          {operation.title}: {word.label}.{' '}
          {steps
            .filter((s) => s.state === 'Running')
            .map((s) => s.title)
            .join(', ')}
        </p>
        <p className="dim small">
          {fillNodes(messages.progress.startedBy, {
            user: operation.user || messages.progress.anUnknownUser,
            ago: <Ago at={operation.created} />,
            state: word.means,
          })}
        </p>
        {operation.message && (
          <Notice tone={word.tone}>
            <p>{sentence(operation.message)}</p>
          </Notice>
        )}
        <ol className="chain">
          {steps.map((step, i) => (
            <li key={i} className={`tone-${tones[step.state] ?? 'idle'}`}>
              <div className="row">
                <strong>{step.title}</strong>
                <span className="dim small">{said[step.state] ?? step.state}</span>
              </div>
              {step.message && <p className="dim">{sentence(step.message)}</p>}
            </li>
          ))}
        </ol>
        {objects.length > 0 && <Objects objects={objects} />}
        <After operation={operation} />
      </div>
    </section>
  )
}

function Objects({ objects }: { objects: NonNullable<Operation['objects']> }) {
  return (
    <details open={objects.length <= 10}>
      <summary>
        {objects.length === 1 ? messages.progress.oneObject : fill(messages.common.countObjects, { count: objects.length })}
      </summary>
      <ul className="tree">
        {objects.map((object, i) => (
          <li key={i}>
            <div className="line">
              <span className="mono small">{refText(object.ref)}</span>
              {object.kyma && <span className="dim small">{fill(messages.common.inKyma, { kyma: object.kyma })}</span>}
              <StateBadge state={object.state} />
            </div>
            {object.message && <div className="dim small">{sentence(object.message)}</div>}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** After says where to look next. */
function After({ operation }: { operation: Operation }) {
  if (operation.state !== 'Succeeded') return null
  const { deed } = operation
  const kyma = 'kyma' in deed ? deed.kyma : ''
  if (deed.kind === 'deleteKyma')
    return (
      <p>
        <To to="/kymas">{messages.progress.toTheKymas}</To>
      </p>
    )
  if (deed.kind === 'delete')
    return (
      <p>
        <To to="/modules">{messages.progress.toTheModules}</To>
      </p>
    )
  if (deed.kind === 'add' && deed.modules.length === 1 && deed.modules[0]) {
    return (
      <p>
        <To to={moduleLink(kyma, deed.modules[0].name)}>{fill(messages.progress.seeHowIsDoing, { name: deed.modules[0].name })}</To>
      </p>
    )
  }
  if ('module' in deed && deed.module)
    return (
      <p>
        <To to={moduleLink(kyma, deed.module)}>{fill(messages.progress.backTo, { module: deed.module })}</To>
      </p>
    )
  return (
    <p>
      <To to={kyma ? '/kymas/' + kyma : '/modules'}>{messages.progress.seeHowItIsDoing}</To>
    </p>
  )
}

/** moduleLink is where the page of a module is. */
export function moduleLink(kyma: string | undefined, name: string, rest = ''): string {
  const [ns, kymaName] = (kyma ?? '').split('/')
  return (ns && kymaName ? '/modules' + at(ns, kymaName, name) : '/direct' + at(name)) + rest
}

function Buttons({ operation }: { operation: Operation }) {
  const [error, setError] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const act = async (what: 'cancel' | 'resume') => {
    setBusy(true)
    setError(undefined)
    try {
      await post(`/operations/{id}/${what}`, undefined, { id: operation.id })
    } catch (refusal) {
      setError(refusal as Refusal)
    }
    setBusy(false)
  }
  const resumable = operation.state === 'Interrupted' || operation.state === 'Failed' || operation.state === 'Cancelled'
  return (
    <div className="row">
      {error && (
        <span role="alert" className="small">
          {sentence(error.message)}
        </span>
      )}
      {operation.state === 'Running' && (
        <Action variant="default" size="compact-md" allowed={operation.access.cancel} onClick={() => void act('cancel')}>
          {messages.progress.stop}
        </Action>
      )}
      {resumable && (
        <Action size="compact-md" allowed={operation.access.resume} onClick={() => void act('resume')}>
          {messages.progress.goOn}
        </Action>
      )}
      {busy && <Button size="compact-md" variant="transparent" loading aria-label={messages.progress.asking} />}
    </div>
  )
}
