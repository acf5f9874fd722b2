import { expect, it } from 'vitest'
import type { Blocking } from '../api'
import { deletionOf, grouped, previewedOf } from './deletion'

const one = (kind: string, name: string, uid: string): Blocking => ({
  ref: { apiVersion: 'v1', kind, namespace: 'shop', name },
  uid,
  deleting: false,
  finalizers: null,
})
const blocking = [one('Greeting', 'a', '1'), one('Letter', 'b', '2'), one('Greeting', 'c', '3')]

it('deletes nothing along unless somebody chose so', () => {
  expect(deletionOf('a/b', 'm', false, previewedOf(blocking))).toEqual({ kind: 'delete', kyma: 'a/b', module: 'm', cascade: false })
  expect(deletionOf('a/b', 'm', true, [])).toMatchObject({ cascade: false })
})

it('deletes along exactly what was seen, by its uid', () => {
  expect(deletionOf('a/b', 'm', true, previewedOf(blocking.slice(0, 1)))).toEqual({
    kind: 'delete',
    kyma: 'a/b',
    module: 'm',
    cascade: true,
    previewed: [{ apiVersion: 'v1', kind: 'Greeting', namespace: 'shop', name: 'a', uid: '1' }],
  })
})

it('puts objects of one kind together', () => {
  expect(grouped(blocking).map(({ kind, objects }) => [kind, objects.length])).toEqual([
    ['Greeting', 2],
    ['Letter', 1],
  ])
})
