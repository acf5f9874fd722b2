import { expect, it } from 'vitest'
import { messages } from './messages'
import { ago, count, initials, phaseWord, refText, safeLink, sentence, stateWord } from './words'

it('follows links of https, and no others', () => {
  expect(safeLink('https://example.com/a')).toBe('https://example.com/a')
  const others = [
    'http://example.com',
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    '//example.com',
    '/local',
    'https://user:pw@example.com',
    'https://' + 'a'.repeat(3000),
  ]
  expect(others.map(safeLink)).toEqual(others.map(() => undefined))
})

it('has a word for every state, and keeps one that it does not know', () => {
  expect(stateWord('Ready').tone).toBe('ok')
  expect(stateWord('Strange')).toMatchObject({ label: 'Strange', tone: 'idle' })
  expect(stateWord('constructor').label).toBe('constructor')
  expect(stateWord(undefined).label).toBe('Unknown')
  expect(phaseWord('toString').tone).toBe('idle')
})

it('makes sentences of messages, and leaves names as they are', () => {
  expect(sentence('it does not exist')).toBe('It does not exist.')
  expect(sentence('docker-registry is gone')).toBe('docker-registry is gone.')
  expect(sentence('Deployment a/b: x!')).toBe('Deployment a/b: x!')
  expect(sentence(undefined)).toBe('')
})

it('says how long ago something was', () => {
  const now = Date.parse('2026-11-22T12:00:00Z')
  const cases = [
    ['2026-11-22T11:59:58Z', 'just now'],
    ['2026-11-22T11:59:00Z', '1 minute ago'],
    ['2026-11-22T09:00:00Z', '3 hours ago'],
    ['2026-11-20T09:00:00Z', '2 days ago'],
    ['2027-01-01T00:00:00Z', 'just now'],
    ['nonsense', 'at an unknown time'],
  ]
  for (const [then, text] of cases) expect(ago(then, now)).toBe(text)
})

it('has initials for every name', () => {
  expect(['docker-registry', 'keda', 'a', '', '<img>', 'ünder-weg'].map(initials)).toEqual(['DR', 'KE', 'A', '?', 'IM', 'ÜW'])
})

it('counts in words', () => {
  expect([count(1, messages.nouns.module), count(0, messages.nouns.module), count(25000, messages.nouns.kyma)]).toEqual([
    '1 module',
    '0 modules',
    '25,000 Kymas',
  ])
  expect(refText({ kind: 'Pod', namespace: 'a', name: 'b' })).toBe('Pod a/b')
})
