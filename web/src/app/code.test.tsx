import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import { codeOf, Opened } from './code'
import { Failsafe } from './failsafe'

it('loads a page again for who comes back after it could not be loaded, and asks once each time', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined) // React tells of every error that a page catches
  let away = true
  const load = vi.fn(async () => {
    if (away) throw new TypeError('Failed to fetch dynamically imported module')
    return { Page: () => <h1>Here it is</h1> }
  })
  const code = codeOf(load)
  const at = (path: string) => (
    <MantineProvider env="test">
      <Failsafe key={path}>{path === '/' ? 'another page' : <Opened code={code} />}</Failsafe>
    </MantineProvider>
  )
  const { rerender } = render(at('/kymas'))
  expect(await screen.findByText('This page broke')).toBeTruthy()
  expect(load).toHaveBeenCalledTimes(1)
  rerender(at('/'))
  away = false
  rerender(at('/kymas'))
  expect(await screen.findByText('Here it is')).toBeTruthy()
  expect(load).toHaveBeenCalledTimes(2)
})
