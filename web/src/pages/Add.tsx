// Page 6: the wizard. Choose modules, their versions, how they are set up; see what would change; then watch.
import { Button } from '@mantine/core'
import { useEffect, useReducer, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { Choose } from '../add/Choose'
import { Setups } from '../add/Setups'
import { VersionStep } from '../add/VersionStep'
import { deedsOf, empty, hinders, move, steps, type Move, type Step, type Wizard } from '../add/wizard'
import type { Operation } from '../api'
import { Progress } from '../deeds/Progress'
import { ReviewPanel } from '../deeds/ReviewPanel'
import { Header } from '../parts/basics'

const names: Record<Step, string> = { choose: 'Choose', version: 'Version', configure: 'Configure', review: 'Check and add' }
const titles: Record<Step, string> = {
  choose: 'Choose modules',
  version: 'Versions',
  configure: 'Configuration',
  review: 'Check and add',
}

export function Page() {
  const [parameters] = useSearchParams()
  const [w, act] = useReducer(move, empty)
  const [operations, setOperations] = useState<Operation[]>([])
  const wanted = { kyma: parameters.get('kyma') ?? '', module: parameters.get('module') ?? '', source: parameters.get('source') ?? '' }
  if (operations.length > 0) {
    return (
      <>
        <Header title="Adding modules" lead="You may close this page: it goes on, and stands below Operations." />
        {operations.map((operation) => (
          <Progress key={operation.id} id={operation.id} />
        ))}
      </>
    )
  }
  return (
    <>
      <Header title="Add modules" lead="Nothing is changed before the last step." />
      <Trail w={w} act={act} />
      <StepHead step={w.step} />
      {w.step === 'choose' && <Choose w={w} act={act} wanted={wanted} />}
      {w.step === 'version' && <VersionStep w={w} act={act} />}
      {w.step === 'configure' && <Setups w={w} act={act} />}
      {w.step === 'review' && <ReviewStep w={w} act={act} started={setOperations} />}
      {w.step !== 'review' && <Onward w={w} act={act} />}
    </>
  )
}

function Trail({ w, act }: { w: Wizard; act: (m: Move) => void }) {
  const now = steps.indexOf(w.step)
  return (
    <ol className="steps" aria-label="Steps">
      {steps.map((step, i) => (
        <li key={step} aria-current={step === w.step ? 'step' : undefined} className={i < now ? 'past' : ''}>
          <button type="button" className="sort" disabled={i > now} onClick={() => act({ do: 'step', step })}>
            <span className="step-number" aria-hidden="true">
              {i < now ? '✓' : i + 1}
            </span>
            {names[step]}
          </button>
        </li>
      ))}
    </ol>
  )
}

/** StepHead names the step. Who goes to another one reads on here: the button that led there is at the end of the page, or gone. */
function StepHead({ step }: { step: Step }) {
  const head = useRef<HTMLHeadingElement>(null)
  const last = useRef(step)
  useEffect(() => {
    if (last.current !== step) head.current?.focus()
    last.current = step
  }, [step])
  return (
    <h2 ref={head} tabIndex={-1} className="flat">
      {titles[step]}
    </h2>
  )
}

function Onward({ w, act }: { w: Wizard; act: (m: Move) => void }) {
  const now = steps.indexOf(w.step)
  const hindered = hinders(w)
  const next = steps[now + 1]
  const before = steps[now - 1]
  return (
    <div className="sticky row between">
      <span className="dim small" role="status">
        {hindered || `Chosen: ${w.picks.map((p) => p.offer.name).join(', ')}`}
      </span>
      <div className="row">
        {before && (
          <Button variant="default" onClick={() => act({ do: 'step', step: before })}>
            Back
          </Button>
        )}
        {next && (
          <Button disabled={hindered !== ''} onClick={() => act({ do: 'step', step: next })}>
            Next: {names[next]}
          </Button>
        )}
      </div>
    </div>
  )
}

function ReviewStep({ w, act, started }: { w: Wizard; act: (m: Move) => void; started: (operations: Operation[]) => void }) {
  const [deeds] = useState(() => deedsOf(w))
  return (
    <section className="stack" aria-label={names.review}>
      <ReviewPanel
        deeds={deeds}
        verb={w.picks.length === 1 ? `Add ${w.picks[0]?.offer.name ?? 'it'}` : `Add ${w.picks.length} modules`}
        started={started}
        back={
          <Button variant="default" onClick={() => act({ do: 'step', step: 'configure' })}>
            Back
          </Button>
        }
      />
    </section>
  )
}
