// What happened to a module and to a Kyma, in front of the mock.
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import type { HistoryEntry } from '../api'
import { byText, changedFields, heldFields, toneOf } from '../history/words'
import { show } from '../testpage'

const entry = (over: Partial<HistoryEntry>): HistoryEntry => ({ at: '2026-01-01T00:00:00Z', kind: 'Event', what: 'x', ...over })

describe('the words', () => {
  it.each<[string, Partial<HistoryEntry>, string]>([
    ['a user', { who: 'ann', whoIs: 'User' }, 'by ann'],
    ['a client, which is no user', { who: 'kubectl', whoIs: 'Client' }, 'by the client kubectl'],
    ['a component', { who: 'klm', whoIs: 'Component' }, 'reported by klm'],
    ['what is not known', {}, ''],
  ])('name %s', (_, over, want) => expect(byText(entry(over))).toBe(want))
  it.each([
    ['Failed', 'warn'],
    ['Succeeded', 'ok'],
    ['Ready False', 'warn'],
    ['Running', 'busy'],
    [undefined, 'idle'],
  ])('color %s', (state, want) => expect(toneOf(entry({ state }))).toBe(want))
  it('tell what changed from what is only held', () => {
    const both = entry({ fields: [{ path: 'a', from: '1', to: '2' }, { path: 'b' }, { path: 'c', to: '3' }] })
    expect(changedFields(both).map(({ path }) => path)).toEqual(['a', 'c'])
    expect(heldFields(both)).toEqual(['b'])
  })
})

describe('the history of a Kyma', () => {
  const page = '/kymas/kcp-system/demo?tab=history'
  it('has operations with old and new values, clients, states and events', async () => {
    show(page)
    const list = within(await screen.findByRole('list', { name: 'History' }))
    expect(list.getAllByText(/by the client kubectl-edit/).length).toBe(1)
    expect(list.getByText(/spec\.channel, spec\.modules\[beacon\]\.name/)).toBeTruthy()
    expect(list.getByText(/reported by lifecycle-manager/).textContent).toContain('3 times')
    const links = list.getAllByRole('link').map((link) => link.getAttribute('href'))
    expect(links).toContain('/operations/run')
    expect(links).toContain('/rollouts/kcp-system/greeter')
    expect(list.getAllByText('regular').length).toBeGreaterThan(0)
    expect(screen.getByText('How far back this reaches')).toBeTruthy()
  })
  it('is narrowed by kind and by who, in the address', async () => {
    const user = userEvent.setup()
    const { where } = show(page)
    const list = () => within(screen.getByRole('list', { name: 'History' })).getAllByRole('listitem')
    await screen.findByRole('list', { name: 'History' })
    const before = list().length
    await user.click(screen.getByRole('button', { name: 'Events' }))
    await waitFor(() => expect(list().length).toBeLessThan(before))
    expect(where()).toContain('kind=Event')
    await user.click(screen.getByRole('button', { name: 'Events' }))
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Who' }), 'kubectl-edit')
    await waitFor(() => expect(list()).toHaveLength(1))
    expect(where()).toContain('who=kubectl-edit')
    await user.click(screen.getByRole('button', { name: 'Revisions' }))
    expect(await screen.findByText('Nothing is recorded')).toBeTruthy()
  })
})

describe('the history of a module', () => {
  it('has the way back on the revision itself', async () => {
    const user = userEvent.setup()
    show('/modules/kcp-system/demo/greeter?tab=history')
    await user.click(await screen.findByRole('button', { name: 'Roll back to this version' }))
    expect(await screen.findByRole('dialog', { name: 'Roll greeter back to 1.1.0?' })).toBeTruthy()
  })
})
