import { describe, expect, it } from 'vitest'
import type { Difference, Finding, OutcomeGroup, Severity } from '../api'
import { besidesOf, countsOf, fleetText, grouped, headline, newsOf, objectsText, sharesOf, sidesText, untilText, waitingFor } from './words'

const finding = (sentence: string, severity: Severity = 'High'): Finding => ({ key: sentence, category: 'Rights', severity, sentence })

describe('the one sentence on top', () => {
  const secrets = 'May read every Secret of the cluster.'
  const wants = '1.1.0 also wants to read every Secret of the cluster'
  it.each([
    ['a new right', ['1.0.0', [secrets], 1], '1.1.0 also wants to read every Secret of the cluster.'],
    ['more than one', ['1.0.0', [secrets, 'x', 'y'], 3], `${wants}, and asks for 2 more things.`],
    ['more than there are sentences', ['1.0.0', [secrets], 2], `${wants}, and asks for 1 more thing.`],
    ['something else than a right', ['1.0.0', ['Runs privileged containers.'], 1], '1.1.0 also runs privileged containers.'],
    ['a first installation', ['', [secrets], 1], '1.1.0 may read every Secret of the cluster.'],
    ['a first one that is something else', ['', ['Runs containers as root.'], 1], '1.1.0 runs containers as root.'],
    ['nothing new', ['1.0.0', [], 0], '1.1.0 asks for nothing that 1.0.0 does not have.'],
    ['nothing at all', ['', [], 0], '1.1.0 asks for nothing beyond its own objects.'],
  ] as [string, [string, string[], number], string][])('%s', (_, [against, sentences, total], want) =>
    expect(headline({ version: '1.1.0', against, sentences, total })).toBe(want),
  )
  it('does not call news what every module does', () => {
    const d: Difference = { added: [finding('May write events.', 'Info')] }
    expect(newsOf('1.1.0', '1.0.0', d)).toBe('1.1.0 asks for nothing that 1.0.0 does not have.')
    const webhooksAdded = [{ name: 'x', hash: '' }]
    expect(newsOf('1.1.0', '1.0.0', { ...d, webhooksAdded })).toBe('1.1.0 asks for no further rights than 1.0.0.')
  })
  it('is known from the status alone', () => {
    const pending = { version: '1.1.0', counts: { rightsAdded: 3 }, gravest: [secrets] }
    expect(waitingFor(pending, '1.0.0')).toBe('1.1.0 also wants to read every Secret of the cluster, and asks for 2 more things.')
    expect(waitingFor({ version: '1.1.0', counts: { images: 1 } }, '')).toBe('1.1.0 asks for no further rights than the installed version.')
  })
})

it('shows the gravest first, and what it does not know before everything', () => {
  const all = [finding('a', 'Low'), finding('b', 'Critical'), finding('c', 'Low'), finding('d', 'Strange' as Severity)]
  expect(grouped(all).map((g) => [g.severity, g.findings.length])).toEqual([
    ['Strange', 1],
    ['Critical', 1],
    ['Low', 2],
  ])
})

it('counts what changes, and nothing that does not', () => {
  expect(countsOf({ version: '1', counts: { rightsAdded: 1, rightsRemoved: 2, images: 1 } })).toEqual([
    '1 new right',
    '2 rights fewer',
    '1 image from elsewhere',
  ])
  expect(countsOf({ version: '1' })).toEqual([])
})

it('lists what is no right: definitions, webhooks, images', () => {
  const d: Difference = {
    definitionsChanged: [{ name: 'greeters.example.com', severity: 'Low', sentences: ['Serves v2, too.'] }],
    webhooksChanged: [{ name: 'ValidatingWebhookConfiguration greeter/v.greeter', hash: '' }],
    imagesChanged: [{ registry: 'ghcr.io', repository: 'greeter', before: ['1.0.0'], after: ['sha256:' + '0'.repeat(64)] }],
    imagesAdded: [{ registry: 'evil.example.com', repository: 'x', tag: 'latest' }],
  }
  expect(besidesOf(d).map((one) => `${one.what} ${one.name}: ${one.texts.join(' ')}`)).toEqual([
    'Definition greeters.example.com: Serves v2, too.',
    'Webhook ValidatingWebhookConfiguration greeter/v.greeter: Changed.',
    'Image evil.example.com/x: New: latest.',
    'Image ghcr.io/greeter: 1.0.0 becomes sha256:000000000000.',
  ])
  expect(besidesOf({})).toEqual([])
})

it('counts objects and restarts', () => {
  const id = { kind: 'Deployment', name: 'x' }
  expect(objectsText({ added: [id], changed: [id, id], unchanged: 4, restarts: [id] })).toBe(
    'Objects: 1 new, 2 changed, 4 as before. 1 workload restarts.',
  )
})

it('names who must agree', () => {
  expect(sidesText(['Any'])).toBe('the operator of the hub or the user of the runtime')
  expect(sidesText(['Hub', 'Runtime'])).toBe('the operator of the hub and the user of the runtime')
})

it.each([
  [undefined, ''],
  ['nonsense', ''],
  ['2026-01-01T00:30:00Z', 'It is installed without consent within the hour.'],
  ['2026-01-01T05:00:00Z', 'Without an answer it is installed in 5 hours.'],
  ['2026-01-15T00:00:00Z', 'Without an answer it is installed in 14 days.'],
])('says when %s comes by itself', (deadline, want) => expect(untilText(deadline, Date.parse('2026-01-01T00:10:00Z'))).toBe(want))

describe('what becomes of the Kymas', () => {
  const group = (outcome: OutcomeGroup['outcome'], n: number, detail = ''): OutcomeGroup => ({ outcome, count: n, detail })
  it('joins the reasons of one outcome', () => {
    const shares = sharesOf([group('Upgrades', 3), group('Refused', 1, 'a'), group('Refused', 2, 'b')])
    expect(shares.map((s) => [s.outcome, s.count, s.groups.length])).toEqual([
      ['Upgrades', 3, 1],
      ['Refused', 3, 2],
    ])
  })
  it.each([
    [0, [], 'No Kyma that you may see follows this channel.'],
    [1, [group('Upgrades', 1)], '1 Kyma follows this channel: 1 at once.'],
    [9, [group('Same', 9)], '9 Kymas follow this channel: none of them changes; 9 have it already.'],
    [
      1200,
      [group('Upgrades', 57), group('WaitsForRollout', 1100), group('NeedsConsent', 40), group('Same', 1), group('Leaving', 2)],
      '1,200 Kymas follow this channel: 57 at once, 1,100 later, automatically, 40 not without help; 1 has it already.',
    ],
  ] as [number, OutcomeGroup[], string][])('of %s', (kymas, groups, want) => expect(fleetText(kymas, sharesOf(groups))).toBe(want))
})
