import { describe, expect, it } from 'vitest'
import type { Offer } from '../api'
import { kyma, offers } from '../../mock/fixtures'
import { begin, choicesOf, deedsOf, empty, hinders, installedIn, move, versionOf, type Move, type Wizard } from './wizard'
import { ofSource } from './SourceOffers'

const offer = (name: string): Offer => {
  const found = offers.find((o) => o.name === name)
  if (!found) throw new Error('no fixture ' + name)
  return found
}
const play = (...moves: Move[]): Wizard => moves.reduce(move, empty)
const demo = kyma('demo')

describe('the deeds of the wizard', () => {
  it('puts a manageable module into the Kyma, in the version of its channel', () => {
    const w = play({ do: 'kyma', kyma: demo }, { do: 'toggle', offer: offer('notes') })
    expect(deedsOf(w)).toEqual([
      { kind: 'add', kyma: 'kcp-system/demo', modules: [{ name: 'notes', policy: 'CreateAndDelete' }], direct: false, community: false },
    ])
    expect(versionOf(w, w.picks[0] as never)).toBe('2.0.0')
  })
  it('makes one deed for each way that modules take', () => {
    const w = play(
      { do: 'kyma', kyma: demo },
      { do: 'toggle', offer: offer('notes') },
      { do: 'toggle', offer: offer('registry-proxy') },
      { do: 'toggle', offer: offer('beacon') },
    )
    const deeds = deedsOf(w)
    expect(deeds).toHaveLength(2)
    expect(deeds[0]).toMatchObject({ kyma: 'kcp-system/demo', modules: [{ name: 'notes' }, { name: 'beacon' }] })
    expect(deeds[1]).toMatchObject({ kyma: '', community: true, modules: [{ name: 'registry-proxy', version: '0.15.0' }] })
  })
  it('goes past the lifecycle manager only when somebody asks for it, and never for community modules', () => {
    const w = play({ do: 'kyma', kyma: demo }, { do: 'toggle', offer: offer('notes') }, { do: 'direct', on: true })
    expect(deedsOf(w)).toMatchObject([{ direct: true, community: false, kyma: '', modules: [{ name: 'notes', channel: 'regular' }] }])
    const community = play({ do: 'toggle', offer: offer('registry-proxy') }, { do: 'direct', on: true })
    expect(deedsOf(community)).toMatchObject([{ direct: false, community: true }])
  })
  it('is direct without a Kyma', () => {
    expect(deedsOf(play({ do: 'toggle', offer: offer('notes') }))).toMatchObject([{ direct: true, kyma: '' }])
  })
  it('says the channel or the version that was chosen, and the configuration', () => {
    const w = play(
      { do: 'kyma', kyma: demo },
      { do: 'toggle', offer: offer('notes') },
      { do: 'from', name: 'notes', from: 'version:2.1.0' },
      { do: 'setup', name: 'notes', setup: 'own', resource: { kind: 'Notes' } },
    )
    expect(deedsOf(w)).toMatchObject([{ modules: [{ name: 'notes', version: '2.1.0', policy: 'Ignore', resource: { kind: 'Notes' } }] }])
  })
  it('names the namespace of the offer where it goes past the lifecycle manager, and nowhere else', () => {
    const tenants: Offer = { ...offer('registry-proxy'), namespace: 'tenant' }
    expect(deedsOf(play({ do: 'toggle', offer: tenants }))).toMatchObject([{ modules: [{ name: 'registry-proxy', namespace: 'tenant' }] }])
    const w = play({ do: 'kyma', kyma: demo }, { do: 'toggle', offer: { ...offer('notes'), namespace: 'kcp-system' } })
    expect(deedsOf(w)[0]).not.toHaveProperty('modules.0.namespace')
    const past = deedsOf(move(w, { do: 'direct', on: true }))
    expect(past).toMatchObject([{ direct: true, modules: [{ name: 'notes', namespace: 'kcp-system' }] }])
    const versions = [{ version: '1.0.0', template: { name: '' } }]
    const billing = ofSource({ name: 'billing', type: 'manageable', source: 'our-own', versions })
    expect(deedsOf(play({ do: 'toggle', offer: billing }))[0]).not.toHaveProperty('modules.0.namespace')
  })
  it('names the source of what comes from one, and keeps sources apart', () => {
    const versions = [{ version: '1.0.0', template: { name: '' } }]
    const billing = ofSource({ name: 'billing', type: 'manageable', source: 'our-own', versions })
    const w = play({ do: 'toggle', offer: billing }, { do: 'toggle', offer: offer('registry-proxy') })
    expect(deedsOf(w)).toMatchObject([
      { source: 'our-own', modules: [{ name: 'billing', version: '1.0.0' }] },
      { community: true, modules: [{ name: 'registry-proxy' }] },
    ])
  })
})

describe('choices', () => {
  it('never offers a channel whose version nobody describes', () => {
    expect(choicesOf(play({ do: 'kyma', kyma: demo }), offer('old-thing'))).toEqual([])
    const w = { ...play({ do: 'toggle', offer: offer('old-thing') }), step: 'version' as const }
    expect(hinders(w)).toContain('old-thing')
  })
  it('takes another source when the way changes, so that nothing impossible is asked', () => {
    const w = play({ do: 'kyma', kyma: demo }, { do: 'toggle', offer: offer('notes') }, { do: 'kyma', kyma: null })
    expect(w.picks[0]?.from).toBe('channel:regular')
  })
  it('follows the Kyma that is chosen afterwards, unless somebody chose a channel or a version', () => {
    const fast = kyma('fast', { channel: 'fast' })
    const late = play({ do: 'toggle', offer: offer('notes') }, { do: 'kyma', kyma: fast })
    expect(late.picks[0]?.from).toBe('')
    const back: Move[] = [
      { do: 'direct', on: true },
      { do: 'direct', on: false },
    ]
    expect(back.reduce(move, late).picks[0]?.from).toBe('')
    const own = play(
      { do: 'toggle', offer: offer('notes') },
      { do: 'from', name: 'notes', from: 'channel:regular' },
      { do: 'kyma', kyma: fast },
    )
    expect(own.picks[0]?.from).toBe('channel:regular')
  })
  it('forgets a configuration that was made for another version', () => {
    const own: Move[] = [
      { do: 'kyma', kyma: demo },
      { do: 'toggle', offer: offer('notes') },
      { do: 'setup', name: 'notes', setup: 'own', resource: { kind: 'Notes' } },
    ]
    const fast = play(...own, { do: 'kyma', kyma: kyma('fast', { channel: 'fast' }) })
    expect(fast.picks).toMatchObject([{ setup: 'suggested', resource: undefined }])
    const same = play(...own, { do: 'kyma', kyma: kyma('other') })
    expect(same.picks).toMatchObject([{ setup: 'own', resource: { kind: 'Notes' } }])
  })
  it('takes a pick back when it is toggled again', () => {
    expect(play({ do: 'toggle', offer: offer('notes') }, { do: 'toggle', offer: offer('notes') }).picks).toEqual([])
  })
  it('knows what is installed, as seen from the Kyma', () => {
    expect(installedIn(play({ do: 'kyma', kyma: demo }), offer('greeter'))).toBe('Already in this Kyma')
    expect(installedIn(play({ do: 'kyma', kyma: kyma('other') }), offer('greeter'))).toBe('')
    expect(installedIn(empty, offer('docker-registry'))).toBe('Installed directly')
  })
  it('wants a Kyma for what one can have, as soon as there is one', () => {
    const w = play({ do: 'kymas', any: true }, { do: 'toggle', offer: offer('notes') })
    expect(hinders(w)).toContain('Choose for which Kyma')
    expect(hinders(move(w, { do: 'kyma', kyma: demo }))).toBe('')
    expect(hinders(play({ do: 'kymas', any: true }, { do: 'toggle', offer: offer('registry-proxy') }))).toBe('')
  })
  it('waits until it is known which Kymas there are, for what could go into one', () => {
    const w = move(begin, { do: 'toggle', offer: offer('notes') })
    expect(hinders(w)).toContain('not known yet')
    expect(hinders(move(w, { do: 'kymas', any: false }))).toBe('')
    expect(hinders(move(w, { do: 'kymas', any: true }))).toContain('Choose for which Kyma')
    expect(hinders(move(begin, { do: 'toggle', offer: offer('registry-proxy') }))).toBe('')
  })
  it('does not go on without a module, or with half a configuration', () => {
    expect(hinders(empty)).not.toBe('')
    const w = play(
      { do: 'kyma', kyma: demo },
      { do: 'toggle', offer: offer('notes') },
      { do: 'setup', name: 'notes', setup: 'own' },
      { do: 'step', step: 'configure' },
    )
    expect(hinders(w)).toContain('notes')
    expect(hinders({ ...w, step: 'choose' })).toBe('')
  })
})
