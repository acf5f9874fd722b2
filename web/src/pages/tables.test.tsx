import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { module_ } from '../../mock/fixtures'
import { show } from '../testpage'

const kept = new Map<string, string>()

beforeEach(() => {
  const keeper = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) }
  vi.stubGlobal('localStorage', keeper)
})
afterEach(() => kept.clear())

const heads = (table: HTMLElement) => within(table).getAllByRole('columnheader').map((head) => head.textContent)
const modules = () => screen.findByRole('table', { name: 'Modules' })

describe('a list', () => {
  it('has the worst first, unless its user wants another order', async () => {
    const user = userEvent.setup()
    const { where } = show('/modules')
    const table = await modules()
    const states = () => within(table).getAllByRole('row').slice(1).map((row) => within(row).getAllByRole('cell')[2]?.textContent)
    expect(states().slice(0, 2)).toEqual(['Error', 'Warning'])
    const state = within(table).getByRole('columnheader', { name: 'State' })
    expect(state.getAttribute('aria-sort')).toBe('ascending')
    await user.click(within(state).getByRole('button'))
    expect(where()).toBe('/modules?sort=-state')
  })
  it('has no more rows than a page, however many Kymas there are', async () => {
    show('/kymas', 'many')
    const table = await screen.findByRole('table', { name: 'Kymas' })
    await waitFor(() => expect(table.getAttribute('aria-busy')).toBeNull())
    expect(within(table).getAllByRole('row')).toHaveLength(51)
  })
  it('marks what is in progress for longer than usual', async () => {
    const slow = { ...module_('slow', { state: 'Processing' }), attention: true }
    const quick = { ...module_('quick', { state: 'Processing' }), attention: false }
    show('/modules', 'data', (_, url) =>
      url.pathname === '/api/v1/modules' ? { status: 200, body: { items: [slow, quick], total: 2 } } : undefined,
    )
    const row = (name: RegExp) => screen.getByRole('row', { name })
    await modules()
    expect(within(row(/slow/)).getByText('Takes long')).toBeTruthy()
    expect(within(row(/quick/)).queryByText('Takes long')).toBeNull()
  })
})

describe('the look of tables', () => {
  it('stays: compact rows, and columns of one table', async () => {
    const user = userEvent.setup()
    const first = show('/modules')
    await user.click(await screen.findByRole('button', { name: 'Compact' }))
    await user.click(screen.getByRole('button', { name: 'Columns' }))
    await user.click(await screen.findByRole('checkbox', { name: 'Installation' }))
    await user.click(screen.getByRole('checkbox', { name: 'Reason' }))
    const want = ['Module', 'Kyma', 'State', 'Desired', 'Installed', 'Available', 'Reason']
    expect(heads(await modules())).toEqual(want)
    first.page.unmount()
    const second = show('/modules')
    const table = await modules()
    expect(heads(table)).toEqual(want)
    expect(table.classList.contains('dense')).toBe(true)
    expect(screen.getByRole('button', { name: 'Compact' }).getAttribute('aria-pressed')).toBe('true')
    second.page.unmount()
    show('/kymas')
    expect(heads(await screen.findByRole('table', { name: 'Kymas' }))).toHaveLength(6)
  })
  it('can be made as usual again', async () => {
    kept.set('kyma.tables', '{"columns":{"kymas":{"labels":true,"created":false}}}')
    const user = userEvent.setup()
    show('/kymas')
    const table = await screen.findByRole('table', { name: 'Kymas' })
    expect(heads(table)).toContain('Labels')
    expect(within(table).getAllByText('env=prod').length).toBeGreaterThan(0)
    await user.click(screen.getByRole('button', { name: 'Columns' }))
    await user.click(await screen.findByRole('button', { name: 'Reset' }))
    expect(heads(table)).not.toContain('Labels')
    expect(heads(table)).toContain('Created')
  })
  it.each(['{', 'null', '[]', '{"columns":1}'])('is as usual where the browser remembers %j', async (text) => {
    kept.set('kyma.tables', text)
    kept.set('kyma.views', text)
    show('/modules')
    expect(heads(await modules())).toHaveLength(7)
  })
})

describe('filters with many values', () => {
  it('are in the address, one by one, and open with it', async () => {
    const user = userEvent.setup()
    const first = show('/modules')
    await user.click(await screen.findByRole('button', { name: 'More filters' }))
    await user.click(await screen.findByRole('combobox', { name: 'Installed version' }))
    await user.click(await screen.findByRole('option', { name: '1.0.0' }))
    await waitFor(() => expect(first.where()).toBe('/modules?version=1.0.0'))
    await user.click(screen.getByRole('combobox', { name: 'Reason' }))
    await user.click(await screen.findByRole('option', { name: 'ManagerNotReady' }))
    await waitFor(() => expect(first.where()).toBe('/modules?version=1.0.0&reason=ManagerNotReady'))
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2))
    first.back()
    await waitFor(() => expect(first.where()).toBe('/modules?version=1.0.0'))
    first.page.unmount()
    show('/modules?version=1.0.0&channel=gone')
    const opened = await screen.findByRole('button', { name: 'More filters (2)' })
    expect(opened.getAttribute('aria-expanded')).toBe('true')
    expect(screen.getByText('gone')).toBeTruthy() // no longer offered, and still a filter
    expect(await screen.findByRole('heading', { name: 'No matching modules' })).toBeTruthy()
  })
  it('select by labels as kubectl does, when their user is done', async () => {
    const user = userEvent.setup()
    const { where } = show('/kymas')
    await user.click(await screen.findByRole('button', { name: 'More filters' }))
    const field = await screen.findByRole('combobox', { name: 'Labels of the Kyma' })
    await user.type(field, 'env=prod')
    expect(where()).toBe('/kymas')
    await user.keyboard('{Enter}')
    await waitFor(() => expect(where()).toBe('/kymas?labelSelector=env%3Dprod'))
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(3))
  })
})

describe('saved views', () => {
  it('lead to their address, from any page, and are forgotten on request', async () => {
    const user = userEvent.setup()
    const first = show('/modules?state=Error&page=2')
    await user.click(await screen.findByRole('button', { name: 'Views' }))
    await user.type(await screen.findByRole('textbox', { name: 'Save what this page shows as' }), 'Failing{Enter}')
    expect(await screen.findByText('Saved as Failing.')).toBeTruthy()
    first.page.unmount()
    const { where } = show('/kymas')
    await user.click(await screen.findByRole('button', { name: 'Views' }))
    await user.click(await screen.findByRole('link', { name: 'Failing' }))
    await waitFor(() => expect(where()).toBe('/modules?state=Error'))
    await user.click(await screen.findByRole('button', { name: 'Views' }))
    await user.click(await screen.findByRole('button', { name: 'Forget the view Failing' }))
    await waitFor(() => expect(screen.queryByRole('list', { name: 'Saved views' })).toBeNull())
    expect(kept.get('kyma.views')).toBe('[]')
  })
})

describe('a file of a list', () => {
  it('has all rows that the filters leave, and no formulas', async () => {
    const user = userEvent.setup()
    const files: Blob[] = []
    const createObjectURL = (file: Blob) => files.push(file) && 'blob:x'
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL, revokeObjectURL: () => undefined }))
    const clicked = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined)
    const { world } = show('/modules?state=Error')
    world.modules = Array.from({ length: 450 }, (_, i) =>
      module_(`m-${i}`, { state: i < 420 ? 'Error' : 'Ready', installation: { state: 'Failed', message: '=HYPERLINK("http://x")' } }),
    )
    world.changed()
    await user.click(await screen.findByRole('button', { name: /^CSV/ }))
    expect(await screen.findByText('420 rows saved.')).toBeTruthy()
    expect(clicked).toHaveBeenCalledOnce()
    const lines = (await (files[0] as Blob).text()).trim().split('\r\n')
    expect(lines).toHaveLength(421)
    expect(lines[0]).toMatch(/^Kyma,Module,Type,State,/)
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://x"")`)
  })
  it('says why there is none', async () => {
    const user = userEvent.setup()
    const away = { status: 502, body: { error: { reason: 'x', message: 'it does not answer' } } }
    show('/kymas', 'data', (_, url) => (url.searchParams.get('limit') === '200' ? away : undefined))
    await user.click(await screen.findByRole('button', { name: /^CSV/ }))
    expect(await screen.findByText('it does not answer')).toBeTruthy()
  })
})

describe('a Kyma that names a release', () => {
  it('says so in the list and on its page, until it is on it', async () => {
    show('/kymas')
    expect(await screen.findByText('release 2.2')).toBeTruthy()
    show('/kymas/kcp-system/shop-europe')
    expect(await screen.findByText(/Release 2\.2, not reached yet/)).toBeTruthy()
  })
})
