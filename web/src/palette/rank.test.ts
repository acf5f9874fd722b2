import { describe, expect, it } from 'vitest'
import { most, mostOfKind, rank, type Candidate, type Kind } from './rank'

const of = (kind: Kind, name: string, detail?: string): Candidate => ({ kind, name, detail, to: `/${kind}/${name}/${detail ?? ''}` })
const names = (text: string, all: Candidate[]) => rank(text, all).map(({ name, detail }) => (detail ? `${name} ${detail}` : name))

describe('what fits what was typed', () => {
  const all = [
    of('Page', 'Modules'),
    of('Page', 'Kymas'),
    of('View', 'Failing in Europe'),
    of('Kyma', 'istio-test', 'kcp-system'),
    of('Module', 'istio', 'in kcp-system/shop-europe'),
    of('Module', 'istio', 'in kcp-system/shop-asia'),
    of('Module', 'my-istio', 'in kcp-system/shop-asia'),
    of('Catalog', 'istio'),
  ]
  it.each([
    ['', ['Modules', 'Kymas', 'Failing in Europe']],
    ['  ', ['Modules', 'Kymas', 'Failing in Europe']],
    ['mod', ['Modules']],
    ['MODULES', ['Modules']],
    [
      'istio',
      [
        'istio in kcp-system/shop-asia',
        'istio in kcp-system/shop-europe',
        'istio',
        'istio-test kcp-system',
        'my-istio in kcp-system/shop-asia',
      ],
    ],
    ['istio europe', ['istio in kcp-system/shop-europe']],
    ['europe istio', ['istio in kcp-system/shop-europe']],
    ['failing', ['Failing in Europe']],
    ['nothing-has-this', []],
    ['istio nothing', []],
    ['.*', []],
  ])('%j finds %j', (text, want) => expect(names(text, all)).toEqual(want))

  it('puts a name before a part of a name, and that before a detail', () => {
    expect(names('shop', [of('Module', 'a', 'shop'), of('Kyma', 'my-shop'), of('Kyma', 'workshop'), of('Kyma', 'shop-asia')])).toEqual([
      'shop-asia',
      'my-shop',
      'workshop',
      'a shop',
    ])
  })
  it('is the same for every order of the candidates', () => {
    const want = names('istio', all)
    expect(names('istio', [...all].reverse())).toEqual(want)
  })
  it('is bounded, in all and for each kind', () => {
    const many = (['Page', 'View', 'Kyma', 'Module', 'Catalog'] as const).flatMap((kind) =>
      Array.from({ length: 100 }, (_, i) => of(kind, `thing-${i}`)),
    )
    const found = rank('thing', many)
    expect(found).toHaveLength(most)
    expect(found.filter(({ kind }) => kind === 'Kyma').length).toBeLessThanOrEqual(mostOfKind)
  })
  it('lists every page when nothing was typed', () => {
    expect(rank('', Array.from({ length: 12 }, (_, i) => of('Page', `Page ${i}`)))).toHaveLength(12)
  })
})
