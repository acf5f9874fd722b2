import { expect, it } from 'vitest'
import type { Deed } from '../api'
import { objectsOf } from './objects'

const kyma = 'kcp-system/demo'

it.each<[string, Deed, string, unknown]>([
  ['a pinned version', { kind: 'channel', kyma, module: 'notes', version: '2.0.0' }, '', { kyma, module: 'notes', version: '2.0.0' }],
  ['a channel', { kind: 'channel', kyma, module: 'notes', channel: 'fast' }, '2.1.0', { kyma, module: 'notes', version: '2.1.0' }],
  ['a way back', { kind: 'back', kyma, module: 'notes', target: 'x', version: '1.0.0' }, '', { kyma, module: 'notes', version: '1.0.0' }],
])('compares the objects of %s with what is installed', (_, deed, version, want) => {
  expect(objectsOf(deed, version)).toEqual(want)
})

it.each<Deed>([
  { kind: 'channel', kyma, module: '', channel: 'fast' },
  { kind: 'retry', kyma, module: 'notes' },
  { kind: 'manage', kyma, module: 'notes' },
  { kind: 'unmanage', kyma, module: 'notes' },
  { kind: 'strategy', kyma, module: 'notes', strategy: 'Manual' },
])('says in a sentence what is known of the objects of $kind', (deed) => {
  expect(objectsOf(deed)).toHaveProperty('says')
})

it.each<Deed>([
  { kind: 'delete', kyma, module: 'notes', cascade: false },
  { kind: 'configure', kyma, module: 'notes', object: {} },
  { kind: 'upgrade', items: [] },
])('leaves $kind to the changes that were tried', (deed) => {
  expect(objectsOf(deed)).toBeUndefined()
})
