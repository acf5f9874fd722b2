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
  it('on the page of sources, too', async () => {
    const user = userEvent.setup()
    show('/sources')
    const button = await screen.findByRole('button', { name: 'Add a source' })
    await user.click(button)
    const form = await screen.findByRole('region', { name: 'New source' })
    expect(document.activeElement).toBe(form)
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('region', { name: 'New source' })).toBeNull())
    expect(document.activeElement).toBe(button)
  })
})
