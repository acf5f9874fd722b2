import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Deed, Preview } from '../api'
import { ask, confirmed, hindrance, sorted, start, staying, takenText, toType, wayText, type Review } from './review'

const deed: Deed = { kind: 'delete', kyma: 'a/b', module: 'm', cascade: false }
const lists = { diff: null, blocking: null, warnings: null, dependents: null, templates: null }
const none: Preview = { way: '', why: '', confirm: '', refused: '', ...lists }
const asked = (...previews: Partial<Preview>[]): Review => ({
  phase: 'asked',
  previews: previews.map((one) => ({ ...none, ...one })),
  operations: [],
})
const ref = { apiVersion: 'v1', kind: 'X', name: 'x' }

afterEach(() => vi.unstubAllGlobals())

describe('what keeps somebody from starting', () => {
  const cases: [string, Review, string, boolean][] = [
    ['nothing does', asked({}), '', false],
    ['the server is still trying', { phase: 'asking', previews: [], operations: [] }, '', true],
    ['it is refused', asked({ refused: 'no' }), '', true],
    ['one of several is refused', asked({}, { refused: 'no' }), '', true],
    ['an object is refused', asked({ diff: [{ object: ref, change: 'Refused', fields: null }] }), '', true],
    ['an object has an error', asked({ diff: [{ object: ref, change: 'Update', fields: null, error: 'invalid' }] }), '', true],
    ['the word was not typed', asked({ confirm: 'keda' }), 'ked', true],
    ['it is gone already', asked({ way: 'Gone' }), '', true],
    ['the word was typed', asked({ confirm: 'keda' }), ' keda ', false],
  ]
  it.each(cases)('%s', (_, review, typed, hindered) => expect(hindrance(review, typed) !== '').toBe(hindered))
})

it('adds what was typed only where it is asked for', () => {
  expect(confirmed(deed, { ...none, confirm: 'm' }, 'm')).toEqual({ ...deed, confirmation: 'm' })
  expect(confirmed(deed, none, 'm')).toEqual(deed)
  expect(toType([none, { ...none, confirm: 'x' }])).toBe('x')
})

it('shows what is refused and deleted first, and only counts what stays', () => {
  const diff = (['Unchanged', 'Create', 'Update', 'Delete', 'Refused'] as const).map((change) => ({ object: ref, change, fields: null }))
  const { changed, unchanged } = sorted(diff)
  expect(changed.map((c) => c.change)).toEqual(['Refused', 'Delete', 'Update', 'Create'])
  expect(unchanged).toBe(1)
})

it('counts what stays in the right number', () => {
  expect(staying(1)).toBe('1 other object would stay as it is.')
  expect(staying(2)).toBe('2 other objects would stay as they are.')
})

it('never says that the lifecycle manager looks after what it is told to leave alone, or to delete', () => {
  for (const kind of ['unmanage', 'delete'] as const) expect(wayText('Kyma', kind)).not.toContain('manages it from then on')
  expect(wayText('Kyma', 'unmanage')).toContain('stops managing it')
  for (const kind of ['add', 'manage'] as const) expect(wayText('Kyma', kind)).toContain('manages it from then on')
})

it('says where a module comes from', () => {
  const taken = { module: 'notes', version: '1.0.0', namespace: '', hub: '', origin: '' }
  expect(takenText({ ...taken, namespace: 'shop' })).toBe('notes 1.0.0 comes from namespace shop of its cluster.')
  expect(takenText({ ...taken, kyma: 'a/b', namespace: 'shop' })).toBe('notes 1.0.0 in a/b comes from namespace shop of its cluster.')
  expect(takenText({ ...taken, hub: 'kcp-system' })).toBe('notes 1.0.0 comes from namespace kcp-system of the hub.')
  expect(takenText({ ...taken, origin: 'https://x/y' })).toBe('notes 1.0.0 comes from the catalog https://x/y.')
  expect(takenText({ ...taken, namespace: 'shop', origin: 'https://x/y' })).toContain('namespace shop of its cluster, and before from the catalog')
})

it('asks without changing anything: previews only', async () => {
  const called = vi.fn(async () => new Response('{"confirm":"m"}'))
  vi.stubGlobal('fetch', called)
  expect(await ask([deed])).toMatchObject({ phase: 'asked', previews: [{ confirm: 'm' }] })
  expect(called.mock.calls.map((call) => (call as unknown[])[0])).toEqual(['/api/v1/previews'])
})

it('keeps what began when a later deed is refused', async () => {
  let n = 0
  vi.stubGlobal(
    'fetch',
    vi.fn(async () =>
      n++ === 0 ? new Response('{"id":"1"}') : new Response('{"error":{"reason":"Refused","message":"no"}}', { status: 409 }),
    ),
  )
  const after = await start([deed, deed], [none, none], '')
  expect(after.phase).toBe('started')
  expect(after.operations).toHaveLength(1)
  expect(after.error?.message).toBe('no')
})
