// What has begun has an address; what has not is not lost by Back; what opens has the focus.
import { act, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../api'
import { show, type Instead } from '../testpage'

const deletion = (state: Operation['state']): Operation => ({
  id: 'going',
  deed: { kind: 'delete', kyma: 'kcp-system/demo', module: 'beacon', cascade: false },
  title: 'Delete beacon',
  user: 'admin',
  state,
  created: new Date().toISOString(),
  steps: [],
  objects: [],
  access: { resume: true, cancel: true },
})

/** has is a server with that operation. */
const has =
  (operation: Operation): Instead =>
  (_, url) => {
    if (url.pathname === '/api/v1/operations/going') return { status: 200, body: operation }
    return url.pathname === '/api/v1/operations' ? { status: 200, body: { items: [operation], total: 1 } } : undefined
  }

describe('a deletion', () => {
  const page = '/modules/kcp-system/demo/beacon/delete'
  it('leads to the address of its operation as soon as it has begun', async () => {
    const user = userEvent.setup()
    const { where } = show(page)
    const button = await screen.findByRole('button', { name: 'Delete beacon' })
    await user.type(await screen.findByRole('textbox', { name: /^Type/ }), 'beacon')
    await waitFor(() => expect(button).toHaveProperty('disabled', false))
    await user.click(button)
    await waitFor(() => expect(where()).toBe('/operations/op-1'))
    expect(await screen.findByRole('region', { name: 'Delete beacon' })).toBeTruthy()
  })
  it('is not offered once more while it is under way', async () => {
    show(page, 'data', has(deletion('Running')))
    const link = await screen.findByRole('link', { name: 'See how it is going' })
    expect(link.getAttribute('href')).toBe('/operations/going')
    expect(screen.queryByRole('button', { name: 'Delete beacon' })).toBeNull()
  })
  it.each(['Running', 'Succeeded', 'Failed'] as const)('is there in state %s after a reload, of its page and its dialog', async (state) => {
    const first = show('/operations/going', 'data', has(deletion(state)))
    expect(await screen.findByRole('region', { name: 'Delete beacon' })).toBeTruthy()
    first.page.unmount()
    show('/kymas/kcp-system/demo?operation=going', 'data', has(deletion(state)))
    const dialog = await screen.findByRole('dialog')
    expect(await within(dialog).findByRole('region', { name: 'Delete beacon' })).toBeTruthy()
  })
})

describe('the wizard', () => {
  it('goes a step back by the browser, with everything that was chosen, and to the address of what began', async () => {
    const user = userEvent.setup()
    const { where, back } = show('/add?kyma=kcp-system/demo')
    await user.click(await screen.findByRole('checkbox', { name: 'notes' }))
    const next = async (name: string) => {
      const button = screen.getByRole('button', { name: 'Next: ' + name })
      await waitFor(() => expect(button).toHaveProperty('disabled', false))
      await user.click(button)
    }
    await next('Version')
    expect(await screen.findByRole('heading', { name: 'Versions' })).toBeTruthy()
    act(back)
    expect(await screen.findByRole('checkbox', { name: 'notes' })).toHaveProperty('checked', true)
    await next('Version')
    await screen.findByRole('heading', { name: 'Versions' })
    await next('Configure')
    await screen.findByRole('heading', { name: 'Configuration' })
    await next('Check and add')
    const add = await screen.findByRole('button', { name: 'Add notes' })
    await waitFor(() => expect(add).toHaveProperty('disabled', false))
    await user.click(add)
    await waitFor(() => expect(where()).toBe('/operations/op-1'))
    act(back) // what began is not offered again
    expect(await screen.findByRole('checkbox', { name: 'notes' })).toHaveProperty('checked', false)
  })
})

describe('what opens', () => {
  it.each([
    ['/kymas/kcp-system/demo', 'Change channel'],
    ['/releases', 'Change api-gateway'],
  ])('on %s has the focus, and gives it back when Escape closes it', async (address, name) => {
    const user = userEvent.setup()
    show(address)
    const button = await screen.findByRole('button', { name })
    await user.click(button)
    const dialog = await screen.findByRole('dialog')
    await waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true))
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await waitFor(() => expect(document.activeElement).toBe(button))
  })
  it('is closed by Escape, although the address of what has begun was not reached yet', async () => {
    const user = userEvent.setup()
    show('/kymas/kcp-system/demo', 'data', undefined, (address) => address.includes('operation='))
    await user.click(await screen.findByRole('button', { name: 'Suspend' }))
    const dialog = within(await screen.findByRole('dialog'))
    await waitFor(() => expect(dialog.getByRole('button', { name: 'Suspend' })).toHaveProperty('disabled', false))
    await user.click(dialog.getByRole('button', { name: 'Suspend' }))
    await dialog.findByText(/listed under Operations/)
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })
  it('asks before what was typed is discarded by Escape, and keeps it', async () => {
    const user = userEvent.setup()
    show('/sources')
    const button = await screen.findByRole('button', { name: 'Add a source' })
    await user.click(button)
    const name = await screen.findByRole('textbox', { name: /^Name/ })
    await waitFor(() => expect(document.activeElement).toBe(name))
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await waitFor(() => expect(document.activeElement).toBe(button))
    await user.click(button)
    await user.type(await screen.findByRole('textbox', { name: /^Name/ }), 'ours')
    await user.keyboard('{Escape}')
    const asks = await screen.findByRole('dialog', { name: 'Discard what you typed?' })
    await user.click(within(asks).getByRole('button', { name: 'Stay' }))
    expect(await screen.findByRole('textbox', { name: /^Name/ })).toHaveProperty('value', 'ours')
    await user.keyboard('{Escape}')
    await user.click(await screen.findByRole('button', { name: 'Discard' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await user.click(button)
    expect(await screen.findByRole('textbox', { name: /^Name/ })).toHaveProperty('value', '')
  })
})

describe('a reload', () => {
  const chosen = async (user: ReturnType<typeof userEvent.setup>) => {
    await user.click(await screen.findByRole('checkbox', { name: 'notes' }))
    const next = screen.getByRole('button', { name: 'Next: Version' })
    await waitFor(() => expect(next).toHaveProperty('disabled', false))
    await user.click(next)
    await screen.findByRole('heading', { name: 'Versions' })
  }
  it('keeps the step of the wizard and what was chosen', async () => {
    const user = userEvent.setup()
    const first = show('/add?kyma=kcp-system/demo')
    await chosen(user)
    expect(first.where()).toBe('/add?kyma=kcp-system%2Fdemo&step=version')
    first.reload()
    expect(await screen.findByRole('heading', { name: 'Versions' })).toBeTruthy()
    expect(screen.getByRole('combobox', { name: 'Version of notes' })).toBeTruthy()
  })
  it('leaves nothing for another user', async () => {
    const user = userEvent.setup()
    const first = show('/add?kyma=kcp-system/demo')
    await chosen(user)
    const stored = window.sessionStorage.getItem('kyma-drafts') ?? ''
    expect(stored).toContain('notes')
    window.sessionStorage.setItem('kyma-drafts', stored.replace('kcp-system:admin', 'kcp-system:other'))
    first.reload()
    expect(await screen.findByRole('heading', { name: 'Choose modules' })).toBeTruthy()
    expect(await screen.findByRole('checkbox', { name: 'notes' })).toHaveProperty('checked', false)
  })
})

describe('a page with unsaved changes', () => {
  it('asks before another page is shown, by a link and by Back, and keeps the configuration', async () => {
    const user = userEvent.setup()
    const { where, back } = show('/modules')
    await user.click((await screen.findAllByRole('link', { name: 'greeter' }))[0] as HTMLElement)
    await user.click(await screen.findByRole('tab', { name: 'Configuration' }))
    const greeting = await screen.findByDisplayValue('Hello')
    await user.type(greeting, '!')
    const to = where()
    expect(to).toContain('tab=configuration')
    await user.click(screen.getByRole('link', { name: 'Overview' }))
    const asks = await screen.findByRole('dialog', { name: 'Leave this page?' })
    await user.click(within(asks).getByRole('button', { name: 'Stay' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(where()).toBe(to)
    await user.click(screen.getByRole('tab', { name: 'Events' })) // the page is the same
    act(back)
    act(back)
    expect(screen.queryByRole('dialog')).toBeNull()
    await user.click(screen.getByRole('link', { name: 'Overview' }))
    await user.click(await screen.findByRole('button', { name: 'Leave' }))
    await waitFor(() => expect(where()).toBe('/'))
    expect(window.sessionStorage.getItem('kyma-drafts') ?? '').not.toContain('Hello')
  })
})
