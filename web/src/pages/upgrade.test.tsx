// What is chosen to be upgraded, and what is asked before.
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { module_ } from '../../mock/fixtures'
import { show, type Instead } from '../testpage'

const version = { desired: '1.0.0', installed: '1.0.0', available: '1.1.0', outdated: true, mismatch: false }

it('chooses all that need a person, on every page, and says of which Kyma each is', async () => {
  const user = userEvent.setup()
  const modules = Array.from({ length: 130 }, (_, i) =>
    module_('notes', { kyma: `kcp-system/k${i}`, channel: '', version, suspended: i === 3, maintenance: i === 4 }),
  )
  const instead: Instead = (_, url, body) => {
    if (url.pathname === '/api/v1/modules') {
      const offset = Number(url.searchParams.get('offset') ?? 0)
      const limit = Number(url.searchParams.get('limit') ?? 50)
      return { status: 200, body: { items: modules.slice(offset, offset + limit), total: modules.length, unread: [] } }
    }
    if (url.pathname !== '/api/v1/previews') return undefined
    const { items } = body as { items: { kyma: string; module: string }[] }
    const object = { kind: 'Module', namespace: 'kcp-system', name: 'notes' }
    const templates = items.map(({ kyma, module }) => ({ kyma, module, version: '1.1.0', namespace: 'shop', hub: '', origin: '' }))
    return { status: 200, body: { diff: items.map(({ kyma }) => ({ kyma, object, change: 'Update', fields: [] })), templates } }
  }
  show('/upgrade', 'data', instead)
  await user.click(await screen.findByRole('button', { name: 'Choose all that match, of 130 modules' }))
  expect(await screen.findByText('128 modules chosen, 80 of them not on this page')).toBeTruthy()
  expect(screen.getByRole('checkbox', { name: 'Upgrade notes in kcp-system/k3' })).toHaveProperty('disabled', true)
  expect(screen.getByText('Not while it is suspended')).toBeTruthy()
  expect(screen.getAllByText('Manual').length).toBeGreaterThan(0)
  await user.click(screen.getByRole('button', { name: 'See what would change' }))
  expect(await screen.findByText('notes 1.1.0 in kcp-system/k7 comes from namespace shop of its cluster.')).toBeTruthy()
  expect(screen.getByText('in kcp-system/k129')).toBeTruthy()
  expect(screen.queryByText('in kcp-system/k3')).toBeNull()
})

it('does not offer an upgrade of a module that is suspended', async () => {
  const body = { module: module_('notes', { version, suspended: true }), access: { edit: true, delete: true, runtime: true } }
  const instead: Instead = (_, url) => (url.pathname === '/api/v1/modules/kcp-system/demo/notes' ? { status: 200, body } : undefined)
  show('/modules/kcp-system/demo/notes', 'data', instead)
  const button = await screen.findByRole('button', { name: 'Upgrade to 1.1.0' })
  await waitFor(() => expect(button.getAttribute('aria-disabled')).toBe('true'))
})
