import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { show } from '../testpage'
import { lower } from '../versions'
import { above } from '../rollouts/Promotion'

describe('a channel that would go back', () => {
  it('is said in words before anything is asked, and what the server refuses is not begun', async () => {
    const user = userEvent.setup()
    const { asked } = show('/releases')
    await user.click(await screen.findByRole('button', { name: 'Change api-gateway' }))
    const form = screen.getByRole('region', { name: 'Change api-gateway' })
    await user.selectOptions(within(form).getByLabelText('Channel'), 'fast')
    await user.selectOptions(within(form).getByLabelText('Version'), '3.4.1')
    expect(within(form).getByText('3.4.1 is lower than 3.5.0')).toBeTruthy()
    expect(form.textContent).toContain('keeps its version')
    expect(form.textContent).toContain('A higher version is installed 3 times now.')
    expect(form.textContent).not.toContain('is upgraded soon after')
    await user.click(within(form).getByRole('button', { name: 'See what would change' }))
    expect(await screen.findByText(/clusters would keep what they have/)).toBeTruthy()
    expect(asked.filter((a) => a.path === '/api/v1/operations' && a.method === 'POST')).toEqual([])
  })
  it('is not said of one that goes on', async () => {
    const user = userEvent.setup()
    show('/releases')
    await user.click(await screen.findByRole('button', { name: 'Change api-gateway' }))
    const form = screen.getByRole('region', { name: 'Change api-gateway' })
    await user.selectOptions(within(form).getByLabelText('Channel'), 'regular')
    await user.selectOptions(within(form).getByLabelText('Version'), '3.5.0')
    expect(form.textContent).toContain('is upgraded soon after')
    expect(form.textContent).not.toContain('is lower than')
  })
})

describe('versions', () => {
  it.each([
    ['1.2.0', '1.10.0', true],
    ['1.10.0', '1.2.0', false],
    ['1.2.0', '1.2.0', false],
    ['2.0.0-rc', '2.0.0', true],
    ['2.0.0', '2.0.0-rc', false],
    ['2.0.0-alpha', '2.0.0-beta', true],
    ['v1.0.0', '1.0.1', true],
    ['nonsense', '1.0.0', false],
    ['1.0.0', '', false],
  ])('%s is lower than %s: %s', (a, b, want) => {
    expect(lower(a, b)).toBe(want)
  })
  it('counts who has a higher one', () => {
    expect(above({ '1.0.0': 2, '1.1.0': 3, '2.0.0': 1, odd: 5 }, '1.0.0')).toBe(4)
  })
})
