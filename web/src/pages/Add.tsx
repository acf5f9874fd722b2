// Page 6: the wizard. Choose modules, their versions, how they are set up; see what would change; then watch.
import { Button } from '@mantine/core'
import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { Choose } from '../add/Choose'
import { PicksMay } from '../add/PickMay'
import { Setups } from '../add/Setups'
import { VersionStep } from '../add/VersionStep'
import { usePlace, useSteps } from '../add/steps'
import { begin, deedsOf, hinders, lastStep, move, steps, type Step, type Wizard } from '../add/wizard'
import type { Operation } from '../api'
import { plainOf, revived } from '../add/stored'
import { useDrafts } from '../app/drafts'
import { kept, useDirty } from '../app/leaving'
import { useFollow } from '../deeds/place'
import type { Refused } from '../deeds/review'
import { ReviewPanel } from '../deeds/ReviewPanel'
import { Header } from '../parts/basics'
import { fill } from '../fill'
import { messages } from '../messages'

const names: Record<Step, string> = {
  choose: messages.common.choose,
  version: messages.common.version,
  configure: messages.add.configure,
  review: messages.add.checkAndAdd,
}
const titles: Record<Step, string> = {
  choose: messages.common.chooseModules,
  version: messages.common.versions,
  configure: messages.common.configuration,
  review: messages.add.checkAndAdd,
}

/** Page begins again when this address is opened again; the steps of one wizard are entries of the history. */
export function Page() {
  const { wizard, address } = usePlace()
  return <Adding key={wizard} wizard={wizard} address={address} />
}

function Adding({ wizard, address }: { wizard: string; address: string }) {
  const [parameters] = useSearchParams()
  const drafts = useDrafts()
  const [draft] = useState(() => drafts.get<Wizard>(wizard) ?? revived(drafts.stored(wizard), address))
  const [w, act] = useReducer(move, draft ?? begin)
  const [chosen, setChosen] = useState(draft !== undefined)
  const choose = useCallback(() => setChosen(true), [])
  const { step, go } = useSteps(lastStep(w))
  const follow = useFollow()
  useEffect(() => act({ do: 'step', step }), [step])
  useEffect(() => {
    if (w.picks.length > 0) drafts.keep(wizard, w, plainOf(w, address))
    else drafts.forget(wizard)
  }, [drafts, wizard, address, w])
  useDirty(
    w.picks.some(({ resource, edit }) => resource ?? edit),
    kept,
  ) // a configuration is not stored: it may hold secrets
  const asked = (name: string) => parameters.get(name) ?? ''
  const wanted = { kyma: asked('kyma'), module: asked('module'), namespace: asked('namespace'), source: asked('source') }
  return (
    <>
      <Header title={messages.common.addModules} lead={messages.common.nothingChangedBeforeLastStep} />
      <Trail w={w} go={go} />
      <StepHead step={w.step} />
      {w.step === 'choose' && <Choose w={w} act={act} wanted={wanted} begun={chosen} begin={choose} />}
      {w.step === 'version' && <VersionStep w={w} act={act} />}
      {w.step === 'configure' && <Setups w={w} act={act} />}
      {w.step === 'review' && (
        <ReviewStep
          w={w}
          go={go}
          started={(operations, refused) => {
            drafts.forget(wizard)
            follow(operations, refused)
          }}
        />
      )}
      {w.step !== 'review' && <Onward w={w} go={go} />}
    </>
  )
}

function Trail({ w, go }: { w: Wizard; go: (to: Step) => void }) {
  const now = steps.indexOf(w.step)
  return (
    <ol className="steps" aria-label={messages.add.steps}>
      {steps.map((step, i) => (
        <li key={step} aria-current={step === w.step ? 'step' : undefined} className={i < now ? 'past' : ''}>
          <button type="button" className="sort" disabled={i > now} onClick={() => go(step)}>
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

function Onward({ w, go }: { w: Wizard; go: (to: Step) => void }) {
  const now = steps.indexOf(w.step)
  const hindered = hinders(w)
  const next = steps[now + 1]
  const before = steps[now - 1]
  return (
    <div className="sticky row between">
      <span className="dim small" role="status">
        {hindered || fill(messages.add.chosen, { modules: w.picks.map((p) => p.offer.name).join(', ') })}
      </span>
      <div className="row">
        {before && (
          <Button variant="default" onClick={() => go(before)}>
            {messages.common.back}
          </Button>
        )}
        {next && (
          <Button disabled={hindered !== ''} onClick={() => go(next)}>
            {fill(messages.add.nextNames, { names: names[next] })}
          </Button>
        )}
      </div>
    </div>
  )
}

interface ReviewProps {
  w: Wizard
  go: (to: Step) => void
  started: (operations: Operation[], refused?: Refused) => void
}

function ReviewStep({ w, go, started }: ReviewProps) {
  const [deeds] = useState(() => deedsOf(w))
  return (
    <section className="stack" aria-label={names.review}>
      <PicksMay w={w} />
      <ReviewPanel
        deeds={deeds}
        verb={
          w.picks.length === 1
            ? fill(messages.add.addName, { name: w.picks[0]?.offer.name ?? messages.common.it })
            : fill(messages.add.addModules, { count: w.picks.length })
        }
        started={started}
        back={
          <Button variant="default" onClick={() => go('configure')}>
            {messages.common.back}
          </Button>
        }
      />
    </section>
  )
}
