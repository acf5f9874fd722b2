// The configuration of a module: its own custom resource, as a form or as YAML.
import { useState } from 'react'
import type { Deed, JsonObject, ModuleDetail, Resource } from '../api'
import { codeOf, Part } from '../app/code'
import { DeedModal } from '../deeds/DeedModal'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Empty, Notice } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { sentence } from '../words'
import { holds, same, stateOf, trimmed, whole } from '../yaml/trim'

const configure = codeOf(async () => ({ Page: (await import('../yaml/Configure')).Configure }))

export function ConfigurationTab({ data, path }: { data: ModuleDetail; path: string }) {
  const answer = useLive<Resource>(query(path + '/resource'))
  return <Loaded answer={answer}>{(resource) => <Body data={data} resource={resource} />}</Loaded>
}

/** useBegun is what somebody edits: it stays as it was when they began, until they take over what changed meanwhile, or saved it. */
function useBegun(resource: Resource, editable: boolean, looking: boolean) {
  const now = resource.object ?? resource.default
  const [begun, setBegun] = useState(now)
  const [open, setOpen] = useState(editable)
  const [touched, setTouched] = useState(false)
  const [saved, setSaved] = useState<JsonObject>()
  const suggested = begun && stateOf(begun) === '' && !touched && !looking
  const moved = Boolean(resource.object && begun && stateOf(resource.object) !== stateOf(begun))
  // Nobody has begun: there was nothing yet, or one could not change it yet, or it is a suggestion as it was made.
  if (now && now !== begun && (!begun || !open || suggested)) setBegun(now)
  if (editable && !open) setOpen(true)
  // The first change after a save is the saved one only when it has all of it: a save can fail, and then somebody else made the change.
  if (moved && saved && now && !looking) {
    setSaved(undefined)
    if (holds(trimmed(now), trimmed(saved))) setBegun(now)
  }
  const takeOver = () => {
    setSaved(undefined)
    setBegun(now)
  }
  const touch = () => {
    setTouched(true)
    setSaved(undefined) // what is typed after a save is not in it: the form stays
  }
  const save = (object: JsonObject) => {
    const idle = begun && stateOf(begun) !== '' && same(trimmed(begun), trimmed(object)) // nothing comes of it
    setSaved(idle ? undefined : object)
  }
  return { now, begun, moved, takeOver, touch, save }
}

function Body({ data, resource }: { data: ModuleDetail; resource: Resource }) {
  const { module: m, access } = data
  const [deed, setDeed] = useState<Extract<Deed, { kind: 'configure' }> | null>(null)
  const editable = resource.editable && access.edit
  const { now, begun, moved, takeOver, touch, save } = useBegun(resource, editable, deed !== null)
  if (!now || !begun) {
    return (
      <div className="card">
        <Empty title="Nothing to configure">{sentence(resource.reason) || 'This module has no custom resource of its own.'}</Empty>
      </div>
    )
  }
  return (
    <div className="stack">
      {!editable && (
        <Notice>
          <p>{sentence(resource.reason) || 'You may look at the configuration, and not change it.'}</p>
        </Notice>
      )}
      {!resource.object && editable && (
        <Notice tone="busy">
          <p>There is no configuration yet. This is what the module suggests: change it as you like, and save it.</p>
        </Notice>
      )}
      {m.policy === 'CreateAndDelete' && editable && (
        <p className="dim small flat">
          {m.kyma
            ? 'The lifecycle manager made this configuration and deletes it with the module.'
            : 'This configuration came with the module and is deleted with it.'}{' '}
          What you change here stays.
        </p>
      )}
      {moved && (
        <Notice tone="warn">
          <p>
            Somebody changed it meanwhile.{' '}
            <button type="button" className="linklike" onClick={takeOver}>
              Take over what is there now
            </button>
          </p>
        </Notice>
      )}
      <div className="card pad">
        <Part code={configure}>
          {(Configure) => (
            <Configure
              key={stateOf(begun)}
              start={trimmed(begun)}
              fallback={resource.default}
              schema={resource.schema}
              readOnly={!editable}
              verb="See what would change"
              changed={touch}
              done={(object) => setDeed({ kind: 'configure', kyma: m.kyma ?? '', module: m.name, object: whole(begun, object) })}
            />
          )}
        </Part>
      </div>
      <DeedModal
        title={`Configure ${m.name}`}
        verb="Save"
        deed={deed}
        close={() => setDeed(null)}
        started={() => deed && save(deed.object)}
      />
    </div>
  )
}
