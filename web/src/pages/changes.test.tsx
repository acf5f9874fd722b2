// What somebody began on a page, while the cluster changes below it.
import { act, cleanup, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import type { JsonObject, Resource } from '../api'
import { module_, resource as live, schema } from '../../mock/fixtures'
import { show, type Instead } from '../testpage'

it('asks anew before it deletes what was not listed when somebody agreed', async () => {
  const user = userEvent.setup()
  show('/modules/kcp-system/demo/greeter/delete')
  await user.click(await screen.findByRole('checkbox'))
  expect(await screen.findByRole('button', { name: 'Delete 2 objects and greeter' })).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Look again' }))
  expect(await screen.findByRole('checkbox')).toHaveProperty('checked', false)
  expect(screen.queryByRole('button', { name: /^Delete/ })).toBeNull()
})

describe('the configuration', () => {
  const object = (spec: JsonObject, generation: number): JsonObject => ({ ...live, spec, metadata: { name: 'default', generation } })
  const before = object({ greeting: 'Hello' }, 1)
  const open = async (first: JsonObject | null, over: Partial<Resource> = {}) => {
    let now: Resource = { object: first, default: null, schema, editable: true, ...over }
    const instead: Instead = (_, url) => (url.pathname.endsWith('/greeter/resource') ? { status: 200, body: now } : undefined)
    const { world, where, back } = show('/modules/kcp-system/demo/greeter?tab=configuration', 'data', instead)
    const becomes = (to: JsonObject) => {
      now = { ...now, object: to, editable: true }
      world.changed()
    }
    return { user: userEvent.setup(), becomes, where, back }
  }
  const greeting = () => screen.findByRole<HTMLInputElement>('textbox', { name: 'Greeting' })
  const save = async (user: ReturnType<typeof userEvent.setup>) => {
    await user.click(screen.getByRole('button', { name: 'See what would change' }))
    await user.click(await screen.findByRole('button', { name: 'Save' }))
    await user.click((await screen.findAllByRole('button', { name: 'Close' })).at(-1) as HTMLElement)
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  }
  const warning = 'It was changed meanwhile.'

  it('is kept while another tab is shown', async () => {
    const { user } = await open(before)
    await user.type(await greeting(), '!')
    await user.click(screen.getByRole('tab', { name: 'Resources' }))
    await user.click(screen.getByRole('tab', { name: 'Configuration' }))
    expect((await greeting()).value).toBe('Hello!')
  })
  it('is kept while another page is shown, and until it is discarded', async () => {
    const { user, becomes, where, back } = await open(before)
    await user.type(await greeting(), '!')
    await user.click(screen.getByRole('link', { name: 'In the catalog' }))
    await user.click(await screen.findByRole('button', { name: 'Leave' }))
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Greeting' })).toBeNull())
    await user.click(screen.getByRole('link', { name: 'Overview' }))
    await waitFor(() => expect(where()).toBe('/'))
    back()
    back()
    expect((await greeting()).value).toBe('Hello!')
    await user.click(screen.getByRole('button', { name: 'Discard them' }))
    await waitFor(async () => expect((await greeting()).value).toBe('Hello'))
    expect(screen.queryByRole('button', { name: 'Discard them' })).toBeNull()
    await user.type(await greeting(), '?')
    await user.click(screen.getByRole('link', { name: 'In the catalog' }))
    await user.click(await screen.findByRole('button', { name: 'Leave' }))
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Greeting' })).toBeNull())
    becomes(object({ greeting: 'Good day' }, 2))
    back()
    expect((await greeting()).value).toBe('Hello?')
    expect(await screen.findByText(warning)).toBeTruthy()
  })
  it('is of the lifecycle manager only where that made it', async () => {
    await open(before)
    expect(await screen.findByText(/^The lifecycle manager made this configuration and deletes it with the module\./)).toBeTruthy()
    cleanup()
    const instead: Instead = (_, url) =>
      url.pathname === '/api/v1/direct/docker-registry/resource'
        ? { status: 200, body: { object: before, default: null, schema, editable: true } }
        : url.pathname === '/api/v1/direct/docker-registry'
          ? { status: 200, body: { module: module_('docker-registry', { kyma: '' }), access: { edit: true, delete: true, runtime: true } } }
          : undefined
    show('/direct/docker-registry?tab=configuration', 'data', instead)
    expect(await screen.findByText(/^This configuration came with the module and is deleted with it\./)).toBeTruthy()
    expect(screen.queryByText(/The lifecycle manager made/)).toBeNull()
  })
  it('is there as soon as the module has one', async () => {
    const { becomes } = await open(null)
    expect(await screen.findByText('Nothing to configure')).toBeTruthy()
    becomes(before)
    expect((await greeting()).value).toBe('Hello')
  })
  it('goes on with what was saved', async () => {
    const { user, becomes } = await open(before)
    await user.type(await greeting(), '!')
    await save(user)
    const old = await greeting()
    becomes(object({ greeting: 'Hello!', added: 'by the cluster' }, 2))
    await waitFor(async () => expect(await greeting()).not.toBe(old)) // the form begins again
    expect((await greeting()).value).toBe('Hello!')
    expect(screen.queryByText(warning)).toBeNull()
  })
  it('begins with what is there when one may first change it', async () => {
    const { becomes } = await open(null, { default: object({ greeting: 'Suggested' }, 0), editable: false })
    expect((await greeting()).value).toBe('Suggested')
    becomes(before)
    await waitFor(async () => expect((await greeting()).value).toBe('Hello'))
    expect(screen.queryByText(warning)).toBeNull()
  })
  it('follows what the manager makes of the suggestion, unless somebody began to change it', async () => {
    const suggestion = { default: { ...live, spec: { greeting: 'Suggested' }, metadata: { name: 'default' } } }
    const { becomes } = await open(null, suggestion)
    expect((await greeting()).value).toBe('Suggested')
    becomes(before)
    await waitFor(async () => expect((await greeting()).value).toBe('Hello'))
    expect(screen.queryByText(warning)).toBeNull()
    cleanup()
    const other = await open(null, suggestion)
    await other.user.type(await greeting(), '!')
    other.becomes(before)
    expect(await screen.findByText(warning)).toBeTruthy()
    expect((await greeting()).value).toBe('Suggested!')
  })
  it('keeps what is typed after a save, until somebody takes over what is there', async () => {
    const { user, becomes } = await open(before)
    await user.type(await greeting(), '!')
    await save(user)
    await user.type(await greeting(), '?')
    becomes(object({ greeting: 'Hello!' }, 2))
    expect(await screen.findByText(warning)).toBeTruthy()
    expect((await greeting()).value).toBe('Hello!?')
    await user.click(screen.getByRole('button', { name: 'Take over what is there now' }))
    await waitFor(async () => expect((await greeting()).value).toBe('Hello!'))
    expect(screen.queryByText(warning)).toBeNull()
  })
  it.each([
    ['changed nothing', '', { greeting: 'Hello', added: 'x' }],
    ['failed', '!', { greeting: 'Good day' }],
  ])('warns of the change of somebody else after a save that %s', async (_, typed, spec) => {
    const { user, becomes } = await open(before)
    if (typed) await user.type(await greeting(), typed)
    else await greeting()
    await save(user)
    becomes(object(spec, 2))
    expect(await screen.findByText(warning)).toBeTruthy()
    expect((await greeting()).value).toBe(`Hello${typed}`)
  })
  it('takes a change for the save only when it is the first one after it', async () => {
    const { user, becomes } = await open(before)
    await user.type(await greeting(), '!')
    await save(user)
    becomes(object({ greeting: 'Good day' }, 2))
    expect(await screen.findByText(warning)).toBeTruthy()
    await act(async () => becomes(object({ greeting: 'Hello!', added: 'x' }, 3)))
    expect(screen.getByText(warning)).toBeTruthy()
    expect((await greeting()).value).toBe('Hello!')
  })
})
