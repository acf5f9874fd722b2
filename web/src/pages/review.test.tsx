// What a version may do, who must agree, what it needs, and what a promotion would do.
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import type { Need } from '../api'
import { missing } from '../review/Needs'
import { show, type Instead } from '../testpage'
import { verbOf } from './deletion'

const sent = (asked: { method: string; path: string; body: unknown }[], path: string) =>
  asked.filter((a) => a.method === 'POST' && a.path === '/api/v1/' + path).map((a) => a.body)

const notes = '/modules/kcp-system/demo/notes'

describe('a version that waits for consent', () => {
  it('says in one sentence what is new, and agrees to exactly what was shown', async () => {
    const user = userEvent.setup()
    const { asked } = show(notes)
    const card = await screen.findByRole('region', { name: '2.1.0 waits for your consent' })
    expect(within(card).getByText('2.1.0 also wants to read every Secret of the cluster, and asks for 3 more things.')).toBeTruthy()
    expect(card.textContent).toContain('Until then 2.0.0 keeps running')
    expect(screen.queryByRole('button', { name: /^Upgrade to/ })).toBeNull()
    await user.click(within(card).getByRole('button', { name: 'Approve 2.1.0' }))
    const dialog = await screen.findByRole('dialog', { name: 'Approve notes 2.1.0?' })
    expect(await within(dialog).findByText(/2\.1\.0@sha256:/)).toBeTruthy()
    expect(sent(asked, 'operations')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Approve 2.1.0' }))
    await waitFor(() => expect(sent(asked, 'operations')).toHaveLength(1))
    expect(sent(asked, 'operations')[0]).toMatchObject({
      kind: 'approve',
      kyma: 'kcp-system/demo',
      module: 'notes',
      target: expect.stringMatching(/^2\.1\.0@sha256:[0-9a-f]{64}$/) as string,
    })
  })
  it('offers no button to a user whose consent is not what is missing, and says who must agree', async () => {
    show('/modules/kcp-system/shop-europe/telemetry?tab=permissions')
    const card = await screen.findByRole('region', { name: '1.31.0 waits for the consent of the user of the runtime' })
    expect(within(card).queryByRole('button', { name: /Approve/ })).toBeNull()
    const panel = await screen.findByRole('region', { name: 'This version may' })
    expect(await within(panel).findByText('What 1.31.0 may do cannot be read from here')).toBeTruthy()
    expect(within(panel).getByText('May read the logs of every Pod.')).toBeTruthy()
    expect(panel.textContent).toContain('--registry')
  })
  it('leads there from the list and from the overview', async () => {
    const { page } = show('/modules')
    const row = await screen.findByRole('link', { name: '2.1.0 waits for your consent' })
    expect(row.getAttribute('href')).toBe(notes + '?tab=permissions')
    expect(screen.getByRole('link', { name: '1.31.0 waits for consent' })).toBeTruthy()
    page.unmount()
    show('/')
    const list = (await screen.findByRole('heading', { name: 'Needs attention' })).closest('section') as HTMLElement
    expect(within(list).getByRole('link', { name: 'notes' }).getAttribute('href')).toBe(notes + '?tab=permissions')
    expect(within(list).getByText('Asks you')).toBeTruthy()
  })
  it('is one thing on the overview, in however many Kymas it waits', async () => {
    const message = 'version 2.1.0 waits for your consent in 3 Kymas'
    const items = [{ kind: 'Consent', namespace: 'a', name: 'notes', state: 'Warning', message }]
    const counts = { kymas: { Ready: 3 }, modules: { Ready: 3 }, outdated: 3 }
    const body = { ...counts, attention: { items, total: 1 }, operations: [], health: { manager: { ready: true } } }
    show('/', 'data', (_, url) => (url.pathname === '/api/v1/overview' ? { status: 200, body } : undefined))
    expect((await screen.findByRole('link', { name: 'notes' })).getAttribute('href')).toBe('/modules?pending=true&search=notes')
  })
  it('asks before each version, or does not', async () => {
    const user = userEvent.setup()
    const { asked } = show('/modules/kcp-system/demo/greeter?tab=versions')
    await user.click(await screen.findByRole('button', { name: 'Ask me first' }))
    const dialog = await screen.findByRole('dialog', { name: 'Ask before each new version of greeter?' })
    await within(dialog).findByText('Manual', { exact: false })
    await user.click(within(dialog).getByRole('button', { name: 'Ask me first' }))
    const want = { kind: 'strategy', kyma: 'kcp-system/demo', module: 'greeter', strategy: 'Manual' }
    await waitFor(() => expect(sent(asked, 'operations')).toEqual([want]))
  })
})

describe('what a version may do', () => {
  it('begins with what is new, the gravest first, each with its rule behind it', async () => {
    const user = userEvent.setup()
    show(notes + '?tab=permissions')
    expect(await screen.findByText('Reading notes 2.1.0.')).toBeTruthy()
    const news = await screen.findByRole('list', { name: 'New with 2.1.0' })
    const first = within(news).getAllByRole('listitem')[0] as HTMLElement
    expect(first.textContent).toMatch(/^CriticalMay read every Secret of the cluster\./)
    const rule = within(first).getByText('ClusterRole notes-manager rule 4: get,list,watch secrets')
    expect(rule.closest('details')?.open).toBe(false)
    await user.click(within(first).getByText('May read every Secret of the cluster.'))
    expect(rule.closest('details')?.open).toBe(true)
    expect(screen.getByText(/^Gone: what only 2\.0\.0 may do/)).toBeTruthy()
    expect(screen.getByRole('list', { name: 'Changes besides rights' }).textContent).toContain('ghcr.io/others/agent New: 0.3.1.')
    expect(screen.getByText(/^Covers the objects that the module is installed with/)).toBeTruthy()
  })
  it('shows what changes in the cluster, and nothing of Secrets', async () => {
    const user = userEvent.setup()
    show(notes + '?tab=permissions')
    await user.click(await screen.findByText('What changes in the cluster'))
    expect(screen.getByText('Objects: 2 new, 2 changed, 1 removed, 17 as before. 1 workload restarts.')).toBeTruthy()
    expect(screen.getByText('registry.example.com/notes/manager:2.1.0', { exact: false })).toBeTruthy()
    expect(screen.getAllByText('(hidden)', { exact: false })).toHaveLength(2)
  })
  it('says so when nothing is new', async () => {
    show('/modules/kcp-system/shop-europe/greeter?tab=permissions')
    expect(await screen.findByText('1.3.0 asks for nothing that 1.2.0 does not have.')).toBeTruthy()
    expect(screen.queryByRole('heading', { name: 'New with 1.3.0' })).toBeNull()
  })
  it('is shown before a module is added', async () => {
    const user = userEvent.setup()
    show('/catalog/beacon')
    await user.click(await screen.findByText('What 1.1.0 asks for'))
    expect(await screen.findByText('1.1.0 may read every Secret of the cluster, and asks for 4 more things.')).toBeTruthy()
  })
  it('tells that it may not be seen', async () => {
    const error = { reason: 'Forbidden', message: 'guest may not read that' }
    const no: Instead = (_, url) => (url.pathname.endsWith('/review') ? { status: 403, body: { error } } : undefined)
    show(notes + '?tab=permissions', 'data', no)
    expect(await screen.findByText(/Guest may not read that/)).toBeTruthy()
  })
})

describe('what a version needs', () => {
  it('stands on the page of the module, with ticks and crosses, and is added from there', async () => {
    const user = userEvent.setup()
    const { asked } = show(notes)
    const needs = await screen.findByRole('list', { name: 'Requirements' })
    expect(within(needs).getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      'Module istio (>=1.20 <2), which the Kyma does not have. is missing',
      'Module api-gateway (>=3.5), which has version 3.4.1. is there in another version',
      'Definition gateways.gateway.networking.k8s.io served as v1 is there',
      'Kubernetes >=1.31, and the version of the cluster is not known yet. is not known',
    ])
    expect(screen.getByText('Not all of it could be looked at: The runtime does not answer.')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Add what is missing' }))
    const dialog = await screen.findByRole('dialog', { name: 'Add what notes needs' })
    await within(dialog).findByText('name: istio', { exact: false })
    await user.click(within(dialog).getByRole('button', { name: 'Add what is missing' }))
    await waitFor(() => expect(sent(asked, 'operations')).toHaveLength(1))
    expect(sent(asked, 'operations')[0]).toMatchObject({ kind: 'add', kyma: 'kcp-system/demo', modules: [{ name: 'istio' }] })
  })
  it('is added along in the wizard, in one edit', async () => {
    const user = userEvent.setup()
    const { asked } = show('/add?module=notes&kyma=kcp-system/shop-asia')
    await waitFor(() => expect(screen.getByRole('checkbox', { name: 'notes' })).toHaveProperty('checked', true))
    await user.click(screen.getByRole('button', { name: 'Next: Version' }))
    await user.click(await screen.findByRole('button', { name: 'Add what is missing' }))
    expect(await screen.findByText('is added along')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Add what is missing' })).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Next: Configure' }))
    await user.click(screen.getByRole('button', { name: 'Next: Check and add' }))
    await user.click(await screen.findByRole('button', { name: 'Add 2 modules' }))
    await waitFor(() => expect(sent(asked, 'operations')).toHaveLength(1))
    expect(sent(asked, 'operations')[0]).toMatchObject({ kind: 'add', modules: [{ name: 'notes' }, { name: 'istio' }] })
  })
  it('offers only what can be added, each once', () => {
    const need = (over: Partial<Need>): Need => ({ state: 'Missing', text: '', ...over })
    const all = [
      need({ module: 'istio', addable: true }),
      need({ module: 'istio', version: '<2', addable: true }),
      need({ module: 'keda', addable: true, addChannel: 'fast' }),
      need({ module: 'gone' }),
      need({ kubernetes: '>=2' }),
    ]
    expect(missing(all)).toEqual([
      { name: 'istio', policy: 'CreateAndDelete' },
      { name: 'keda', policy: 'CreateAndDelete', channel: 'fast' },
    ])
  })
})

describe('a module that others need', () => {
  it('is deleted only with them, after a tick that names all of it', async () => {
    const user = userEvent.setup()
    const { asked } = show('/modules/kcp-system/demo/api-gateway/delete')
    expect(await screen.findByRole('heading', { name: 'Needed by 2 modules' })).toBeTruthy()
    expect(screen.getByText('needs api-gateway >=3.4', { exact: false })).toBeTruthy()
    expect(screen.queryByRole('button', { name: /^Delete/ })).toBeNull()
    await user.click(screen.getByRole('checkbox', { name: 'Remove these 2 modules, too' }))
    const button = await screen.findByRole('button', { name: 'Delete serverless, notes and api-gateway' })
    await user.type(await screen.findByRole('textbox', { name: /to confirm/ }), 'api-gateway')
    await user.click(button)
    await waitFor(() => expect(sent(asked, 'operations')).toHaveLength(1))
    const along = ['serverless', 'notes']
    expect(sent(asked, 'operations')[0]).toMatchObject({ kind: 'delete', module: 'api-gateway', with: along, cascade: false })
  })
  it('names everything that goes on the button', () => {
    expect(verbOf('istio', '', [])).toBe('Delete istio')
    expect(verbOf('istio', '2 objects', [])).toBe('Delete 2 objects and istio')
    expect(verbOf('istio', '2 objects', ['a', 'b'])).toBe('Delete 2 objects, a, b and istio')
  })
})

describe('a promotion', () => {
  const promote = async (user: ReturnType<typeof userEvent.setup>) => {
    await user.click(await screen.findByRole('button', { name: 'Change api-gateway' }))
    const form = screen.getByRole('region', { name: 'Change api-gateway' })
    await user.selectOptions(within(form).getByLabelText('Version'), '3.5.0')
    await user.click(within(form).getByRole('button', { name: 'See what would change' }))
  }
  it('tells what becomes of the Kymas, and nothing waits for that', async () => {
    const user = userEvent.setup()
    show('/releases')
    await promote(user)
    expect(await screen.findByText('Reading api-gateway 3.5.0, and what becomes of every Kyma.')).toBeTruthy()
    expect(await screen.findByRole('button', { name: 'Offer this version' })).toHaveProperty('disabled', false)
    const outcomes = await screen.findByRole('list', { name: 'Outcomes' })
    const lines = within(outcomes).getAllByText(/at once|their rollout|consent/, { selector: '.state' })
    expect(lines.map((line) => line.textContent)).toEqual(['Upgrade at once', 'Wait for their rollout', 'Need consent'])
    expect(screen.getByText(/^1,198 Kymas follow this channel: 57 at once, 1,059 later, automatically/)).toBeTruthy()
    expect(screen.getByText('3.5.0 also wants to read every Secret of the cluster, and asks for 3 more things.')).toBeTruthy()
  })
  it('says what cannot be read, and who is affected nevertheless', async () => {
    const user = userEvent.setup()
    const body = {
      state: 'Done',
      module: 'api-gateway',
      problem: { reason: 'x', message: 'the registry does not answer' },
      result: { kymas: 2, others: 0, groups: [{ outcome: 'Strange', count: 2 }] },
    }
    show('/releases', 'data', (_, url) => (url.pathname.endsWith('/forecast') ? { status: 200, body } : undefined))
    await promote(user)
    expect(await screen.findByText('The registry does not answer.')).toBeTruthy()
    expect(screen.getByText('Strange')).toBeTruthy()
  })
})
