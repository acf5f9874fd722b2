// A form for an object of a schema. It shows what a form can show; the rest is named, and is edited as YAML.
import { Fieldset, NativeSelect, NumberInput, Switch, TagsInput, TextInput, Textarea } from '@mantine/core'
import { useMemo } from 'react'
import type { Json, Schema } from '../api'
import { Add, Remove } from './buttons'
import { Pairs } from './Pairs'
import { fieldsOf, get, put, text, type Field, type Mistake } from './schema'
import { fill } from '../fill'
import { messages } from '../messages'

interface Props {
  schema: Schema
  value: Json
  mistakes: Mistake[]
  disabled?: boolean
  change(value: Json): void
}

export function SchemaForm({ schema, value, mistakes, disabled, change }: Props) {
  const fields = useMemo(() => fieldsOf(schema), [schema])
  const set = (path: string[], to: Json | undefined) => change(put(value, path, to) ?? {})
  if (fields.length === 0) return <p className="dim">{messages.schemaForm.nothingFillHere}</p>
  return (
    <div className="stack">
      <Fields fields={fields} inner={{ value, set, mistakes, disabled }} />
    </div>
  )
}

interface Inner {
  value: Json
  set(path: string[], to: Json | undefined): void
  mistakes: Mistake[]
  disabled?: boolean
}

function Fields({ fields, inner }: { fields: Field[]; inner: Inner }) {
  const others = fields.filter((field) => field.kind === 'other')
  return (
    <>
      {fields
        .filter((field) => field.kind !== 'other')
        .map((field) => (
          <One key={field.path.join('.')} field={field} inner={inner} />
        ))}
      {others.length > 0 && (
        <p className="dim small">{fill(messages.schemaForm.onlyInTheYaml, { others: others.map((field) => field.name).join(', ') })}</p>
      )}
    </>
  )
}

function One({ field, inner }: { field: Field; inner: Inner }) {
  const value = get(inner.value, field.path)
  const set = (to: Json | undefined) => inner.set(field.path, to)
  const shared = {
    label: field.label,
    description: field.help,
    withAsterisk: field.required,
    disabled: inner.disabled,
    error: inner.mistakes.find((mistake) => mistake.path === field.path.join('.'))?.message,
  }
  switch (field.kind) {
    case 'switch':
      return (
        <Switch
          label={field.label}
          description={field.help}
          disabled={inner.disabled}
          error={shared.error}
          checked={(value ?? field.fallback ?? false) === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <NativeSelect
          {...shared}
          value={text(value)}
          maw={460}
          onChange={(event) => set(event.currentTarget.value || undefined)}
          data={[
            { value: '', label: field.required ? messages.schemaForm.chooseOne : messages.schemaForm.notSet },
            ...(field.options ?? []).map((o) => ({ value: o, label: o })),
          ]}
        />
      )
    case 'integer':
    case 'number':
      return (
        <NumberInput
          {...shared}
          value={typeof value === 'number' ? value : ''}
          allowDecimal={field.kind === 'number'}
          maw={460}
          placeholder={text(field.fallback)}
          onChange={(to) => set(typeof to === 'number' ? to : undefined)}
        />
      )
    case 'list':
      return <List field={field} shared={shared} value={value} set={set} />
    case 'map':
      return <Pairs field={field} value={value} set={set} disabled={inner.disabled} />
    case 'groups':
      return <Groups field={field} inner={inner} value={value} set={set} />
    case 'group':
      return (
        <Fieldset legend={field.label}>
          {field.help && <p className="dim small">{field.help}</p>}
          <div className="stack">
            <Fields fields={field.fields ?? []} inner={inner} />
          </div>
        </Fieldset>
      )
  }
  return <Line field={field} shared={shared} value={value} set={set} />
}

type Shared = { label: string; description?: string; withAsterisk: boolean; disabled?: boolean; error?: string }
interface OneProps {
  field: Field
  shared: Shared
  value: Json | undefined
  set(to: Json | undefined): void
}

function Line({ field, shared, value, set }: OneProps) {
  const asInt = field.schema['x-kubernetes-int-or-string']
  const say = (to: string) => set(to === '' ? undefined : asInt && /^-?\d{1,15}$/.test(to) ? Number(to) : to)
  const long = text(value).includes('\n')
  const own = { ...shared, value: text(value), placeholder: text(field.fallback), maw: 460, spellCheck: false }
  return long ? (
    <Textarea {...own} autosize maxRows={12} onChange={(event) => say(event.currentTarget.value)} />
  ) : (
    <TextInput {...own} onChange={(event) => say(event.currentTarget.value)} />
  )
}

function List({ field, shared, value, set }: OneProps) {
  const items = Array.isArray(value) ? value.map(text) : []
  const numbers = field.schema.items?.type !== 'string'
  const take = (to: string[]) => {
    const made = numbers ? to.map(Number).filter((n) => Number.isFinite(n)) : to
    set(made.length > 0 ? made : undefined)
  }
  return (
    <TagsInput
      {...shared}
      value={items}
      onChange={take}
      data={(field.schema.items?.enum ?? []).map(String)}
      maw={460}
      placeholder={messages.schemaForm.typeThenEnter}
    />
  )
}

function Groups({ field, inner, value, set }: { field: Field; inner: Inner; value: Json | undefined; set(to: Json | undefined): void }) {
  const items = Array.isArray(value) ? value : []
  const schema = field.schema.items ?? {}
  return (
    <Fieldset legend={field.label}>
      {field.help && <p className="dim small">{field.help}</p>}
      <div className="stack">
        {items.map((_, i) => (
          <Fieldset key={i} legend={`${field.label} ${i + 1}`} variant="filled">
            <div className="stack tight">
              <Fields fields={fieldsOf(schema, [...field.path, String(i)])} inner={inner} />
              <Remove
                label={fill(messages.schemaForm.removeNumber, { label: field.label, number: i + 1 })}
                disabled={inner.disabled}
                onClick={() => {
                  const left = items.filter((_item, j) => j !== i)
                  set(left.length > 0 ? left : undefined)
                }}
              />
            </div>
          </Fieldset>
        ))}
        <Add disabled={inner.disabled} onClick={() => set([...items, {}])} />
      </div>
    </Fieldset>
  )
}
