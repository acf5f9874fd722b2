import { describe, expect, it } from 'vitest'
import type { NewKymaPlace } from '../api'
import {
  begin,
  begun,
  deedOf,
  hinders,
  inPlace,
  lacking,
  plain,
  restored,
  settled,
  versionIn,
  wrongLabel,
  wrongName,
  type Form,
} from './form'

const place: NewKymaPlace = {
  namespace: 'kcp-system',
  connect: true,
  channels: ['fast', 'regular'],
  releases: ['2.2'],
  modules: [
    { name: 'greeter', channels: [{ channel: 'regular', version: '1.0.0' }, { channel: 'fast', version: '1.1.0' }] },
    { name: 'beacon', channels: [{ channel: 'fast', version: '0.1.0' }, { channel: 'regular', version: '0.0.1', missing: true }] },
  ],
  kymas: ['taken'],
}
const other: NewKymaPlace = { namespace: 'tenant', connect: false, channels: ['slow'], releases: [], modules: [], kymas: [] }
const form = (over: Partial<Form> = {}): Form => ({ ...begin([other, place]), name: 'mine', ...over })

describe('a new Kyma', () => {
  it('begins in a namespace that offers modules', () => {
    expect(begin([other, place])).toMatchObject({ namespace: 'kcp-system', channel: 'regular', release: '', name: '' })
    expect(begin([]).namespace).toBe('')
    expect(begun(begin([place]))).toBe(false)
    expect(begun(form())).toBe(true)
  })
  it.each<[string, Partial<Form>, string]>([
    ['a name', {}, ''],
    ['not a valid label name', { name: '' }, 'Give it a name.'],
    ['a name with capitals', { name: 'Mine' }, 'lower-case'],
    ['a name that ends with a dash', { name: 'mine-' }, 'at both ends'],
    ['a name that is too long', { name: 'a'.repeat(64) }, 'at most 63'],
    ['a name that is taken', { name: 'taken' }, 'already'],
  ])('has %s', (_, over, want) => {
    const said = wrongName(form(over), place)
    expect(want === '' ? said : said.includes(want)).toBe(want === '' ? '' : true)
    expect(hinders(form(over), place)).toBe(said)
  })
  it('has labels that the cluster takes', () => {
    expect(wrongLabel(form({ labels: { 'example.com/ring': 'canary', empty: '' } }))).toBe('')
    expect(wrongLabel(form({ labels: { 'a b': 'c' } }))).toContain('not a valid label name')
    expect(wrongLabel(form({ labels: { a: 'b c' } }))).toContain('not a valid label value')
    expect(hinders(form({ labels: { '': '' } }), place)).toContain('not a valid label name')
  })
  it('needs a namespace', () => expect(hinders(form(), undefined)).toContain('namespace'))
  it('has modules of its channel only', () => {
    const [greeter, beacon] = place.modules ?? []
    if (!greeter || !beacon) throw new Error('there are no modules')
    expect(versionIn(form(), greeter)).toBe('1.0.0')
    expect(lacking(form(), beacon)).toContain('regular has no version')
    expect(lacking(form({ channel: 'fast' }), beacon)).toBe('')
    expect(lacking(form({ channel: '', release: '2.2' }), beacon)).toBe('')
    expect(settled(form({ modules: ['greeter', 'beacon', 'gone'] }), place).modules).toEqual(['greeter'])
  })
  it('leaves out what another namespace does not have', () => {
    const full = form({ modules: ['greeter'], release: '2.2', channel: '', kubeconfig: 'x' })
    const there = { namespace: 'tenant', modules: [], release: '', channel: 'slow', kubeconfig: '', name: 'mine' }
    expect(inPlace(full, other)).toMatchObject(there)
    expect(inPlace(full, place)).toMatchObject({ release: '2.2', channel: '', kubeconfig: 'x' })
  })
  it('becomes a deed', () => {
    expect(deedOf(form())).toEqual({ kind: 'create', kyma: 'kcp-system/mine', channel: 'regular', new: {} })
    expect(deedOf(form({ local: true, kubeconfig: 'x', modules: ['greeter'], labels: { ring: 'canary' }, now: true }))).toEqual({
      kind: 'create',
      kyma: 'kcp-system/mine',
      channel: 'regular',
      modules: [{ name: 'greeter', policy: 'CreateAndDelete' }],
      new: { local: true, labels: { ring: 'canary' }, skipMaintenanceWindows: true },
    })
    expect(deedOf(form({ channel: '', release: '2.2', kubeconfig: 'x' }))).toMatchObject({ new: { release: '2.2' }, kubeconfig: 'x' })
    expect(deedOf(form({ kubeconfig: '  ' }))).not.toHaveProperty('kubeconfig')
  })
})

describe('what is stored of a form', () => {
  const form = { ...begin([]), name: 'voyage', modules: ['warden'], labels: { env: 'prod' }, kubeconfig: 'secret' }
  it('is everything but the kubeconfig', () => {
    expect(JSON.stringify(plain(form))).not.toContain('secret')
    expect(restored(JSON.parse(JSON.stringify(plain(form))))).toEqual({ ...form, kubeconfig: '' })
  })
  const wrong = [null, 7, 'x', { name: 7 }, { modules: 'warden' }, { modules: [1] }, { labels: null }, { labels: [] }]
  it.each(wrong)('is no form: %j', (stored) =>
    expect(restored(stored)).toBeUndefined(),
  )
})
