// What a page must not say: that all is well while it is not known, and that nothing is newer where it did not look.
import { screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import type { Overview, State } from '../api'
import { show, type Instead } from '../testpage'

describe('the overview', () => {
  const of = (modules: Partial<Record<State, number>>): Instead => {
    const body: Overview = {
      kymas: { Ready: 1 },
      modules,
      outdated: 0,
      attention: { items: [], total: 0 },
      operations: [],
      health: { manager: { ready: true, message: '' } },
      unread: [],
    }
    return (_, url) => (url.pathname === '/api/v1/overview' ? { status: 200, body } : undefined)
  }
  it.each(['Processing', 'Deleting', 'Unknown'] as const)('gives no all-clear while a module is in state %s', async (state) => {
    show('/', 'data', of({ Ready: 3, [state]: 1 }))
    expect(await screen.findByText('Not everything is ready yet')).toBeTruthy()
    expect(screen.getByRole('link', { name: '1 module not ready yet' })).toBeTruthy()
    expect(screen.queryByText('Nothing needs you')).toBeNull()
  })
  it('gives it when everything is ready', async () => {
    show('/', 'data', of({ Ready: 3 }))
    expect(await screen.findByText('Nothing needs you')).toBeTruthy()
  })
})

describe('sources', () => {
  it('are in the catalog, with who answers for them, and what cannot be read', async () => {
    show('/catalog?source=our-own')
    const row = (await screen.findByRole('link', { name: 'billing' })).closest('tr')
    expect(screen.getByRole('link', { name: 'billing' }).getAttribute('href')).toBe('/catalog/billing?source=our-own')
    expect(row?.textContent).toContain('Writes invoices')
    expect(row?.textContent).toContain('Source our-own')
    expect(row?.textContent).toContain('Not installed')
    expect(await screen.findByText('Source broken cannot be read')).toBeTruthy()
  })
  it('are not read by the browser', async () => {
    const { asked } = show('/catalog')
    await screen.findByText('Source broken cannot be read')
    expect(asked.filter(({ path }) => path.startsWith('/api/v1/sources'))).toEqual([])
  })
  it('say how old that is which is shown of one that cannot be read', async () => {
    const line = { name: 'old', trust: 'Key', state: 'Failed', shown: true, read: new Date(Date.now() - 3.5 * 3600_000).toISOString() }
    const reading = { name: 'new', trust: 'Address', state: 'Reading', shown: false, modules: 0 }
    const sources = [{ ...line, modules: 1, error: 'it does not answer' }, reading]
    show('/catalog', 'data', (_, url) =>
      url.pathname === '/api/v1/catalog' ? { status: 200, body: { items: [], total: 0, unread: [], sources } } : undefined,
    )
    const notice = await screen.findByText(/It does not answer\. What is shown of it was read/)
    expect(notice.textContent).toMatch(/was read 3 hours ago/)
    expect(screen.getByText('Reading new…')).toBeTruthy()
    expect(screen.getByText('The sources are being read')).toBeTruthy()
  })
  it('are not taken for absent where they may not be listed', async () => {
    const unread = [{ kind: 'ConfigMap', reason: 'Forbidden', message: 'you may not list ConfigMaps in namespace kcp-system' }]
    show('/catalog', 'data', (_, url) =>
      url.pathname === '/api/v1/catalog' ? { status: 200, body: { items: [], total: 0, unread, sources: [] } } : undefined,
    )
    expect(await screen.findByText('You may not list ConfigMaps in namespace kcp-system.')).toBeTruthy()
  })
})
