import { fireEvent, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { show } from '../testpage'

describe('the search of everything', () => {
  it('leads to a module by the keyboard alone', async () => {
    const user = userEvent.setup()
    const { where } = show('/settings')
    await screen.findByRole('heading', { level: 1, name: 'Settings' })
    await user.keyboard('{Control>}k{/Control}')
    const field = await screen.findByRole('combobox', { name: /^Search pages/ })
    await waitFor(() => expect(document.activeElement).toBe(field))
    await user.keyboard('beacon demo')
    const option = await screen.findByRole('option', { name: /^beacon in kcp-system\/demo/ })
    await waitFor(() => expect(option.getAttribute('aria-selected')).toBe('true'))
    expect(field.getAttribute('aria-activedescendant')).toBe(option.id)
    await user.keyboard('{Enter}')
    await waitFor(() => expect(where()).toBe('/modules/kcp-system/demo/beacon'))
    await waitFor(() => expect(screen.queryByRole('combobox', { name: /^Search pages/ })).toBeNull())
    expect(document.activeElement?.id).toBe('main')
  })
  it('goes round by arrows, and gives the focus back on Escape', async () => {
    const user = userEvent.setup()
    show('/')
    const button = await screen.findByRole('button', { name: 'Search everything' })
    await user.click(button)
    const field = await screen.findByRole('combobox', { name: /^Search pages/ })
    const chosen = () => screen.getAllByRole('option').findIndex((one) => one.getAttribute('aria-selected') === 'true')
    const last = screen.getAllByRole('option').length - 1
    await user.type(field, '{ArrowUp}')
    expect(chosen()).toBe(last)
    await user.keyboard('{ArrowDown}{ArrowDown}')
    expect(chosen()).toBe(1)
    fireEvent.keyDown(field, { key: 'Escape' })
    await waitFor(() => expect(screen.queryByRole('combobox', { name: /^Search pages/ })).toBeNull())
    expect(document.activeElement).toBe(button)
  })
  it('leads to the whole list of what fits, and says what could not be searched', async () => {
    const user = userEvent.setup()
    const { where } = show('/', 'data', (_, url) =>
      url.pathname === '/api/v1/catalog' ? { status: 403, body: { error: { reason: 'Forbidden', message: 'you may not' } } } : undefined,
    )
    await screen.findByText('Operations in progress')
    await user.keyboard('{Meta>}k{/Meta}')
    await user.type(await screen.findByRole('combobox', { name: /^Search pages/ }), 'gree')
    expect(await screen.findByText(/Not everything could be searched: you may not/)).toBeTruthy()
    await user.click(screen.getByRole('option', { name: /^All modules with “gree”/ }))
    await waitFor(() => expect(where()).toBe('/modules?search=gree'))
  })
  it('does not open over another dialog', async () => {
    const user = userEvent.setup()
    show('/modules/kcp-system/demo/greeter')
    await user.click(await screen.findByRole('button', { name: 'Stop managing' }))
    await screen.findByRole('dialog')
    await user.keyboard('{Control>}k{/Control}')
    expect(screen.getAllByRole('dialog')).toHaveLength(1)
    expect(screen.queryByRole('combobox', { name: /^Search pages/ })).toBeNull()
  })
})
