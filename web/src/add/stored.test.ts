import { expect, it } from 'vitest'
import type { KymaLine, Offer } from '../api'
import { offers } from '../../mock/fixtures'
import { plainOf, revived } from './stored'
import { begin, lastStep, move, type Wizard } from './wizard'

const here = '/add?kyma=kcp-system%2Fdemo'
const notes = offers.find(({ name }) => name === 'notes') as Offer
const demo = { namespace: 'kcp-system', name: 'demo', channel: 'regular' } as KymaLine

const chosen: Wizard = [
  { do: 'kymas', any: true } as const,
  { do: 'kyma', kyma: demo } as const,
  { do: 'toggle', offer: notes } as const,
].reduce(move, begin)

/** reloaded is what a reload makes of a wizard. */
const reloaded = (w: Wizard, address = here) => revived(JSON.parse(JSON.stringify(plainOf(w, here))), address)

it('is the same wizard after a reload', () => {
  const again = reloaded(chosen)
  expect(again).toMatchObject({ kyma: 'kcp-system/demo', kymaChannel: 'regular', kymas: true, picks: [{ from: chosen.picks[0]?.from }] })
  expect(again && lastStep(again)).toBe('review')
})

it('stores no configuration, and takes up where that is missing', () => {
  const own = move(chosen, { do: 'setup', name: 'notes', setup: 'own', resource: { spec: { password: 'secret' } } })
  const typing = move(own, { do: 'edit', name: 'notes', edit: { object: { spec: { password: 'secret' } }, text: 'secret', mode: 'yaml' } })
  for (const w of [own, typing]) expect(JSON.stringify(plainOf(w, here))).not.toContain('secret')
  const again = reloaded(own)
  expect(again && lastStep(again)).toBe('configure')
})

it('is nothing at another address, or of something else', () => {
  expect(reloaded(chosen, '/add')).toBeUndefined()
  const picks = [[], [null]].map((some) => ({ address: here, picks: some }))
  for (const stored of [undefined, null, 1, 'text', {}, { address: here }, ...picks]) {
    expect(revived(stored, here)).toBeUndefined()
  }
})
