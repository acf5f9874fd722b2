import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { show, type Instead } from '../testpage'

const next = (name: string) => screen.getByRole('button', { name: 'Next: ' + name })

describe('who is quick', () => {
  it('cannot go past the Kyma of the address while it is not there yet', async () => {
    const user = userEvent.setup()
    let there = false
    const late: Instead = (_, url) => (url.pathname.startsWith('/api/v1/kymas/') && !there ? 'never' : undefined)
    const { world } = show('/add?kyma=kcp-system/demo', 'data', late)
    await user.click(await screen.findByRole('checkbox', { name: 'notes' }))
    expect(next('Version')).toHaveProperty('disabled', true)
    there = true
    world.changed()
    await waitFor(() => expect(next('Version')).toHaveProperty('disabled', false))
    await waitFor(() => expect(screen.getByRole('combobox', { name: 'For which Kyma?' })).toHaveProperty('value', 'kcp-system/demo'))
  })
  it('waits for the list of Kymas, and goes on when nobody may read it', async () => {
    const user = userEvent.setup()
    let refused = false
    const late: Instead = (_, url) => {
      if (url.pathname !== '/api/v1/kymas') return undefined
      return refused ? { status: 403, body: { error: { reason: 'Forbidden', message: 'no' } } } : 'never'
    }
    const { world } = show('/add', 'data', late)
    await user.click(await screen.findByRole('checkbox', { name: 'notes' }))
    expect(next('Version')).toHaveProperty('disabled', true)
    refused = true
    world.changed()
    await waitFor(() => expect(next('Version')).toHaveProperty('disabled', false))
    expect(screen.getByText(/It cannot be read which Kymas there are/)).toBeTruthy()
  })
})

it('takes back what was chosen before the Kyma, which has it already', async () => {
  const user = userEvent.setup()
  show('/add')
  await user.click(await screen.findByRole('checkbox', { name: 'greeter' }))
  await user.click(screen.getByRole('combobox', { name: 'For which Kyma?' }))
  await user.click(await screen.findByRole('option', { name: 'kcp-system/demo' }))
  const box = await screen.findByRole('checkbox', { name: 'greeter, In this Kyma already' })
  expect(box).toHaveProperty('checked', true)
  await user.click(box)
  expect(box).toHaveProperty('checked', false)
  expect(box).toHaveProperty('disabled', true)
})

it('says what began and what was refused, and why', async () => {
  const user = userEvent.setup()
  const refusing: Instead = (method, url, body) =>
    method === 'POST' && url.pathname === '/api/v1/operations' && (body as { community: boolean }).community
      ? { status: 409, body: { error: { reason: 'Busy', message: 'another operation is under way' } } }
      : undefined
  show('/add?kyma=kcp-system/demo', 'data', refusing)
  await user.click(await screen.findByRole('checkbox', { name: 'notes' }))
  await user.click(await screen.findByRole('checkbox', { name: 'registry-proxy' }))
  await waitFor(() => expect(next('Version')).toHaveProperty('disabled', false))
  await user.click(next('Version'))
  await user.click(next('Configure'))
  await user.click(next('Check and add'))
  const add = await screen.findByRole('button', { name: 'Add 2 modules' })
  await waitFor(() => expect(add).toHaveProperty('disabled', false))
  await user.click(add)
  expect(await screen.findByRole('region', { name: 'Add notes' })).toBeTruthy()
  const alert = screen.getByRole('alert')
  expect(alert.textContent).toContain('Not added: registry-proxy')
  expect(alert.textContent).toContain('Another operation is under way.')
})

it('says that the source of an old address is gone, and lets one choose another', async () => {
  const user = userEvent.setup()
  show('/add?source=gone')
  expect(await screen.findByText(/There is no source gone any more/)).toBeTruthy()
  await user.selectOptions(screen.getByRole('combobox', { name: 'Modules from' }), 'The catalog of this cluster')
  expect(await screen.findByRole('checkbox', { name: 'notes' })).toBeTruthy()
})

it('asks for the module in the namespace from where somebody came', async () => {
  const queries: string[] = []
  show('/add?module=registry-proxy&namespace=elsewhere', 'data', (_, url) => {
    queries.push(url.pathname + url.search)
    return undefined
  })
  expect(await screen.findByRole('checkbox', { name: 'registry-proxy' })).toHaveProperty('checked', true)
  expect(queries).toContain('/api/v1/catalog/registry-proxy?namespace=elsewhere')
})

it('leads from an offer to that very one', async () => {
  show('/catalog/registry-proxy', 'data', (_, url) =>
    url.pathname === '/api/v1/catalog/registry-proxy'
      ? { status: 200, body: { name: 'registry-proxy', namespace: 'elsewhere', type: 'community', versions: [] } }
      : undefined,
  )
  expect((await screen.findByRole('link', { name: 'Add it' })).getAttribute('href')).toBe('/add?module=registry-proxy&namespace=elsewhere')
})
