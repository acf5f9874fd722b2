// What a page must not say: that all is well while it is not known, and that nothing is newer where it did not look.
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import type { Overview, State } from '../api'
import * as fixtures from '../../mock/fixtures'
import { newestAbove } from '../versions'
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
  const installed = fixtures.module_('billing', {
    kyma: undefined,
    type: 'community',
    origin: 'oci://registry.example.com/catalogs/own:1',
    version: { installed: '0.9.0', desired: '0.9.0', outdated: false, mismatch: false },
  })
  const instead: Instead = (_, url) => {
    if (url.pathname === '/api/v1/modules')
      return { status: 200, body: url.searchParams.has('outdated') ? { items: [], total: 0 } : { items: [installed], total: 1 } }
    return undefined
  }
  it('are looked at for upgrades, which can be asked for', async () => {
    const user = userEvent.setup()
    const { asked } = show('/upgrade', 'data', instead)
    const table = await screen.findByRole('table', { name: 'Newer in sources' })
    expect(within(table).getByText('1.0.0')).toBeTruthy()
    await user.click(within(table).getByRole('checkbox'))
    await user.click(screen.getByRole('button', { name: 'See what would change' }))
    await screen.findByRole('region', { name: 'What would change' })
    const preview = asked.find(({ path }) => path === '/api/v1/previews')
    expect(preview?.body).toMatchObject({ kind: 'upgrade', items: [{ kyma: '', module: 'billing', version: '1.0.0' }] })
  })
  it('are in the catalog, with what cannot be read', async () => {
    show('/catalog')
    const source = await screen.findByRole('region', { name: 'Source our-own' })
    expect(within(source).getByRole('link', { name: /billing/ }).getAttribute('href')).toBe('/add?module=billing&source=our-own')
    expect(await screen.findByText('Source broken cannot be read')).toBeTruthy()
  })
  it('are read once for several visits, but for those that cannot be read', async () => {
    const user = userEvent.setup()
    const { asked, back } = show('/catalog')
    await screen.findByText('Source broken cannot be read')
    await user.click(screen.getByRole('link', { name: 'Overview' }))
    await waitFor(() => expect(screen.queryByText('Source broken cannot be read')).toBeNull())
    back()
    await screen.findByText('Source broken cannot be read')
    expect(await screen.findByRole('region', { name: 'Source our-own' })).toBeTruthy()
    const read = asked.filter(({ path }) => path === '/api/v1/sources/test').map(({ body }) => (body as { name: string }).name)
    expect(read.sort()).toEqual(['broken', 'broken', 'community', 'our-own'])
  })
  it('are not taken for absent where they may not be listed', async () => {
    const message = 'you may not list ConfigMaps in namespace kcp-system'
    show('/catalog', 'data', (_, url) =>
      url.pathname === '/api/v1/sources' ? { status: 403, body: { error: { reason: 'Forbidden', message } } } : undefined,
    )
    expect(await screen.findByText('The sources of community modules cannot be listed')).toBeTruthy()
    expect(screen.getByText(/^You may not list ConfigMaps in namespace kcp-system\. What they hold is missing here\./)).toBeTruthy()
  })
  it('give the newest version, and a prerelease only to who has one', () => {
    expect(newestAbove(['1.1.0', '2.0.0-rc', '1.2.0'], '1.0.0')).toBe('1.2.0')
    expect(newestAbove(['2.0.0-rc', '1.2.0'], '2.0.0-beta')).toBe('2.0.0-rc')
    expect(newestAbove(['1.0.0'], '1.0.0')).toBe('')
  })
})
