import { describe, expect, it } from 'vitest'
import type { Schema } from '../api'
import { fieldsOf, get, kindOf, labelOf, mistakesOf, put } from './schema'

describe('which field a schema makes', () => {
  const cases: [string, Schema, string][] = [
    ['text for a string', { type: 'string' }, 'text'],
    ['a choice for words', { type: 'string', enum: ['a', 'b'] }, 'choice'],
    ['a whole number', { type: 'integer' }, 'integer'],
    ['a switch for yes and no', { type: 'boolean' }, 'switch'],
    ['a list of words', { type: 'array', items: { type: 'string' } }, 'list'],
    ['groups for a list of objects', { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }, 'groups'],
    ['pairs for a map of words', { type: 'object', additionalProperties: { type: 'string' } }, 'map'],
    ['a group for an object', { type: 'object', properties: { a: { type: 'string' } } }, 'group'],
    ['text for a number or a word', { 'x-kubernetes-int-or-string': true }, 'text'],
    ['nothing where anything may stand', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'other'],
    ['nothing for a schema without type', {}, 'other'],
    ['nothing for a list of lists', { type: 'array', items: { type: 'array', items: { type: 'string' } } }, 'other'],
  ]
  it.each(cases)('%s', (_, schema, kind) => expect(kindOf(schema)).toBe(kind))
})

it('puts required fields first, and leaves out names that JavaScript gives a meaning', () => {
  const properties = JSON.parse(
    '{"b":{"type":"string"},"a":{"type":"string"},"__proto__":{"type":"string"},"constructor":{"type":"string"}}',
  )
  expect(fieldsOf({ type: 'object', required: ['a'], properties }).map((field) => field.name)).toEqual(['a', 'b'])
})

it('ends with a schema that is deep or wide beyond sense', () => {
  let deep: Schema = { type: 'string' }
  for (let i = 0; i < 200; i++) deep = { type: 'object', properties: { x: deep } }
  expect(JSON.stringify(fieldsOf(deep)).length).toBeLessThan(200_000)
  const wide: Schema = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ['f' + i, { type: 'string' }])),
  }
  expect(fieldsOf(wide)).toHaveLength(400)
})

it('makes words of names', () => {
  expect(['maxLogSize', 'enableTLS', 'http_port', 'URLPrefix'].map(labelOf)).toEqual([
    'Max log size',
    'Enable TLS',
    'Http port',
    'URL prefix',
  ])
})

describe('values at paths', () => {
  it('reads and writes without touching the old value', () => {
    const old = { a: { b: 1 }, c: [1, 2] }
    expect(put(old, ['a', 'b'], 2)).toEqual({ a: { b: 2 }, c: [1, 2] })
    expect(put(old, ['c', '1'], 9)).toEqual({ a: { b: 1 }, c: [1, 9] })
    expect(old).toEqual({ a: { b: 1 }, c: [1, 2] })
    expect(get(old, ['a', 'b'])).toBe(1)
    expect(get(old, ['a', 'x', 'y'])).toBeUndefined()
  })
  it('takes away what becomes empty', () => {
    expect(put({ a: { b: 1 }, c: 1 }, ['a', 'b'], undefined)).toEqual({ c: 1 })
  })
  it('leaves an item of a list in its place when its only field is emptied', () => {
    expect(put({ list: [{ a: 1 }, { a: 2 }] }, ['list', '0', 'a'], undefined)).toEqual({ list: [{}, { a: 2 }] })
  })
  it('does not write to the prototype, and does not read from it', () => {
    put({}, ['__proto__', 'hacked'], true)
    expect(({} as Record<string, unknown>)['hacked']).toBeUndefined()
    expect(get({}, ['toString'])).toBeUndefined()
  })
})

describe('what does not fit', () => {
  const schema: Schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 2, pattern: '^(a+)+$' },
      n: { type: 'integer', minimum: 1, maximum: 3 },
      kind: { type: 'string', enum: ['x', 'y'] },
      list: { type: 'array', maxItems: 1, items: { type: 'integer' } },
      any: { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } },
      groups: { type: 'array', items: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } } },
    },
  }
  const cases: [string, unknown, string[]][] = [
    ['nothing is wrong', { name: 'ab', n: 2, kind: 'x', list: [1] }, []],
    ['a needed field is missing', {}, ['name']],
    ['a needed field is empty', { name: '' }, ['name']],
    ['a text is too short', { name: 'a' }, ['name']],
    ['a number is too high', { name: 'ab', n: 4 }, ['n']],
    ['a number is not whole', { name: 'ab', n: 1.5 }, ['n']],
    ['a word is not one of those', { name: 'ab', kind: 'z' }, ['kind']],
    ['a list is too long', { name: 'ab', list: [1, 2] }, ['list']],
    ['a list holds something else', { name: 'ab', list: ['x'] }, ['list.0']],
    ['a list holds nothing', { name: 'ab', list: [null] }, ['list.0']],
    ['nothing is wrong in a list of whatever fits', { name: 'ab', any: [null] }, []],
    ['a needed field is null', { name: null }, ['name']],
    ['a needed field of an item is missing', { name: 'ab', groups: [{}] }, ['groups.0.a']],
    ['a pattern is the server’s to check: it could take for ever', { name: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' }, []],
  ]
  it.each(cases)('%s', (_, value, paths) => expect(mistakesOf(value as never, schema).map((mistake) => mistake.path)).toEqual(paths))
})
