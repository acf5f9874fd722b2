import { describe, expect, it } from 'vitest'
import { fill, fillNodes, formOf } from './fill'
import { messages } from './messages'

const sources = Object.values(
  import.meta.glob<string>(['./**/*.{ts,tsx}', '!./**/*.test.*', '!./messages.ts'], { query: '?raw', import: 'default', eager: true }),
)

/** all are the paths of all messages, such as kyma.facts, with their texts. */
const all = Object.entries(messages).flatMap(([area, of]) =>
  Object.entries<string | { one: string; other: string }>(of).flatMap(([key, said]) =>
    (typeof said === 'string' ? [said] : [said.one, said.other]).map((text) => ({ path: `${area}.${key}`, text })),
  ),
)

/** others are words for what Kubernetes and this project call differently, with the right ones. */
const others: [wrong: RegExp, right: string][] = [
  [/\b(nobody|somebody|whoever|anybody|everybody)\b/i, 'a user, a person, each user'],
  [/\b(go|goes|going|gone|went) back\b/i, 'roll back'],
  [/\b(by itself|by themselves)\b/, 'automatically'],
  [/\b(looks?|looking) after\b/, 'manage'],
  [/\bruns? on\b/, 'keeps running'],
  [/\bcan be had\b/, 'is available'],
  [/\b(small|capital) letters?\b/, 'lower-case or upper-case letters'],
  [/\b(secrets|deployments|kymas|manifests|configmaps)\b/, 'the kind as the API spells it'],
  [/\.\.\./, '…'],
]

describe('messages', () => {
  it('has none that is not used', () => {
    const used = sources.join('\n')
    expect(all.map(({ path }) => path).filter((path) => !new RegExp(`messages\\.${path.replace('.', '\\.')}\\b`).test(used))).toEqual([])
  })
  it('says things in the words of Kubernetes', () => {
    const said = all.map(({ path, text }) => ({ path, text: text.replace(/\{\w+\}/g, '') }))
    expect(said.flatMap(({ path, text }) => others.filter(([wrong]) => wrong.test(text)).map(([, right]) => `${path}: ${right}`))).toEqual(
      [],
    )
  })
  it('has no spaces that are not seen', () => {
    expect(all.filter(({ text }) => / {2}|\n/.test(text))).toEqual([])
  })
  it('has placeholders that are names', () => {
    expect(all.filter(({ text }) => /[{}]/.test(text.replace(/\{[a-zA-Z]\w*\}/g, '')))).toEqual([])
  })
})

describe('fill', () => {
  it('puts each value where its name is, as often as it is there', () => {
    expect(fill('{a} and {b}, then {a}', { a: 'x', b: 2 })).toBe('x and 2, then x')
  })
  it('leaves what is undefined empty', () => {
    expect(fill('a{b}c', { b: undefined })).toBe('ac')
  })
  it('never looks into a value', () => {
    expect(fill('{a}{b}', { a: '{b}', b: '$&' })).toBe('{b}$&')
  })
  it('keeps nodes as they are', () => {
    expect(fillNodes('a {b}', { b: null })).toHaveLength(3)
  })
  it('chooses the form for one, and for any other number', () => {
    expect([0, 1, 2].map((n) => formOf(n, { one: 'it', other: 'they' }))).toEqual(['they', 'it', 'they'])
  })
})
