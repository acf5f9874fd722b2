import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { MemoryRouter, useLocation, useNavigate } from 'react-router'
import { expect, it } from 'vitest'
import { useListState } from './list'

function Probe() {
  const state = useListState()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  return (
    <>
      <output>{pathname + search}</output>
      <button onClick={() => state.set('tab', 'events')}>tab</button>
      <button onClick={() => state.toggle('state', 'Error')}>filter</button>
      <button onClick={() => state.set('search', 'no')}>search</button>
      <button onClick={() => void navigate(-1)}>back</button>
    </>
  )
}

it('takes tabs and filters back one by one, and what was typed with the choice before', async () => {
  const user = userEvent.setup()
  render(
    <MemoryRouter initialEntries={['/other', '/modules']}>
      <Probe />
    </MemoryRouter>,
  )
  const there = () => screen.getByRole('status').textContent
  for (const name of ['tab', 'filter', 'search']) await user.click(screen.getByRole('button', { name }))
  expect(there()).toBe('/modules?tab=events&state=Error&search=no')
  await user.click(screen.getByRole('button', { name: 'back' }))
  expect(there()).toBe('/modules?tab=events')
  await user.click(screen.getByRole('button', { name: 'back' }))
  expect(there()).toBe('/modules')
})
