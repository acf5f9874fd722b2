// What a form of an OpenAPI schema looks like, and whether what was filled in fits. Pure; the server checks everything again.
// Schemas come from modules and are hostile: nothing of them is run (patterns neither: a bad one could take forever), depth and number are
// bounded, and names that JavaScript gives a meaning to are left to the YAML editor.
import type { Json, JsonObject, Schema } from '../api'
import { fill } from '../fill'
import { messages } from '../messages'

export type FieldKind = 'text' | 'number' | 'integer' | 'switch' | 'choice' | 'group' | 'list' | 'groups' | 'map' | 'other'

export interface Field {
  name: string
  path: string[]
  kind: FieldKind
  label: string
  help?: string
  required: boolean
  schema: Schema
  options?: string[]
  /** fields of a group. */
  fields?: Field[]
  fallback?: Json
}

const mostDepth = 6
const mostFields = 400
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/** fieldsOf are the fields of an object's schema, the required ones first. */
export function fieldsOf(schema: Schema, path: string[] = [], budget = { left: mostFields }): Field[] {
  const required = new Set(schema.required ?? [])
  const fields: Field[] = []
  for (const name of Object.keys(schema.properties ?? {})) {
    const own = schema.properties?.[name]
    if (!own || forbidden.has(name) || budget.left <= 0) continue
    budget.left--
    fields.push(fieldOf(name, own, required.has(name), [...path, name], budget))
  }
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)]
}

function fieldOf(name: string, schema: Schema, required: boolean, path: string[], budget: { left: number }): Field {
  const kind = kindOf(schema, path.length)
  const field: Field = {
    name,
    path,
    kind,
    label: schema.title || labelOf(name),
    help: helpOf(schema),
    required,
    schema,
    fallback: schema.default,
  }
  if (kind === 'choice') field.options = (schema.enum ?? []).map(String)
  if (kind === 'group') field.fields = fieldsOf(schema, path, budget)
  return field
}

const scalars = new Set(['string', 'integer', 'number', 'boolean'])

/** kindOf says which kind of field a schema makes; what is too much for a form is 'other', and stands in the YAML. */
export function kindOf(schema: Schema, depth = 0): FieldKind {
  if (schema['x-kubernetes-preserve-unknown-fields'] || depth > mostDepth) return 'other'
  if (schema['x-kubernetes-int-or-string']) return 'text'
  if (schema.enum && schema.enum.length > 0 && schema.enum.every((value) => typeof value === 'string')) return 'choice'
  switch (schema.type) {
    case 'string':
      return 'text'
    case 'integer':
      return 'integer'
    case 'number':
      return 'number'
    case 'boolean':
      return 'switch'
    case 'array':
      return kindOfList(schema.items ?? {})
    case 'object':
      return kindOfObject(schema)
  }
  return 'other'
}

function kindOfList(items: Schema): FieldKind {
  if (scalars.has(items.type ?? '') && items.type !== 'boolean') return 'list'
  return items.type === 'object' && Object.keys(items.properties ?? {}).length > 0 ? 'groups' : 'other'
}

function kindOfObject(schema: Schema): FieldKind {
  if (Object.keys(schema.properties ?? {}).length > 0) return 'group'
  return typeof schema.additionalProperties === 'object' && schema.additionalProperties.type === 'string' ? 'map' : 'other'
}

/** labelOf makes words of a name: maxLogSize becomes "Max log size". */
export function labelOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
  const small = words
    .split(' ')
    .map((word) => (/^[A-Z0-9]+$/.test(word) ? word : word.toLowerCase()))
    .join(' ')
  return small.charAt(0).toUpperCase() + small.slice(1)
}

function helpOf(schema: Schema): string | undefined {
  const hints: string[] = []
  if (schema.description) hints.push(schema.description.length > 400 ? schema.description.slice(0, 400) + '…' : schema.description)
  if (schema.minimum !== undefined && schema.maximum !== undefined)
    hints.push(fill(messages.schema.range, { minimum: schema.minimum, maximum: schema.maximum }))
  if (schema.default !== undefined && typeof schema.default !== 'object')
    hints.push(fill(messages.schema.default, { value: String(schema.default) }))
  return hints.length > 0 ? hints.join(' ') : undefined
}

/** text is a value as a field shows it. */
export function text(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** get reads a value at a path. */
export function get(value: Json | undefined, path: string[]): Json | undefined {
  let at: Json | undefined = value
  for (const name of path) {
    if (at === null || typeof at !== 'object') return undefined
    at = Array.isArray(at) ? at[Number(name)] : Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}

/** put returns a copy with a value at a path. undefined takes it away, with what becomes empty by that: at last everything. */
export function put(value: Json | undefined, path: string[], to: Json | undefined): Json | undefined {
  const [name, ...rest] = path
  if (name === undefined) return to
  if (forbidden.has(name)) return value
  // An item that becomes empty stays in its place: null would be no item, and the ones after it would move up.
  if (Array.isArray(value)) return value.map((one, i) => (i === Number(name) ? (put(one, rest, to) ?? (rest.length > 0 ? {} : null)) : one))
  const copy: JsonObject = value !== null && typeof value === 'object' ? { ...value } : {}
  const inner = put(Object.hasOwn(copy, name) ? copy[name] : undefined, rest, to)
  if (inner === undefined) Reflect.deleteProperty(copy, name)
  else copy[name] = inner
  return Object.keys(copy).length > 0 ? copy : undefined
}

export interface Mistake {
  path: string
  message: string
}

/** mistakesOf says what does not fit the schema, so far as a form can tell. */
export function mistakesOf(value: Json | undefined, schema: Schema, path: string[] = []): Mistake[] {
  const where = path.join('.')
  const wrong = (message: string): Mistake[] => [{ path: where, message }]
  if (value === undefined || value === null) return []
  if (path.length > 2 * mostDepth || free(schema)) return []
  if (schema.enum && !schema.enum.some((one) => JSON.stringify(one) === JSON.stringify(value))) {
    return wrong(fill(messages.schema.oneOf, { values: schema.enum.map(String).join(', ') }))
  }
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' ? lengthOf(value, schema, wrong) : wrong(messages.schema.string)
    case 'integer':
    case 'number':
      return typeof value === 'number' ? rangeOf(value, schema, wrong) : wrong(messages.schema.number)
    case 'boolean':
      return typeof value === 'boolean' ? [] : wrong(messages.schema.boolean)
    case 'array':
      return Array.isArray(value) ? itemsOf(value, schema, path, wrong) : wrong(messages.schema.array)
    case 'object':
      return typeof value === 'object' && !Array.isArray(value) ? partsOf(value, schema, path) : wrong(messages.schema.object)
  }
  return []
}

/** free says that more fits than a form can tell. */
function free(schema: Schema): boolean {
  return Boolean(schema['x-kubernetes-preserve-unknown-fields'] ?? schema['x-kubernetes-int-or-string'])
}

type Wrong = (message: string) => Mistake[]

function lengthOf(value: string, schema: Schema, wrong: Wrong): Mistake[] {
  if (schema.minLength !== undefined && value.length < schema.minLength)
    return wrong(fill(messages.schema.minLength, { least: schema.minLength }))
  if (schema.maxLength !== undefined && value.length > schema.maxLength)
    return wrong(fill(messages.schema.maxLength, { most: schema.maxLength }))
  return []
}

function rangeOf(value: number, schema: Schema, wrong: Wrong): Mistake[] {
  if (!Number.isFinite(value)) return wrong(messages.schema.number)
  if (schema.type === 'integer' && !Number.isInteger(value)) return wrong(messages.schema.integer)
  if (schema.minimum !== undefined && value < schema.minimum) return wrong(fill(messages.schema.minimum, { least: schema.minimum }))
  if (schema.maximum !== undefined && value > schema.maximum) return wrong(fill(messages.schema.maximum, { most: schema.maximum }))
  return []
}

function itemsOf(value: Json[], schema: Schema, path: string[], wrong: Wrong): Mistake[] {
  if (schema.minItems !== undefined && value.length < schema.minItems)
    return wrong(fill(messages.schema.minItems, { least: schema.minItems }))
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    return wrong(fill(messages.schema.maxItems, { most: schema.maxItems }))
  const items = schema.items
  if (!items) return []
  return value.flatMap((one, i) => {
    const where = [...path, String(i)]
    const lacking = one === null && items.type && !items.nullable // without a type, nothing may be what fits
    return lacking ? [{ path: where.join('.'), message: messages.schema.empty }] : mistakesOf(one, items, where)
  })
}

/** lacks says that a needed part is not there, or is there and empty. */
function lacks(value: JsonObject, name: string, schema: Schema | undefined): boolean {
  const own = Object.hasOwn(value, name) ? value[name] : undefined
  return own === undefined || own === '' || (own === null && !schema?.nullable)
}

function partsOf(value: JsonObject, schema: Schema, path: string[]): Mistake[] {
  const missing = (schema.required ?? []).filter((name) => lacks(value, name, schema.properties?.[name]))
  const mistakes: Mistake[] = missing.map((name) => ({ path: [...path, name].join('.'), message: messages.schema.required }))
  for (const name of Object.keys(schema.properties ?? {})) {
    const own = schema.properties?.[name]
    if (own && Object.hasOwn(value, name) && !missing.includes(name)) mistakes.push(...mistakesOf(value[name], own, [...path, name]))
  }
  return mistakes
}
