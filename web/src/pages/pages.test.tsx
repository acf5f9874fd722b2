import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it, vi } from 'vitest'
import { settings } from '../../mock/fixtures'
import { tabs } from '../app/session'
import { show } from '../testpage'

const routes = [
  '/',
  '/kymas',
  '/kymas/kcp-system/demo',
  '/modules',
  '/modules/kcp-system/demo/beacon',
  '/modules/kcp-system/demo/greeter/delete',
  '/direct/docker-registry',
  '/direct/docker-registry/delete',
  '/catalog',
  '/catalog/greeter',
  '/add',
  '/upgrade',
  '/sources',
  '/releases',
  '/rollouts',
  '/rollouts/kcp-system/greeter',
  '/fleet',
  '/operations',
  '/operations/run',
  '/settings',
  '/nowhere',
]

describe('every page', () => {
  it.each(routes)('%s has one heading and something to read', async (route) => {
    show(route)
    await waitFor(() => expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1))
    await waitFor(() => expect(screen.queryAllByRole('status', { name: 'Loading' })).toHaveLength(0))
    expect(screen.queryByText('This page broke')).toBeNull()
  })
  it.each(routes.filter((route) => !['/settings', '/nowhere'].includes(route)))('%s says that it may not be seen', async (route) => {
    show(route, 'forbidden')
    expect((await screen.findAllByText('You may not see this')).length).toBeGreaterThan(0)
  })
  it.each(['/', '/kymas', '/modules', '/catalog', '/upgrade', '/sources', '/releases', '/rollouts', '/fleet', '/operations'])(
    '%s explains that there is nothing',
    async (route) => {
      show(route, 'empty')
      expect(
        await screen.findByText(/^(No |There is no|The catalog is empty|Everything is up to date|Nothing was done)/, { selector: 'h2' }),
      ).toBeTruthy()
    },
  )
  const lists = ['/', '/kymas', '/modules', '/fleet', '/releases', '/rollouts', '/catalog', '/upgrade', '/sources']
  it.each(lists)('%s never takes what could not be read for nothing', async (route) => {
    show(route, 'blind')
    expect(await screen.findByText('Not everything could be read, so something may be missing here')).toBeTruthy()
    expect(screen.getByText('Nothing that you may see')).toBeTruthy()
    const claims =
      /^(No (modules|releases|rollouts|sources) yet|There is no Kyma|The catalog is empty|None|0 Kymas|0 modules|Everything is )/
    expect(screen.queryByText(claims)).toBeNull()
  })
  it('adding does not say that there is no Kyma to who may not look', async () => {
    show('/add', 'blind')
    expect(await screen.findByText(/It cannot be read which Kymas there are/)).toBeTruthy()
    expect(screen.queryByText(/There is no Kyma here/)).toBeNull()
  })
  it('says that the cluster does not answer', async () => {
    show('/', 'error')
    expect(await screen.findByText('The cluster does not answer')).toBeTruthy()
  })
})

describe('hostile text', () => {
  it.each(['/', '/modules', '/kymas', '/operations'])('stays text on %s', async (route) => {
    const { page } = show(route, 'hostile')
    await waitFor(() => expect(page.container.textContent).toContain('<img src=x'))
    expect(page.container.querySelector('main img, main script')).toBeNull()
    expect([...page.container.querySelectorAll('a')].filter((a) => /^\s*(javascript|data):/i.test(a.getAttribute('href') ?? ''))).toEqual(
      [],
    )
    expect((window as { hacked?: number }).hacked).toBeUndefined()
  })
  it('does not follow links that are no https', async () => {
    show('/modules/kcp-system/demo/greeter')
    expect((await screen.findByText('javascript:alert(1)')).closest('a')).toBeNull()
    expect((await screen.findByText('Documentation')).closest('a')?.getAttribute('rel')).toBe('noopener noreferrer')
  })
})

describe('deleting', () => {
  it('names what is in the way, and deletes only what was shown and confirmed', async () => {
    const user = userEvent.setup()
    const { asked } = show('/modules/kcp-system/demo/greeter/delete')
    expect(await screen.findByText('2 objects in the way')).toBeTruthy()
    expect(screen.getByText('shop/hello')).toBeTruthy()
    expect(screen.getByText('waits for example.com/clean-up')).toBeTruthy()
    expect(screen.queryByRole('button', { name: /^Delete/ })).toBeNull()
    await user.click(screen.getByRole('checkbox'))
    const button = await screen.findByRole('button', { name: 'Delete 2 objects and greeter' })
    expect(button).toHaveProperty('disabled', true)
    await user.type(await screen.findByRole('textbox'), 'greeter')
    await waitFor(() => expect(button).toHaveProperty('disabled', false))
    expect(asked.filter((a) => a.path === '/api/v1/operations' && a.method === 'POST')).toEqual([])
    await user.click(button)
    expect(await screen.findByText('Remove it from the Kyma')).toBeTruthy()
    const sent = asked.find((a) => a.path === '/api/v1/operations' && a.method === 'POST')?.body
    expect(sent).toMatchObject({
      kind: 'delete',
      cascade: true,
      confirmation: 'greeter',
      previewed: [
        { uid: 'u1', name: 'hello' },
        { uid: 'u2', name: 'bye' },
      ],
    })
  })
})

describe('the wizard', () => {
  it('leads from a choice to a running operation', async () => {
    const user = userEvent.setup()
    const { asked } = show('/add?kyma=kcp-system/demo')
    await user.click(await screen.findByRole('checkbox', { name: 'notes' }))
    await user.click(screen.getByRole('button', { name: 'Next: Version' }))
    expect(await screen.findByText('As the Kyma: channel regular, now 2.0.0')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Next: Configure' }))
    await user.click(await screen.findByRole('button', { name: 'Next: Check and add' }))
    const review = await screen.findByRole('region', { name: 'What would happen' })
    expect(within(review).getByText(/name: notes/)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Add notes' }))
    expect(await screen.findByText('Wait until it is ready')).toBeTruthy()
    expect(asked.filter((a) => a.path === '/api/v1/operations' && a.method === 'POST')).toHaveLength(1)
  })
  it('refuses what the Kyma has already, and says why', async () => {
    const user = userEvent.setup()
    show('/add?kyma=kcp-system/demo')
    await user.click(await screen.findByRole('checkbox', { name: 'keda' }))
    await user.click(screen.getByRole('button', { name: 'Next: Version' }))
    await user.click(await screen.findByText('Advanced: without the lifecycle manager'))
    await user.click(screen.getByRole('checkbox', { name: 'Install without the lifecycle manager' }))
    await user.click(screen.getByRole('button', { name: 'Next: Configure' }))
    await user.click(await screen.findByRole('button', { name: 'Next: Check and add' }))
    expect(await screen.findByText(/The Kyma has module keda already/)).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Add keda' })).toHaveProperty('disabled', true)
  })
})

describe('the steps of the wizard', () => {
  const begun = async (module: string) => {
    const user = userEvent.setup()
    show('/add?kyma=kcp-system/demo')
    await user.click(await screen.findByRole('checkbox', { name: module }))
    return { user, press: (name: string) => user.click(screen.getByRole('button', { name })) }
  }
  const focused = (name: string) => waitFor(() => expect(document.activeElement).toBe(screen.getByRole('heading', { level: 2, name })))
  it('are read from their heading on, forwards and back', async () => {
    const { press } = await begun('notes')
    expect(document.activeElement?.tagName).not.toBe('H2')
    await press('Next: Version')
    await focused('Versions')
    await press('Next: Configure')
    await focused('Configuration')
    await press('Next: Check and add')
    await focused('Check and add')
    await press('Back')
    await focused('Configuration')
    await press('Back')
    await focused('Versions')
    await press('Back')
    await focused('Choose modules')
  })
  it('leave the focus where somebody writes', async () => {
    const { user } = await begun('notes')
    const field = screen.getByRole('searchbox')
    await user.type(field, 'note')
    expect(document.activeElement).toBe(field)
  })
  it('warn of community modules once, before they are chosen for good', async () => {
    const { press } = await begun('registry-proxy')
    const warned = () => screen.queryAllByText('Community modules come without guarantees').length
    await press('Next: Version')
    await focused('Versions')
    expect(warned()).toBe(1)
    await press('Next: Configure')
    await press('Next: Check and add')
    expect(await screen.findByRole('region', { name: 'What would happen' })).toBeTruthy()
    expect(warned()).toBe(0) // the server's preview warns of each by its name
  })
})

describe('the lifecycle manager', () => {
  it('is neither broken nor absent when nobody may look', async () => {
    const message = 'it is not known whether the lifecycle manager runs: you may not read its Leases and Deployment'
    vi.spyOn(settings, 'health', 'get').mockReturnValue([{ what: 'lifecycle manager', state: 'Unknown', message }])
    vi.spyOn(settings, 'versions', 'get').mockReturnValue({ dashboard: 'v0.7.0', kubernetes: '', manager: '', crds: null })
    show('/settings')
    const health = await screen.findByRole('region', { name: 'Components' })
    expect(within(health).getByText('Unknown').className).toContain('tone-idle')
    expect(within(health).queryByText('Error')).toBeNull()
    expect(screen.queryByText('not found')).toBeNull()
  })
})

describe('logging in', () => {
  it('goes on where another tab has logged in', async () => {
    const { world } = show('/kymas', 'login')
    await screen.findByLabelText(/^Token/)
    world.loggedIn = true
    const other = new BroadcastChannel(tabs)
    other.postMessage('in')
    expect(await screen.findByRole('heading', { level: 1, name: 'Kymas' })).toBeTruthy()
    other.close()
  })
  it('sends everybody without a session to the login page, and back', async () => {
    const user = userEvent.setup()
    show('/kymas', 'login')
    await user.type(await screen.findByLabelText(/^Token/), 'wrong')
    await user.click(screen.getByRole('button', { name: 'Log in' }))
    expect(await screen.findByText(/The cluster does not take this token/)).toBeTruthy()
    await user.clear(screen.getByLabelText(/^Token/))
    await user.type(screen.getByLabelText(/^Token/), 'right')
    await user.click(screen.getByRole('button', { name: 'Log in' }))
    expect(await screen.findByRole('heading', { level: 1, name: 'Kymas' })).toBeTruthy()
  })
})

it('shows a change of the cluster without being asked', async () => {
  const { world } = show('/operations/run')
  expect(await screen.findByText('runs')).toBeTruthy()
  const running = world.operations.find((o) => o.id === 'run')
  if (running) world.put({ ...running, state: 'Failed', message: 'it broke' })
  expect(await screen.findByText('It broke.')).toBeTruthy()
})

it('goes to the search of the modules when somebody presses / on a page without one', async () => {
  const user = userEvent.setup()
  show('/')
  await screen.findByText('Operations in progress')
  await user.keyboard('/')
  await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Search modules'))
})

it('keeps what was searched and filtered in the address, and asks the server for it', async () => {
  const user = userEvent.setup()
  show('/modules?state=Error')
  expect(await screen.findByRole('link', { name: 'beacon' })).toBeTruthy()
  expect(screen.queryByRole('link', { name: 'keda' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Error' }))
  expect(await screen.findByRole('link', { name: 'keda' })).toBeTruthy()
  await user.type(screen.getByRole('searchbox'), 'docker')
  await waitFor(() => expect(screen.queryByRole('link', { name: 'keda' })).toBeNull())
  expect(screen.getByRole('link', { name: 'docker-registry' })).toBeTruthy()
})

it('shows a page of 5,000 Kymas, and the next', async () => {
  const user = userEvent.setup()
  show('/kymas?sort=name', 'many')
  expect(await screen.findByText('1–50 of 5,000 Kymas')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Page 2' }))
  expect(await screen.findByRole('link', { name: 'runtime-0050' })).toBeTruthy()
})
