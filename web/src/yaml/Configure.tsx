// Configure an object as a form or as YAML: both show the same, and one can change between them at any time.
import { Button, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import type { Json, JsonObject, Schema } from '../api'
import { codeOf, Part } from '../app/code'
import { mistakesOf, type Mistake } from '../form/schema'
import { SchemaForm } from '../form/SchemaForm'
import { Notice } from '../parts/basics'
import { fromYaml, toYaml } from './text'
import { fill } from '../fill'
import { messages } from '../messages'

const editor = codeOf(async () => ({ Page: (await import('./Editor')).Editor }))

/** Edit is what a user has typed: as a form, and as text, which may not parse yet. */
export interface Edit {
  object: JsonObject
  text: string
  mode: string
}

interface Props {
  start: JsonObject
  /** edit is one that was left and continues. */
  edit?: Edit
  fallback?: JsonObject | null
  schema: Schema | null
  readOnly?: boolean
  /** done gets the object when it is good. */
  verb: string
  done(object: JsonObject): void
  /** changed is called at every change that a user makes. */
  changed?: (edit: Edit) => void
  cancel?: () => void
}

/** specOf is the part of a schema that users fill in: names and status are not theirs. */
export function specOf(schema: Schema | null): Schema | null {
  const spec = schema?.properties?.['spec']
  return spec && Object.keys(spec.properties ?? {}).length > 0 ? spec : null
}

export function Configure({ start, edit, fallback, schema, readOnly, verb, done, changed, cancel }: Props) {
  const spec = specOf(schema)
  const [now, setNow] = useState<Edit>(() => edit ?? { object: start, text: toYaml(start), mode: spec ? 'form' : 'yaml' })
  const { object, text, mode } = now
  const [tried, setTried] = useState(false)
  const parsed = mode === 'yaml' ? fromYaml(text) : { value: object }
  const mistakes: Mistake[] = 'value' in parsed && schema ? mistakesOf(parsed.value['spec'] ?? {}, spec ?? {}) : []
  const change = (to: string) => {
    if (to === 'yaml') setNow({ object, text: toYaml(object), mode: to })
    else if ('value' in parsed) setNow({ object: parsed.value, text, mode: to })
  }
  const finish = () => {
    setTried(true)
    if ('value' in parsed && mistakes.length === 0) done(parsed.value)
  }
  const type = (typed: Partial<Edit>) => {
    const to = { ...now, ...typed }
    setNow(to)
    changed?.(to)
  }
  const reset = (to: JsonObject) => type({ object: to, text: toYaml(to) })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        finish()
      }}
    >
      <div className="row between">
        {spec && (
          <SegmentedControl
            value={mode}
            onChange={change}
            aria-label={messages.configure.howToEdit}
            disabled={'error' in parsed}
            data={[
              { value: 'form', label: messages.configure.form },
              { value: 'yaml', label: messages.common.yaml },
            ]}
          />
        )}
        {fallback && !readOnly && (
          <Button variant="subtle" size="compact-sm" onClick={() => reset({ ...start, spec: fallback['spec'] })}>
            {messages.common.asTheModuleSuggests}
          </Button>
        )}
      </div>
      {mode === 'form' && spec ? (
        <SchemaForm
          schema={spec}
          value={object['spec'] ?? {}}
          mistakes={tried ? mistakes : []}
          disabled={readOnly}
          change={(value: Json) => type({ object: { ...object, spec: value } })}
        />
      ) : (
        <Part code={editor}>
          {(Editor) => (
            <Editor label={messages.configure.theConfigurationAsYaml} text={text} readOnly={readOnly} change={(to) => type({ text: to })} />
          )}
        </Part>
      )}
      <Wrong parsed={parsed} mistakes={tried || mode === 'yaml' ? mistakes : []} />
      {!readOnly && (
        <div className="row">
          <Button type="submit" disabled={'error' in parsed}>
            {verb}
          </Button>
          {cancel && (
            <Button variant="default" onClick={cancel}>
              {messages.common.cancel}
            </Button>
          )}
        </div>
      )}
    </form>
  )
}

function Wrong({ parsed, mistakes }: { parsed: ReturnType<typeof fromYaml>; mistakes: Mistake[] }) {
  if ('error' in parsed) {
    return (
      <Notice
        tone="bad"
        title={parsed.line ? fill(messages.configure.lineCannotBeRead, { line: parsed.line }) : messages.configure.thisCannotBeRead}
      >
        <p>{parsed.error}</p>
      </Notice>
    )
  }
  if (mistakes.length === 0) return null
  return (
    <Notice tone="bad" title={messages.configure.thisDoesNotFitYet}>
      <ul>
        {mistakes.slice(0, 8).map((mistake, i) => (
          <li key={i}>
            <span className="mono">{mistake.path || messages.configure.spec}</span>: {mistake.message}
          </li>
        ))}
      </ul>
    </Notice>
  )
}
