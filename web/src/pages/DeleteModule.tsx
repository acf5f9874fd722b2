// Page 8: deleting a module. First what is in the way, by name; then what goes along, chosen by hand; then how it continues.
import { Button, Checkbox, Loader } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { Blocking, Operation, Preview } from '../api'
import { pageOf, useFollow } from '../deeds/place'
import { moduleLink } from '../deeds/Progress'
import { ReviewPanel } from '../deeds/ReviewPanel'
import { query, post, Refusal } from '../live/http'
import { moduleQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { Action, Avatar, Header, Notice, Tag, To } from '../parts/basics'
import { Trouble } from '../parts/loaded'
import { count, refText } from '../words'
import { deletionOf, grouped, previewedOf, verbOf } from './deletion'
import { useModulePath } from './Module'
import { fill, formOf } from '../fill'
import { messages } from '../messages'

export function Page() {
  const { id, name } = useModulePath()
  const follow = useFollow()
  const going = useGoing(id, name)
  return (
    <>
      <Header
        title={fill(messages.deleteModule.deleteName, { name })}
        mark={<Avatar name={name} big />}
        lead={id ? fill(messages.deleteModule.fromKyma, { id }) : messages.deleteModule.whichWasInstalledDirectly}
        actions={
          !going.way && (
            <Action variant="default" to={moduleLink(id, name)}>
              {messages.common.cancel}
            </Action>
          )
        }
      />
      {going.way && (
        <Notice tone="busy" title={fill(messages.deleteModule.isBeingDeletedAlready, { name })}>
          <p>
            <To to={going.way}>{messages.deleteModule.seeHowItIsGoing}</To>
          </p>
        </Notice>
      )}
      {!going.way && !going.waits && <Steps key={id + name} id={id} name={name} started={follow} />}
    </>
  )
}

/** useGoing is where a deletion of the module that is under way can be followed. Another one is not offered meanwhile. */
function useGoing(id: string, name: string): { way: string; waits: boolean } {
  const running = useLive(query('/operations', { state: 'Running', limit: 200 }))
  const module = useLive(moduleQuery(id, name))
  const deletes = ({ deed }: Operation) => deed.kind === 'delete' && deed.module === name && (deed.kyma ?? '') === id
  const operation = (running.data?.items ?? []).find(deletes)
  const is = module.data?.module
  const leaves = is?.state === 'Deleting' && (is.installation.blockedBy ?? []).length === 0
  return { way: operation ? pageOf([operation.id]) : leaves ? moduleLink(id, name) : '', waits: running.loading || module.loading }
}

/** useBlocking asks what is in the way of a module, and of those that go along. Nothing is deleted by asking. */
function useBlocking(id: string, name: string, along: string[]) {
  const key = along.join()
  const [preview, setPreview] = useState<Preview>()
  const [error, setError] = useState<Refusal>()
  const [round, setRound] = useState(0)
  useEffect(() => {
    let current = true
    post('/previews', deletionOf(id, name, false, [], key ? key.split(',') : []), {}).then(
      (found) => {
        if (current) {
          setPreview(found)
          setError(undefined)
        }
      },
      (refusal: Refusal) => {
        if (current) setError(refusal)
      },
    )
    return () => {
      current = false
    }
  }, [id, name, key, round])
  return {
    preview,
    error,
    again: () => {
      setPreview(undefined)
      setError(undefined)
      setRound(round + 1)
    },
  }
}

function Steps({ id, name, started }: { id: string; name: string; started: (operations: Operation[]) => void }) {
  const [along, setAlong] = useState<string[]>([])
  const { preview, error, again: look } = useBlocking(id, name, along)
  const [cascade, setCascade] = useState(false)
  const again = () => {
    setCascade(false) // the tick was for what was listed then, and not for what appears now
    setAlong([])
    look()
  }
  const goAlong = (modules: string[]) => {
    setCascade(false) // other modules have other objects
    setAlong(modules)
  }
  if (error) return <Trouble error={error} again={again} />
  if (!preview)
    return (
      <div className="card pad row" role="status" aria-label={messages.common.loading}>
        <Loader size="sm" />
        <span>{fill(messages.deleteModule.lookingForWhatPeopleMadeWith, { name })}</span>
      </div>
    )
  const blocking = preview.blocking ?? []
  const dependents = preview.dependents ?? []
  const unfree = dependents.filter(({ module }) => !along.includes(module))
  const free = (blocking.length === 0 || cascade) && unfree.length === 0
  const objects = cascade && blocking.length > 0 ? count(blocking.length, messages.nouns.object) : ''
  return (
    <div className="stack">
      <Policy managed={id !== ''} name={name} />
      {dependents.length > 0 && (
        <NeededBy id={id} name={name} dependents={dependents} along={unfree.length === 0} setAlong={goAlong} again={again} />
      )}
      {blocking.length > 0 && <InTheWay name={name} blocking={blocking} cascade={cascade} setCascade={setCascade} again={again} />}
      {free && (
        <section className="stack" aria-label={messages.common.delete}>
          <h2 className="flat">{messages.common.whatWouldHappen}</h2>
          <ReviewPanel
            deeds={[deletionOf(id, name, cascade, previewedOf(blocking), along)]}
            danger
            started={started}
            verb={verbOf(name, objects, along)}
            back={
              <Action variant="default" to={moduleLink(id, name)}>
                {messages.common.cancel}
              </Action>
            }
          />
        </section>
      )}
    </div>
  )
}

function Policy({ managed, name }: { managed: boolean; name: string }) {
  return (
    <Notice>
      <p>
        {managed
          ? fill(messages.deleteModule.removedKymaLifecycleManagerDeletes, { name })
          : fill(messages.deleteModule.objectsInstalledDeletedOperatorLast, { name })}
      </p>
      <p>{messages.deleteModule.peopleMadeNeverDeletedAccident}</p>
    </Notice>
  )
}

interface NeededProps {
  id: string
  name: string
  dependents: NonNullable<Preview['dependents']>
  along: boolean
  setAlong: (modules: string[]) => void
  again: () => void
}

/** NeededBy lists the modules that need this one: it stays as long as they do, unless they are removed with it. */
function NeededBy({ id, name, dependents, along, setAlong, again }: NeededProps) {
  return (
    <section className="card" aria-labelledby="needed">
      <div className="card-head">
        <h2 id="needed">{fill(messages.deleteModule.neededBy, { modules: count(dependents.length, messages.nouns.module) })}</h2>
        <Button size="compact-sm" variant="default" onClick={again}>
          {messages.deleteModule.lookAgain}
        </Button>
      </div>
      <div className="pad flat stack">
        <p className="flat">{fill(messages.deleteModule.longKymaStaysTooWithout, { name })}</p>
        <ul className="flat-list">
          {dependents.map((one) => (
            <li key={one.module}>
              <To to={moduleLink(id, one.module)}>{one.module}</To>
              {one.version && <span className="mono small"> {one.version}</span>}
              {one.needs && <span className="dim small"> {fill(messages.deleteModule.needsNeeds, { needs: one.needs })}</span>}
            </li>
          ))}
        </ul>
        <Checkbox
          checked={along}
          onChange={(event) => setAlong(event.currentTarget.checked ? dependents.map(({ module }) => module) : [])}
          color="red.9"
          label={fill(formOf(dependents.length, messages.deleteModule.removeToo), { count: dependents.length })}
          description={messages.deleteModule.goFirstNeedsAnotherOne}
        />
      </div>
    </section>
  )
}

interface WayProps {
  name: string
  blocking: Blocking[]
  cascade: boolean
  setCascade: (on: boolean) => void
  again: () => void
}

function InTheWay({ name, blocking, cascade, setCascade, again }: WayProps) {
  return (
    <section className="card" aria-labelledby="blocking">
      <div className="card-head">
        <h2 id="blocking">{fill(messages.deleteModule.inTheWay, { objects: count(blocking.length, messages.nouns.object) })}</h2>
        <Button size="compact-sm" variant="default" onClick={again}>
          {messages.deleteModule.lookAgain}
        </Button>
      </div>
      <div className="pad flat stack">
        <p className="flat">{fill(formOf(blocking.length, messages.deleteModule.usersCreated), { name })}</p>
        {grouped(blocking).map(({ kind, objects }) => (
          <Kind key={kind} kind={kind} objects={objects} />
        ))}
        <Checkbox
          checked={cascade}
          onChange={(event) => setCascade(event.currentTarget.checked)}
          color="red.9"
          label={fill(formOf(blocking.length, messages.deleteModule.deleteTooBeforeTheModule), { count: blocking.length })}
          description={messages.deleteModule.exactlyObjectsListedHereNone}
        />
      </div>
    </section>
  )
}

function Kind({ kind, objects }: { kind: string; objects: Blocking[] }) {
  return (
    <details open={objects.length <= 25}>
      <summary>
        <strong>{kind}</strong> <span className="dim">({objects.length})</span>
      </summary>
      <ul className="tree">
        {objects.map((one) => (
          <li key={one.uid}>
            <div className="line">
              <span className="mono">{refText(one.ref).slice(kind.length + 1)}</span>
              {one.deleting && <Tag tone="warn">{messages.common.beingDeleted}</Tag>}
              {one.deleting && (one.finalizers ?? []).length > 0 && (
                <span className="dim small">{fill(messages.deleteModule.waitsFor, { finalizers: (one.finalizers ?? []).join(', ') })}</span>
              )}
            </div>
          </li>
        ))}
      </ul>
    </details>
  )
}
