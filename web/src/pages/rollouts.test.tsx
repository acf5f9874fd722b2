import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { all, causes, fleet } from '../../mock/rollouts'
import { modulesOf } from '../attention/links'
import type { FleetCause, FleetModule, Rollout } from '../api'
import { show } from '../testpage'
import { waitText } from './ModuleHistory'
import { soon } from './Rollout'

describe('the list of rollouts', () => {
  it('has a row for each channel, with the waves in words for users who cannot see the bar', async () => {
    show('/rollouts')
    const table = await screen.findByRole('table', { name: 'Rollouts' })
    expect(within(table).getAllByRole('link', { name: /^greeter/ }).map((link) => link.textContent)).toEqual([
      'greeter on channel regular',
      'greeter on channel fast',
    ])
    expect(within(table).getByRole('img', { name: /^canary: 3 of 3 Kymas ready; early: 48 of 120 Kymas ready, 3 updating/ })).toBeTruthy()
    expect(within(table).getAllByText('Halted')).toHaveLength(1)
    expect(within(table).getByText('Pending')).toBeTruthy()
  })
  it('says in one sentence that the hub has none, and nothing else', async () => {
    const missing = 'this hub does not serve ModuleRollout: a channel that moves reaches all of its Kymas at once'
    const old = { status: 200, body: { items: [], total: 0, unread: [], missing } }
    show('/rollouts', 'data', (_, url) => (url.pathname === '/api/v1/rollouts' ? old : undefined))
    expect(await screen.findByText(/^This hub does not serve ModuleRollout/)).toBeTruthy()
    expect(screen.queryByText('No rollouts yet')).toBeNull()
    expect(screen.queryByText('0 rollouts')).toBeNull()
  })
})

const sent = (asked: { method: string; path: string; body: unknown }[], path: string) =>
  asked.filter((a) => a.method === 'POST' && a.path === '/api/v1/' + path).map((a) => a.body)

it('a rollout that halted is among what needs attention', async () => {
  show('/')
  const list = (await screen.findByRole('heading', { name: 'Needs attention' })).closest('section') as HTMLElement
  expect(within(list).getAllByRole('link')[0]?.getAttribute('href')).toBe('/rollouts/kcp-system/greeter')
})

describe('a rollout', () => {
  it('leads to the Kymas that fail, the worst first', async () => {
    show('/rollouts/kcp-system/greeter')
    const worst = await screen.findByRole('table', { name: 'Kymas that failed or are late' })
    expect(within(worst).getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual([
      '/modules/kcp-system/shop-asia/greeter',
      '/modules/kcp-system/shop-europe/greeter',
      '/modules/kcp-system/demo/greeter',
    ])
  })
  it('marks the wave that is under way, and counts it in every state', async () => {
    show('/rollouts/kcp-system/greeter')
    const channel = await screen.findByRole('region', { name: 'Channel regular' })
    const now = within(channel)
      .getAllByRole('listitem')
      .find((item) => item.getAttribute('aria-current') === 'step')
    expect(now?.textContent).toMatch(/early.*ready48updating3failed3broken before2skipped3waiting61/)
  })
  it('asks before it resumes, shows who is forgiven, and sends what its user saw', async () => {
    const user = userEvent.setup()
    const { asked } = show('/rollouts/kcp-system/greeter')
    await user.click(await screen.findByRole('button', { name: 'Resume on channel regular' }))
    const dialog = await screen.findByRole('dialog')
    expect(await within(dialog).findByText(/The failure of Kymas is forgiven: 2/)).toBeTruthy()
    expect(sent(asked, 'operations')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Resume' }))
    await waitFor(() => expect(sent(asked, 'operations')).toHaveLength(1))
    expect(sent(asked, 'operations')[0]).toMatchObject({
      kind: 'rollout',
      rollout: 'kcp-system/greeter',
      action: 'resume',
      channel: 'regular',
      wave: 'early',
      target: expect.stringMatching(/^1\.3\.0@sha256:/) as string,
    })
  })
  it('says where an abort sets the channel back to', async () => {
    const user = userEvent.setup()
    show('/rollouts/kcp-system/greeter')
    await user.click(await screen.findByRole('button', { name: 'Abort on channel regular' }))
    const dialog = await screen.findByRole('dialog', { name: 'Abort the rollout of greeter 1.3.0, and offer 1.2.0 again?' })
    expect(await within(dialog).findByText(/ModuleReleaseMeta/)).toBeTruthy()
  })
  it('offers nothing where nothing can be decided', async () => {
    show('/rollouts/kcp-system/greeter')
    const done = await screen.findByRole('region', { name: 'Channel fast' })
    expect(within(done).queryAllByRole('button')).toEqual([])
  })
  it('cannot be changed by who may not, and says why', async () => {
    const user = userEvent.setup()
    const { asked } = show('/rollouts/kcp-system/telemetry')
    const pause = await screen.findByRole('button', { name: 'Pause' })
    expect(pause.getAttribute('aria-disabled')).toBe('true')
    await user.hover(pause)
    expect(await screen.findByText(/You may not change this rollout/)).toBeTruthy()
    await user.click(pause)
    await user.click(screen.getByRole('button', { name: 'Abort on channel fast' }))
    expect(sent(asked, 'previews')).toEqual([])
  })
  it('says that nothing begins before it is looked at, and why a plan cannot be carried out', async () => {
    show('/rollouts/kcp-system/keda')
    expect(await screen.findByText('The lifecycle manager has not looked at it yet.')).toBeTruthy()
    const trouble = { armed: false, armedMessage: 'the release is not marked yet', problem: 'wave a selects nothing' }
    const wrong: Rollout = { ...(all[1] as Rollout), ...trouble }
    const detail = { rollout: wrong, selects: {}, conditions: [], actions: [], decisions: [[]], events: [], unread: [] }
    show('/rollouts/kcp-system/broken', 'data', (_, url) =>
      url.pathname.endsWith('/broken') ? { status: 200, body: detail } : undefined,
    )
    expect(await screen.findByText('Wave a selects nothing.')).toBeTruthy()
    expect(screen.getByText('The release is not marked yet.')).toBeTruthy()
  })
  it('goes on by itself at a time of day, with its date when that is another day', () => {
    const now = new Date(2026, 0, 2, 3, 4)
    expect(soon(new Date(2026, 0, 2, 5, 0).toISOString(), now)).toMatch(/^at \d/)
    expect(soon(new Date(2026, 0, 3, 5, 0).toISOString(), now)).toMatch(/^on .* at /)
    expect(soon('nonsense', now)).toBe('later')
  })
})

describe('the fleet', () => {
  const greeter = fleet[0] as FleetModule
  it('leads from a number to these modules, and says what they have in common', async () => {
    const user = userEvent.setup()
    const { where, asked } = show('/fleet')
    const link = await screen.findByRole('link', { name: /^greeter 1\.3\.0 ?57 Kymas$/ })
    expect(asked.filter((a) => a.method === 'POST')).toEqual([])
    await user.click(link)
    expect(where()).toBe('/modules?module=greeter&namespace=kcp-system&version=1.3.0')
    const only = await screen.findByRole('group', { name: 'Only these' })
    expect(within(only).getByRole('button', { name: /^Module greeter/ })).toBeTruthy()
    await user.click(within(only).getByRole('button', { name: 'Show all' }))
    await waitFor(() => expect(where()).toBe('/modules'))
  })
  it('names what is not installed yet, and leads to the versions that it does not list', async () => {
    show('/fleet')
    const versions = await screen.findByRole('list', { name: 'Versions of greeter' })
    expect(within(versions).getByRole('link', { name: /^greeter not installed yet ?1 Kyma/ })).toBeTruthy()
    const others = within(versions).getByRole('link', { name: /^2 more versions ?2$/ })
    expect(others.getAttribute('href')).toBe(
      '/modules?module=greeter&namespace=kcp-system' +
        ['0.9.9', '1.0.4', '1.1.0', '1.2.0', '1.3.0', 'none'].map((version) => '&notVersion=' + version).join(''),
    )
    expect(modulesOf(greeter, { version: '' })).toBe('/modules?module=greeter&namespace=kcp-system&version=none')
    expect(modulesOf(greeter)).toBe('/modules?module=greeter&namespace=kcp-system')
  })
  it('leads from what is in trouble to exactly that', async () => {
    show('/fleet')
    const link = await screen.findByRole('link', { name: /^3 need attention with greeter 1\.3\.0$/ })
    expect(link.getAttribute('href')).toBe('/modules?attention=true&module=greeter&namespace=kcp-system&version=1.3.0')
    const attention = screen.getByRole('region', { name: 'Attention' })
    expect(within(attention).getByRole('link').getAttribute('href')).toBe('/modules?attention=true')
  })
  it('groups what needs attention by its cause, and leads to the modules of one', async () => {
    const user = userEvent.setup()
    const { where } = show('/fleet')
    const table = await screen.findByRole('table', { name: 'Modules that need attention, by cause' })
    expect(within(table).getByText(/the image cannot be pulled/)).toBeTruthy()
    expect(within(table).getByRole('link', { name: /^2 modules in 1 Kyma / })).toBeTruthy()
    await user.click(within(table).getByRole('link', { name: /^1 Kyma with beacon/ }))
    expect(where()).toBe('/modules?cause=5d1c6a1e0f3b2a49&module=beacon&reason=ManagerNotReady')
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2)) // with the head
  })
  it('shows more causes on request, which Back takes back', async () => {
    const user = userEvent.setup()
    const cause = { ...(causes[0] as FleetCause) }
    const { where, back } = show('/fleet', 'data', (_, url) => {
      if (url.pathname !== '/api/v1/fleet/causes') return undefined
      const items = Array.from({ length: Math.min(30, Number(url.searchParams.get('limit'))) }, (_, i) => ({ ...cause, id: String(i) }))
      return { status: 200, body: { items, total: 30 } }
    })
    expect(await screen.findByText('10 of 30 causes, the worst first')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Show more' }))
    expect(await screen.findByText('30 of 30 causes, the worst first')).toBeTruthy()
    expect(where()).toBe('/fleet?causes=all')
    back()
    expect(await screen.findByText('10 of 30 causes, the worst first')).toBeTruthy()
  })
  it('without trouble says so', async () => {
    show('/fleet', 'fine')
    expect(await screen.findByText('No module that you may see needs attention.')).toBeTruthy()
    expect(screen.getByText('No module needs attention.')).toBeTruthy()
  })
  it('links no version that no Kyma has', async () => {
    show('/fleet')
    const versions = await screen.findByRole('list', { name: 'Versions of notes' })
    expect(within(versions).getAllByRole('link')).toHaveLength(1)
    expect(versions.textContent).toContain('2.1.0')
  })
})

describe('a module that waits for its rollout', () => {
  it('says so once, with the way to the rollout, and offers no upgrade past it', async () => {
    show('/modules/kcp-system/shop-europe/greeter?tab=history')
    const link = await screen.findByRole('link', { name: 'How far the rollout is' })
    expect(link.getAttribute('href')).toBe('/rollouts/kcp-system/greeter')
    expect(screen.getByRole('button', { name: 'Upgrade to 1.3.0' }).getAttribute('aria-disabled')).toBe('true')
  })
  it.each([
    ['1.3.0 waits for its rollout: wave rest has not begun.', 'wave rest has not begun'],
    ['Version 1.3.0 waits for its rollout, in wave rest.', 'version 1.3.0 waits for its rollout, in wave rest'],
    ['1.3.0 waits for its rollout.', undefined],
  ])('%s', (want, message) => {
    expect(waitText({ version: '1.3.0', message })).toBe(want)
  })
})

describe('the history of a module', () => {
  const page = '/modules/kcp-system/x/greeter?tab=history'
  const bare = {
    module: { name: 'greeter', kyma: 'kcp-system/x', version: {}, module: {}, installation: {}, signed: {} },
    access: {},
    timeline: [],
  }
  it('is told from the newest on, with the way back and what is avoided', async () => {
    show('/modules/kcp-system/demo/greeter?tab=history')
    const history = await screen.findByRole('list', { name: 'History' })
    const items = within(history).getAllByRole('listitem').map((item) => item.textContent)
    const lines = items.filter((text) => /Revision \d/.test(text))
    expect(lines[0]).toMatch(/^1\.2\.0Succeedednow.*begun while the module was in state Error/)
    expect(lines[1]).toMatch(/^1\.3\.0Rolled backnot tried again.*Ended with ProgressDeadlineExceeded/)
    expect(lines[2]).toMatch(/^1\.1\.0Succeeded ?can be restored/)
    expect(screen.getByRole('button', { name: 'Roll back to 1.1.0' })).toBeTruthy()
  })
  it('goes back when its user has typed the name of the module, and not before', async () => {
    const user = userEvent.setup()
    const { asked } = show('/modules/kcp-system/demo/greeter?tab=history')
    await user.click(await screen.findByRole('button', { name: 'Roll back to 1.1.0' }))
    const dialog = await screen.findByRole('dialog', { name: 'Roll greeter back to 1.1.0?' })
    expect(await within(dialog).findByText(/author does not vouch/)).toBeTruthy()
    const go = within(dialog).getByRole('button', { name: 'Roll back to 1.1.0' })
    expect(go).toHaveProperty('disabled', true)
    await user.type(within(dialog).getByRole('textbox'), 'greeter')
    await user.click(go)
    await waitFor(() => expect(sent(asked, 'operations')).toHaveLength(1))
    expect(sent(asked, 'operations')[0]).toMatchObject({
      kind: 'back',
      kyma: 'kcp-system/demo',
      module: 'greeter',
      version: '1.1.0',
      target: expect.stringMatching(/^1\.2\.0@sha256:/) as string,
      confirmation: 'greeter',
    })
  })
  it('can be tried again by who may change the Kyma', async () => {
    const user = userEvent.setup()
    const { asked } = show('/modules/kcp-system/demo/greeter?tab=history')
    await user.click(await screen.findByRole('button', { name: 'Try again' }))
    const dialog = await screen.findByRole('dialog')
    await user.click(await within(dialog).findByRole('button', { name: 'Try again' }))
    await waitFor(() => expect(sent(asked, 'operations')).toEqual([{ kind: 'retry', kyma: 'kcp-system/demo', module: 'greeter' }]))
  })
  it('cannot be changed by who may not change the Kyma', async () => {
    show('/modules/kcp-system/shop-europe/greeter?tab=history')
    const button = await screen.findByRole('button', { name: 'Try again' })
    expect(button.getAttribute('aria-disabled')).toBe('true')
  })
  it('that may not be read is not taken for none', async () => {
    const unread = [{ kind: 'Manifest.operator.kyma-project.io', reason: 'Forbidden', message: 'you may not list Manifests' }]
    const body = { ...bare, unread }
    show(page, 'data', (_, url) => (url.pathname.endsWith('/greeter') ? { status: 200, body } : undefined))
    expect(await screen.findByText('Nothing that you may see')).toBeTruthy()
    expect(screen.queryByText('No history yet')).toBeNull()
  })
  it('has not begun for a module that was not installed', async () => {
    show(page, 'data', (_, url) => (url.pathname.endsWith('/greeter') ? { status: 200, body: bare } : undefined))
    expect(await screen.findByText('No history yet')).toBeTruthy()
  })
})
