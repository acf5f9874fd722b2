import { expect, it } from 'vitest'
import { holds, same, stateOf, trimmed, whole } from './trim'

const live = {
  apiVersion: 'v1',
  kind: 'X',
  spec: { a: 1 },
  status: { state: 'Ready' },
  metadata: { name: 'n', labels: { l: '1' }, uid: 'u', resourceVersion: '7', generation: 3, finalizers: ['f'] },
}

it('shows what is the user’s, and nothing that the cluster writes', () => {
  expect(trimmed(live)).toEqual({ apiVersion: 'v1', kind: 'X', spec: { a: 1 }, metadata: { name: 'n', labels: { l: '1' } } })
  expect(trimmed({ kind: 'X', metadata: null })).toEqual({ kind: 'X', metadata: {} })
})

it('puts back finalizers, uid and version, and takes over what was edited', () => {
  const edited = { ...trimmed(live), spec: { a: 2 }, metadata: { name: 'n' } }
  expect(whole(live, edited)).toEqual({
    apiVersion: 'v1',
    kind: 'X',
    spec: { a: 2 },
    metadata: { name: 'n', uid: 'u', resourceVersion: '7', generation: 3, finalizers: ['f'] },
  })
})

it('takes a new status for no change', () => {
  expect(stateOf({ ...live, metadata: { ...live.metadata, resourceVersion: '8' } })).toBe(stateOf(live))
  expect(stateOf({ metadata: { resourceVersion: '8' } })).toBe('8')
  expect(stateOf({})).toBe('')
})

it('knows again what was saved, also when the cluster added to it', () => {
  const saved = { spec: { a: 1, list: [{ b: 2 }], none: null } }
  expect(holds({ spec: { a: 1, list: [{ b: 2, filled: 'in' }], more: true } }, saved)).toBe(true)
  expect(holds({ spec: { a: 2, list: [{ b: 2 }] } }, saved)).toBe(false)
  expect(holds({ spec: { a: 1, list: [{ b: 2 }, { b: 3 }] } }, saved)).toBe(false)
  expect(holds({ spec: { a: 1, list: { 0: { b: 2 } } } }, saved)).toBe(false)
  expect(holds({}, { toString: 'x' })).toBe(false)
  expect(same(live, { ...live })).toBe(true)
  expect(same(live, { ...live, spec: {} })).toBe(false)
})
