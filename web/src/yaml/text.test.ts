import { expect, it } from 'vitest'
import { fromYaml, toYaml } from './text'

it('writes what it reads', () => {
  const value = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, spec: { text: 'a: b\n# no comment', list: [1, true, null] } }
  expect(fromYaml(toYaml(value))).toEqual({ value })
})

it('says in which line the mistake is', () => {
  expect(fromYaml('a: 1\nb: [1, 2\nc: 3\n')).toMatchObject({ line: expect.any(Number) as number })
})

const refused: [string, string][] = [
  ['a list', '- 1\n'],
  ['a word', 'hello'],
  ['nothing', ''],
  ['a key twice', 'a: 1\na: 2\n'],
  ['aliases, of which a few lines make gigabytes', 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n'],
  ['half a MiB', 'a: ' + 'x'.repeat(600_000)],
]
it.each(refused)('refuses %s', (_, text) => expect(fromYaml(text)).toHaveProperty('error'))

it('takes a key __proto__ as a key, and not as a prototype', () => {
  const parsed = fromYaml('__proto__:\n  hacked: true\n')
  expect(({} as Record<string, unknown>)['hacked']).toBeUndefined()
  expect('value' in parsed && Object.getPrototypeOf(parsed.value) === Object.prototype).toBe(true)
})
