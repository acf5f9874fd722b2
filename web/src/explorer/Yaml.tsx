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

const editor = codeOf(async () => ({ Page: (await import('../yaml/Editor')).Editor }))

const sides: { value: Side; label: string }[] = [
  { value: 'live', label: 'Live' },
  { value: 'wanted', label: 'Wanted' },
  { value: 'difference', label: 'Difference' },
]

export function Yaml({ detail, state }: { detail: ObjectDetail; state: ExplorerState }) {
  return (
    <div className="stack tight">
      <div className="row">
        <SegmentedControl
          size="xs"
          aria-label="Which state of the object"
          value={state.side}
          onChange={(side) => state.set({ side: side === 'live' ? undefined : side })}
          data={sides}
        />
        {state.side === 'live' && (
          <Checkbox
            size="xs"
            label="Managed fields"
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
    if (!detail.live) return <Empty title="Nothing to show">{sentence(harmless(detail.message ?? ''))}</Empty>
    return (
      <>
        {detail.notes?.map((note, i) => (
          <p key={i} className="dim small flat">
            {sentence(note)}
          </p>
        ))}
        <Text label="The object as YAML" object={detail.live as JsonObject} />
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
      <Notice tone="warn" title="What the version says cannot be known from here">
        <p>{sentence(harmless(wanted.problem?.message ?? ''))}</p>
        {wanted.problem?.remedy && <p>{sentence(wanted.problem.remedy)}</p>}
      </Notice>
    )
  if (wanted.state === 'None' || !wanted.object)
    return <Empty title="The module's version says nothing about it">{sentence(harmless(wanted.note ?? ''))}</Empty>
  return (
    <>
      <p className="dim small flat">
        {wanted.version && `As version ${harmless(wanted.version)} says, without the marks that the lifecycle manager adds. `}
        {wanted.note && sentence(harmless(wanted.note))}
      </p>
      {side === 'wanted' && <Text label="What the version says as YAML" object={wanted.object as JsonObject} />}
      {side === 'difference' && <Difference wanted={wanted} there={there} />}
    </>
  )
}

function Text({ label, object }: { label: string; object: JsonObject }) {
  const text = harmless(toYaml(object))
  return (
    <>
      <div className="row">
        <Copy text={text}>Copy YAML</Copy>
      </div>
      <Part code={editor}>{(Editor) => <Editor label={label} text={text} readOnly change={nothing} />}</Part>
    </>
  )
}

const nothing = () => undefined

function Difference({ wanted, there }: { wanted: WantedObject; there: boolean }) {
  const fields = wanted.difference
  if (!there || !fields) return <Empty title="Nothing to compare">The object is not there, or may not be read.</Empty>
  if (fields.length === 0)
    return <Empty title="No difference">Every field that the version sets is in the cluster as it says.</Empty>
  return (
    <>
      <p className="flat small">
        {count(fields.length + (wanted.more ?? 0), 'field')} that the version sets {fields.length === 1 ? 'is' : 'are'} another in the
        cluster: − as the version says, + as it is. What others add is left out.
      </p>
      <dl className="diff" aria-label="Difference">
        {fields.map((field, i) => (
          <div className="field" key={i}>
            <dt className="path" style={{ padding: '3px 12px' }}>
              {harmless(field.path)}
            </dt>
            <dd className="flat from" style={{ margin: 0, padding: '3px 12px' }}>
              <span className="hidden-text">wanted: </span>− {harmless(field.wanted) || '(absent)'}
            </dd>
            <dd className="flat to" style={{ margin: 0, padding: '3px 12px' }}>
              <span className="hidden-text">in the cluster: </span>+ {harmless(field.live) || '(absent)'}
            </dd>
          </div>
        ))}
      </dl>
      {(wanted.more ?? 0) > 0 && <p className="dim small flat">And {count(wanted.more ?? 0, 'field')} more.</p>}
    </>
  )
}
