import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { module_ } from '../../mock/fixtures'
import { show, type Instead } from '../testpage'

it('keeps the focus in the search that / led to, while somebody writes', async () => {
  const user = userEvent.setup()
  show('/')
  await screen.findByText('Operations in progress')
  await user.keyboard('/')
  const field = await screen.findByRole('searchbox', { name: 'Search modules' })
  await waitFor(() => expect(document.activeElement).toBe(field))
  await user.keyboard('dock')
  await waitFor(() => expect(screen.queryByRole('link', { name: 'greeter' })).toBeNull())
  expect(document.activeElement).toBe(field)
  await user.keyboard('er')
  expect(field).toHaveProperty('value', 'docker')
})

it('moves the focus to the page that somebody goes to, and names the window after it', async () => {
  const user = userEvent.setup()
  show('/')
  await screen.findByText('Operations in progress')
  expect(document.title).toBe('Overview · Kyma modules')
  await user.click(screen.getByRole('link', { name: 'Kymas' }))
  await screen.findByRole('heading', { level: 1, name: 'Kymas' })
  expect(document.activeElement?.id).toBe('main')
  expect(document.title).toBe('Kymas · Kyma modules')
})

describe('the search field', () => {
  const field = () => screen.getByRole<HTMLInputElement>('searchbox')
  it('is empty when everything is shown again', async () => {
    const user = userEvent.setup()
    show('/modules?search=nobody-has-this')
    await user.click(await screen.findByRole('button', { name: 'Show all' }))
    await waitFor(() => expect(field().value).toBe(''))
  })
  it('says what the address says, also after a link to the same page', async () => {
    const user = userEvent.setup()
    show('/modules')
    await screen.findByRole('link', { name: 'keda' })
    await user.type(field(), 'docker')
    await waitFor(() => expect(screen.queryByRole('link', { name: 'keda' })).toBeNull())
    await user.click(within(screen.getByRole('navigation', { name: 'Pages' })).getByRole('link', { name: 'Modules' }))
    await waitFor(() => expect(field().value).toBe(''))
    expect(await screen.findByRole('link', { name: 'keda' })).toBeTruthy()
  })
})

it('forgets what was typed a moment ago when the address changes', async () => {
  const user = userEvent.setup()
  show('/modules?search=docker')
  await screen.findByRole('link', { name: 'docker-registry' })
  await user.type(screen.getByRole('searchbox'), 'x')
  await user.click(within(screen.getByRole('navigation', { name: 'Pages' })).getByRole('link', { name: 'Modules' }))
  await screen.findByRole('link', { name: 'keda' })
  await new Promise((resolve) => setTimeout(resolve, 300)) // longer than the field waits for the next letter
  expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('')
  expect(screen.getByRole('link', { name: 'keda' })).toBeTruthy()
})

describe('a page beyond the end', () => {
  it.each(['/modules', '/kymas', '/catalog', '/upgrade', '/operations'])('of %s is not taken for nothing', async (route) => {
    const user = userEvent.setup()
    show(route + '?page=7')
    expect(await screen.findByRole('heading', { level: 2, name: 'The list ends before this page' })).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'To the first page' }))
    await waitFor(() => expect(screen.queryByText('The list ends before this page')).toBeNull())
  })
  it('stays what it is until the first page is there, and whoever went there reads on at the top', async () => {
    const user = userEvent.setup()
    let there = false
    const late: Instead = (_, url) =>
      url.pathname === '/api/v1/modules' && url.searchParams.get('offset') !== '300' && !there ? 'never' : undefined
    const { world } = show('/modules?page=7', 'data', late)
    await user.click(await screen.findByRole('button', { name: 'To the first page' }))
    expect(screen.queryByText('No modules yet')).toBeNull()
    expect(document.activeElement?.id).toBe('main')
    there = true
    world.changed()
    expect(await screen.findByRole('link', { name: 'keda' })).toBeTruthy()
  })
  it('of a list without anything says that there is nothing', async () => {
    show('/modules?page=2', 'empty')
    expect(await screen.findByText('No modules yet')).toBeTruthy()
  })
})

it('takes back only what all of this page means', async () => {
  const user = userEvent.setup()
  const { world } = show('/', 'empty')
  const old = { installed: '1.0.0', available: '1.1.0', outdated: true, mismatch: false }
  const of = (name: string, over = {}) => module_(name, { type: 'manageable', managed: false, version: { ...old }, ...over })
  world.modules = [
    of('alpha', { maintenance: true }),
    ...Array.from({ length: 60 }, (_, i) => of(`m${String(i).padStart(2, '0')}`)),
  ]
  await user.click(await screen.findByRole('link', { name: 'Upgrade' }))
  await user.click(await screen.findByRole('checkbox', { name: /^Upgrade alpha/ }))
  await user.click(screen.getByRole('checkbox', { name: /^Upgrade m00/ }))
  await user.click(screen.getByRole('button', { name: 'Page 2' }))
  await user.click(await screen.findByRole('checkbox', { name: /^All of this page/ }))
  expect(screen.getByText('13 modules chosen, 2 of them not on this page')).toBeTruthy()
  await user.click(screen.getByRole('checkbox', { name: /^All of this page/ }))
  expect(screen.getByText('2 modules chosen, 2 of them not on this page')).toBeTruthy()
})

it('says of each list how much of it needs somebody', async () => {
  show('/', 'many')
  const needs = await screen.findByRole('region', { name: 'Needs attention' })
  const links = within(needs).getAllByRole('link', { name: /like that$/ })
  expect(links.map((link) => [link.textContent, link.getAttribute('href')])).toEqual([
    ['All 7,142 modules like that', '/modules?state=Error&state=Warning'],
    ['All 1,428 Kymas like that', '/kymas?state=Error&state=Warning'],
  ])
})

describe('an address with nothing but a name', () => {
  it('leads to the deletion when it asks for it', async () => {
    show('/modules/keda/delete')
    expect(await screen.findByRole('heading', { level: 1, name: 'Delete keda' })).toBeTruthy()
  })
  it('lets one choose which one to delete', async () => {
    show('/modules/greeter/delete')
    const links = await screen.findAllByRole('link', { name: /^The one in Kyma/ })
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      '/modules/kcp-system/demo/greeter/delete',
      '/modules/kcp-system/shop-europe/greeter/delete',
    ])
  })
  it('never says that it is not there when not all could be looked at', async () => {
    show('/modules/runtime', 'many')
    expect((await screen.findByRole('link', { name: 'Search for it in the modules' })).getAttribute('href')).toBe('/modules?search=runtime')
    expect(screen.queryByText('runtime is not installed')).toBeNull()
  })
})
