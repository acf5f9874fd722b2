import { expect, it } from 'vitest'
import { failureOf, wayBack } from '../pages/Login'
import { codeIn } from './session'

it('takes a code out of the address, and nothing else', () => {
  expect(codeIn('#code=' + 'aB_-9'.repeat(9))).toBe('aB_-9'.repeat(9))
  expect(codeIn('#code=cut-off')).toBe('cut-off') // the server says that it is not the one
  for (const other of ['', '#', '#code=', '#code=<script>aaaaaaaaaaaaaaaaaaaa', '#x=1&code=aaaaaaaaaaaaaaaaaaaaaa'])
    expect(codeIn(other)).toBeUndefined()
})

it('goes back only to addresses of this dashboard', () => {
  expect(wayBack({ from: '/kymas?x=1' })).toBe('/kymas?x=1')
  for (const from of ['//evil.example', '/\\evil', 'https://evil.example', '/login?x', undefined, 3]) expect(wayBack({ from })).toBe('/')
  expect(wayBack(null)).toBe('/')
})

it('explains a failed login in its own words', () => {
  expect(failureOf('')).toBe('')
  expect(failureOf('?error=login_expired')).toContain('too long')
  expect(failureOf('?error=<script>')).toBe('The login did not work. Try again.')
  expect(failureOf('?error=constructor')).toBe('The login did not work. Try again.')
})
