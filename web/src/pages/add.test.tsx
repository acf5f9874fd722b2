import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { show, type Instead } from '../testpage'

const next = (name: string) => screen.getByRole('button', { name: 'Next: ' + name })

/** lateKyma leaves the Kyma of the address without an answer until it comes. */
function lateKyma() {
  let there = false
  const instead: Instead = (_, url) => (url.pathname.startsWith('/api/v1/kymas/') && !there ? 'never' : undefined)
  const comes = () => {
    there = true
  }
  return { instead, comes }
}
const inDemo = () =>
  waitFor(() => expect(screen.getByRole('combobox', { name: 'For which Kyma?' })).toHaveProperty('value', 'kcp-system/demo'))

describe('the module of the address', () => {
  const box = (name: string) => screen.findByRole('checkbox', { name })
  it('stays chosen when somebody comes back from the next step', async () => {
    const user = userEvent.setup()
    show('/add?kyma=kcp-system/demo&module=notes')
    await waitFor(async () => expect(await box('notes')).toHaveProperty('checked', true))
    await user.click(next('Version'))
    await user.click(await screen.findByRole('button', { name: 'Back' }))
    expect(await box('notes')).toHaveProperty('checked', true)
  })
  it('does not come back when somebody took it back', async () => {
    const user = userEvent.setup()
    show('/add?kyma=kcp-system/demo&module=notes')
    await waitFor(async () => expect(await box('notes')).toHaveProperty('checked', true))
    await user.click(await box('notes'))
    await user.click(await box('registry-proxy'))
    await user.click(next('Version'))
    await user.click(await screen.findByRole('button', { name: 'Back' }))
    expect(await box('registry-proxy')).toHaveProperty('checked', true)
    expect(await box('notes')).toHaveProperty('checked', false)
  })
  it('stays chosen when somebody chose it before the Kyma was there', async () => {
    const user = userEvent.setup()
    const late = lateKyma()
    const { world } = show('/add?kyma=kcp-system/demo&module=notes', 'data', late.instead)
    await user.click(await box('notes'))
    late.comes()
    world.changed()
    await inDemo()
    expect(await box('notes')).toHaveProperty('checked', true)
  })
  it('is not chosen before it is known whether its Kyma has it', async () => {
    const late = lateKyma()
    const { world } = show('/add?kyma=kcp-system/demo&module=greeter', 'data', late.instead)
    expect(await box('greeter')).toHaveProperty('checked', false)
    await screen.findByRole('combobox', { name: 'For which Kyma?' })
    expect(await box('greeter')).toHaveProperty('checked', false)
    late.comes()
    world.changed()
    await inDemo()
    expect(await box('greeter, Already in this Kyma')).toHaveProperty('checked', false)
  })
})

describe('who is quick', () => {
  it('cannot go past the Kyma of the address while it is not there yet', async () => {
    const user = userEvent.setup()
    const late = lateKyma()
    const { world } = show('/add?kyma=kcp-system/demo', 'data', late.instead)
    await user.click(await screen.findByRole('checkbox', { name: 'notes' }))
    await screen.findByRole('combobox', { name: 'For which Kyma?' })
    expect(screen.getByText('It is not known yet which Kymas there are.')).toBeTruthy()
    expect(next('Version')).toHaveProperty('disabled', true)
    late.comes()
    world.changed()
    await waitFor(() => expect(next('Version')).toHaveProperty('disabled', false))
    await inDemo()
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

it('says why it is not known which Kymas there are', async () => {
  const message = 'the API server does not answer'
  show('/add', 'data', (_, url) =>
    url.pathname === '/api/v1/kymas' ? { status: 503, body: { error: { reason: 'Unavailable', message } } } : undefined,
  )
  expect(await screen.findByText('The API server does not answer.')).toBeTruthy()
})

it('takes back what was chosen before the Kyma, which has it already', async () => {
  const user = userEvent.setup()
  show('/add')
  await user.click(await screen.findByRole('checkbox', { name: 'greeter' }))
  await user.click(screen.getByRole('combobox', { name: 'For which Kyma?' }))
  await user.click(await screen.findByRole('option', { name: 'kcp-system/demo' }))
  const box = await screen.findByRole('checkbox', { name: 'greeter, Already in this Kyma' })
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
  await user.click(within(screen.getByRole('navigation', { name: 'Pages' })).getByRole('link', { name: 'Add modules' }))
  expect(await screen.findByRole('checkbox', { name: 'registry-proxy' })).toHaveProperty('checked', false) // it begins again
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
