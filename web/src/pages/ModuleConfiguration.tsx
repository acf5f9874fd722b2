// The configuration of a module: its own custom resource, as a form or as YAML.
import { useEffect, useState } from 'react'
import type { Deed, JsonObject, ModuleDetail, Resource } from '../api'
import { codeOf, Part } from '../app/code'
import { useDrafts } from '../app/drafts'
import { kept, useDirty } from '../app/leaving'
import { DeedModal } from '../deeds/DeedModal'
import { resourceQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { Empty, Notice } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { sentence } from '../words'
import type { Edit } from '../yaml/Configure'
import { holds, same, stateOf, trimmed, whole } from '../yaml/trim'
import { fill } from '../fill'
import { messages } from '../messages'

const configure = codeOf(async () => ({ Page: (await import('../yaml/Configure')).Configure }))

export function ConfigurationTab({ data, path }: { data: ModuleDetail; path: string }) {
  const answer = useLive(resourceQuery(data.module.kyma ?? '', data.module.name))
  return <Loaded answer={answer}>{(resource) => <Body data={data} resource={resource} draft={path} />}</Loaded>
}

/** Draft is an edit that has begun and is not saved: what it began from, and what is typed. */
interface Draft {
  begun: JsonObject
  edit: Edit
}

/** useEdit is an unsaved edit: it outlives other pages. It may hold secrets and is not stored, so that the browser asks before a reload. */
function useEdit(name: string) {
  const drafts = useDrafts()
  const [draft, setDraft] = useState(() => drafts.get<Draft>(name))
  useEffect(() => {
    if (draft) drafts.keep(name, draft)
    else drafts.forget(name)
  }, [drafts, name, draft])
  useDirty(draft !== undefined, kept)
  return { draft, keep: setDraft, forget: () => setDraft(undefined) }
}

/** untouched says that no edit has begun: there was nothing yet, or it is a suggestion as it was made. */
const untouched = (begun: JsonObject | null | undefined, touched: boolean) => !begun || (stateOf(begun) === '' && !touched)

/** useBegun is what a user edits: it stays as it was when the edit began, until what changed meanwhile is taken over, or it is saved. */
function useBegun(resource: Resource, editable: boolean, looking: boolean, name: string) {
  const now = resource.object ?? resource.default
  const { draft, keep, forget } = useEdit(name)
  const [begun, setBegun] = useState(draft?.begun ?? now)
  const [open, setOpen] = useState(editable)
  const [touched, setTouched] = useState(draft !== undefined)
  const [edition, setEdition] = useState(0) // the form begins again with each
  const [saved, setSaved] = useState<JsonObject>()
  const moved = Boolean(resource.object && begun && stateOf(resource.object) !== stateOf(begun))
  if (now && now !== begun && (!open || untouched(begun, touched || looking))) setBegun(now)
  if (editable && !open) setOpen(true)
  // The first change after a save is the saved one only when it has all of it: a save can fail, and then another client made the change.
  if (moved && saved && now && !looking) {
    setSaved(undefined)
    if (holds(trimmed(now), trimmed(saved))) setBegun(now)
  }
  const takeOver = () => {
    setSaved(undefined)
    setBegun(now)
    setEdition(edition + 1)
    forget()
  }
  const touch = (edit: Edit) => {
    setTouched(true)
    setSaved(undefined) // what is typed after a save is not in it: the form stays
    if (begun) keep({ begun, edit })
  }
  const save = (object: JsonObject) => {
    const idle = begun && stateOf(begun) !== '' && same(trimmed(begun), trimmed(object)) // nothing comes of it
    setSaved(idle ? undefined : object)
    forget()
  }
  return { now, begun, edit: draft?.edit, edition, moved, takeOver, touch, save }
}

function Body({ data, resource, draft }: { data: ModuleDetail; resource: Resource; draft: string }) {
  const { module: m, access } = data
  const [deed, setDeed] = useState<Extract<Deed, { kind: 'configure' }> | null>(null)
  const editable = resource.editable && access.edit
  const { now, begun, edit, edition, moved, takeOver, touch, save } = useBegun(resource, editable, deed !== null, draft)
  if (!now || !begun) {
    return (
      <div className="card">
        <Empty title={messages.moduleConfiguration.nothingToConfigure}>
          {sentence(resource.reason) || messages.moduleConfiguration.moduleNoCustomResourceOwn}
        </Empty>
      </div>
    )
  }
  return (
    <div className="stack">
      {!editable && (
        <Notice>
          <p>{sentence(resource.reason) || messages.moduleConfiguration.lookConfigurationNotChange}</p>
        </Notice>
      )}
      {!resource.object && editable && (
        <Notice tone="busy">
          <p>{messages.moduleConfiguration.noConfigurationYetModuleSuggests}</p>
        </Notice>
      )}
      {m.policy === 'CreateAndDelete' && editable && (
        <p className="dim small flat">
          {m.kyma ? messages.moduleConfiguration.managerMadeIt : messages.moduleConfiguration.cameWithTheModule}
        </p>
      )}
      {moved && (
        <Notice tone="warn">
          <p>
            {messages.moduleConfiguration.itWasChangedMeanwhile}{' '}
            <button type="button" className="linklike" onClick={takeOver}>
              {messages.moduleConfiguration.takeOverWhatIsThereNow}
            </button>
          </p>
        </Notice>
      )}
      <div className="card pad">
        <Part code={configure}>
          {(Configure) => (
            <Configure
              key={`${edition} ${stateOf(begun)}`}
              start={trimmed(begun)}
              edit={edit}
              fallback={resource.default}
              schema={resource.schema}
              readOnly={!editable}
              verb={messages.common.seeWhatWouldChange}
              changed={touch}
              done={(object) => setDeed({ kind: 'configure', kyma: m.kyma ?? '', module: m.name, object: whole(begun, object) })}
            />
          )}
        </Part>
        {edit && !moved && (
          <p className="dim small">
            {messages.moduleConfiguration.changesNotSavedYetStay}{' '}
            <button type="button" className="linklike" onClick={takeOver}>
              {messages.moduleConfiguration.discardThem}
            </button>
          </p>
        )}
      </div>
      <DeedModal
        title={fill(messages.moduleConfiguration.configureName, { name: m.name })}
        verb={messages.moduleConfiguration.save}
        deed={deed}
        close={() => setDeed(null)}
        started={() => deed && save(deed.object as JsonObject)}
      />
    </div>
  )
}
