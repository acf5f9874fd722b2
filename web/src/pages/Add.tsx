// Page 6: the wizard. Choose modules, their versions, how they are set up; see what would change; then watch.
import { Button } from '@mantine/core'
import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'react-router'
import { Choose } from '../add/Choose'
import { Setups } from '../add/Setups'
import { VersionStep } from '../add/VersionStep'
import { begin, deedsOf, hinders, move, steps, type Move, type Step, type Wizard } from '../add/wizard'
import type { Operation } from '../api'
import { Progress } from '../deeds/Progress'
import type { Refused } from '../deeds/review'
import { ReviewPanel } from '../deeds/ReviewPanel'
import { Header, Notice } from '../parts/basics'
import { sentence } from '../words'

const names: Record<Step, string> = { choose: 'Choose', version: 'Version', configure: 'Configure', review: 'Check and add' }
const titles: Record<Step, string> = {
  choose: 'Choose modules',
  version: 'Versions',
  configure: 'Configuration',
  review: 'Check and add',
}

interface Begun {
  operations: Operation[]
  refused?: Refused
}

/** Page begins anew for whoever goes to this address again. The wizard itself never writes to it. */
export function Page() {
  const { key } = useLocation()
  return <Adding key={key} />
}

function Adding() {
  const [parameters] = useSearchParams()
  const [w, act] = useReducer(move, begin)
  const [chosen, setChosen] = useState(false)
  const choose = useCallback(() => setChosen(true), [])
  const [begun, setBegun] = useState<Begun>()
  const asked = (name: string) => parameters.get(name) ?? ''
  const wanted = { kyma: asked('kyma'), module: asked('module'), namespace: asked('namespace'), source: asked('source') }
  if (begun) {
    return (
      <>
        <Header title="Adding modules" lead="You may close this page: it goes on, and is listed under Operations." />
        {begun.refused && <NotBegun refused={begun.refused} />}
        {begun.operations.map((operation) => (
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
      {w.step === 'choose' && <Choose w={w} act={act} wanted={wanted} begun={chosen} begin={choose} />}
      {w.step === 'version' && <VersionStep w={w} act={act} />}
      {w.step === 'configure' && <Setups w={w} act={act} />}
      {w.step === 'review' && <ReviewStep w={w} act={act} started={(operations, refused) => setBegun({ operations, refused })} />}
      {w.step !== 'review' && <Onward w={w} act={act} />}
    </>
  )
}

/** NotBegun names what was refused while the rest began: what began has a card of its own below. */
function NotBegun({ refused }: { refused: Refused }) {
  const left = refused.deeds.flatMap((deed) => (deed.kind === 'add' ? deed.modules.map((m) => m.name) : []))
  return (
    <Notice tone="bad" title={`Not added: ${left.join(', ')}`}>
      <p>{sentence(refused.error.message)} The others began, and go on. Add what is missing again once that is put right.</p>
    </Notice>
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

interface ReviewProps {
  w: Wizard
  act: (m: Move) => void
  started: (operations: Operation[], refused?: Refused) => void
}

function ReviewStep({ w, act, started }: ReviewProps) {
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
