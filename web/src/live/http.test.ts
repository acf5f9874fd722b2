import { afterEach, expect, it, vi } from 'vitest'
import { at, problemOf, query, Refusal, send } from './http'

const answer = (status: number, text: string) =>
  vi.stubGlobal(
    'fetch',
    vi.fn(async () => new Response(text === '' ? null : text, { status })),
  )

afterEach(() => vi.unstubAllGlobals())

it('writes the same question the same way, whatever the order', () => {
  expect(query('/modules', { state: ['Warning', 'Error'], limit: 50, search: '' })).toBe(
    '/api/v1/modules?limit=50&state=Error&state=Warning',
  )
  expect(query('/overview')).toBe('/api/v1/overview')
})

it('escapes what stands in a path', () => {
  expect(at('a/b', '../x', 'ü')).toBe('/a%2Fb/..%2Fx/%C3%BC')
})

it('sends changes as JSON and reads the answer', async () => {
  answer(202, '{"id":"1"}')
  await expect(send('POST', '/api/v1/operations', { kind: 'add' })).resolves.toEqual({ id: '1' })
  const [, init] = vi.mocked(fetch).mock.calls[0] ?? []
  expect(init?.body).toBe('{"kind":"add"}')
  expect(new Headers(init?.headers).get('Content-Type')).toBe('application/json')
})

it('takes an empty answer as nothing', async () => {
  answer(204, '')
  await expect(send('DELETE', '/api/v1/sources/x')).resolves.toBeUndefined()
})

it('throws what the server said, with its status', async () => {
  answer(403, '{"error":{"reason":"Forbidden","message":"you may not"}}')
  await expect(send('GET', '/x')).rejects.toMatchObject({ status: 403, reason: 'Forbidden', message: 'you may not' })
})

it('says something when the server does not answer, or not in JSON', async () => {
  vi.stubGlobal(
    'fetch',
    vi.fn(async () => {
      throw new TypeError('failed')
    }),
  )
  await expect(send('GET', '/x')).rejects.toBeInstanceOf(Refusal)
  answer(200, '<html>')
  await expect(send('GET', '/x')).rejects.toMatchObject({ reason: 'Malformed' })
  expect(problemOf(500, '<html>').message).toContain('500')
})
