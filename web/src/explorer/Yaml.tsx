// An object as YAML: as it is, as the module's version wants it, and where the two differ.
import type { JsonObject, ObjectDetail, WantedObject } from '../api'
import { Checkbox, SegmentedControl } from '@mantine/core'
import { codeOf, Part } from '../app/code'
import { Empty, Notice } from '../parts/basics'
import { Loading } from '../parts/loaded'
import { count, sentence } from '../words'
import { toYaml } from '../yaml/text'
import { Copy } from './Copy'
import { harmless } from './harmless'
import type { ExplorerState, Side } from './state'
import { fill, formOf } from '../fill'
import { messages } from '../messages'

const editor = codeOf(async () => ({ Page: (await import('../yaml/Editor')).Editor }))

const sides: { value: Side; label: string }[] = [
  { value: 'live', label: messages.yaml.live },
  { value: 'wanted', label: messages.yaml.wanted },
  { value: 'difference', label: messages.yaml.difference },
]

export function Yaml({ detail, state }: { detail: ObjectDetail; state: ExplorerState }) {
  return (
    <div className="stack tight">
      <div className="row">
        <SegmentedControl
          size="xs"
          aria-label={messages.yaml.whichStateOfTheObject}
          value={state.side}
          onChange={(side) => state.set({ side: side === 'live' ? undefined : side })}
          data={sides}
        />
        {state.side === 'live' && (
          <Checkbox
            size="xs"
            label={messages.yaml.managedFields}
            checked={state.managed}
            onChange={(event) => state.set({ managed: event.currentTarget.checked ? 'true' : undefined })}
          />
        )}
      </div>
      <Shown detail={detail} side={state.side} />
    </div>
  )
}

function Shown({ detail, side }: { detail: ObjectDetail; side: Side }) {
  if (side === 'live') {
    if (!detail.live) return <Empty title={messages.yaml.nothingToShow}>{sentence(harmless(detail.message ?? ''))}</Empty>
    return (
      <>
        {detail.notes?.map((note, i) => (
          <p key={i} className="dim small flat">
            {sentence(note)}
          </p>
        ))}
        <Text label={messages.yaml.theObjectAsYaml} object={detail.live as JsonObject} />
      </>
    )
  }
  const wanted = detail.wanted
  if (!wanted || wanted.state === 'Reading') return <Loading rows={3} />
  return <Wanted wanted={wanted} side={side} there={detail.live !== null} />
}

function Wanted({ wanted, side, there }: { wanted: WantedObject; side: Side; there: boolean }) {
  if (wanted.state === 'Unreadable')
    return (
      <Notice tone="warn" title={messages.yaml.versionSaysCannotKnownHere}>
        <p>{sentence(harmless(wanted.problem?.message ?? ''))}</p>
        {wanted.problem?.remedy && <p>{sentence(wanted.problem.remedy)}</p>}
      </Notice>
    )
  if (wanted.state === 'None' || !wanted.object)
    return <Empty title={messages.yaml.modulesVersionSaysNothingAbout}>{sentence(harmless(wanted.note ?? ''))}</Empty>
  return (
    <>
      <p className="dim small flat">
        {wanted.version && fill(messages.yaml.versionSaysWithoutMarksLifecycle, { version: harmless(wanted.version) })}
        {wanted.note && sentence(harmless(wanted.note))}
      </p>
      {side === 'wanted' && <Text label={messages.yaml.whatTheVersionSaysAsYaml} object={wanted.object as JsonObject} />}
      {side === 'difference' && <Difference wanted={wanted} there={there} />}
    </>
  )
}

function Text({ label, object }: { label: string; object: JsonObject }) {
  const text = harmless(toYaml(object))
  return (
    <>
      <div className="row">
        <Copy text={text}>{messages.yaml.copyYaml}</Copy>
      </div>
      <Part code={editor}>{(Editor) => <Editor label={label} text={text} readOnly change={nothing} />}</Part>
    </>
  )
}

const nothing = () => undefined

function Difference({ wanted, there }: { wanted: WantedObject; there: boolean }) {
  const fields = wanted.difference
  if (!there || !fields) return <Empty title={messages.yaml.nothingToCompare}>{messages.yaml.objectNotNotRead}</Empty>
  const differing = fields.length + (wanted.more ?? 0)
  if (fields.length === 0) return <Empty title={messages.yaml.noDifference}>{messages.yaml.everyFieldVersionSetsCluster}</Empty>
  return (
    <>
      <p className="flat small">
        {fill(formOf(differing, messages.yaml.fieldsDiffer), {
          fields: count(differing, messages.nouns.field),
        })}
      </p>
      <dl className="diff" aria-label={messages.yaml.difference}>
        {fields.map((field, i) => (
          <div className="field" key={i}>
            <dt className="path" style={{ padding: '3px 12px' }}>
              {harmless(field.path)}
            </dt>
            <dd className="flat from" style={{ margin: 0, padding: '3px 12px' }}>
              <span className="hidden-text">{messages.yaml.wantedWord} </span>− {harmless(field.wanted) || messages.yaml.absent}
            </dd>
            <dd className="flat to" style={{ margin: 0, padding: '3px 12px' }}>
              <span className="hidden-text">{messages.yaml.inTheCluster} </span>+ {harmless(field.live) || messages.yaml.absent}
            </dd>
          </div>
        ))}
      </dl>
      {(wanted.more ?? 0) > 0 && (
        <p className="dim small flat">{fill(messages.yaml.andMore, { fields: count(wanted.more ?? 0, messages.nouns.field) })}</p>
      )}
    </>
  )
}
