import { MantineProvider } from '@mantine/core'
import { act, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it, vi } from 'vitest'
import { codeOf, Opened, Part } from './code'
import { LiveContext } from '../live/useLive'
import type { Live } from '../live/live'
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
      <Failsafe key={path}>{path === '/' ? 'another page' : <Opened code={code}>{(Page) => <Page />}</Opened>}</Failsafe>
    </MantineProvider>
  )
  const { rerender } = render(at('/kymas'))
  expect(await screen.findByText('This page could not be loaded')).toBeTruthy()
  expect(load).toHaveBeenCalledTimes(1)
  rerender(at('/'))
  away = false
  rerender(at('/kymas'))
  expect(await screen.findByText('Here it is')).toBeTruthy()
  expect(load).toHaveBeenCalledTimes(2)
})

it('loads a page by itself when the connection is back, and waits for that', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  let away = true
  const load = vi.fn(async () => {
    if (away) throw new TypeError('Failed to fetch dynamically imported module')
    return { Page: () => <h1>Here it is</h1> }
  })
  const listeners = new Set<() => void>()
  const live = { connection: 'lost', watch: (listen: () => void) => (listeners.add(listen), () => listeners.delete(listen)) }
  const becomes = (connection: string) =>
    act(() => {
      live.connection = connection
      listeners.forEach((listen) => listen())
    })
  const code = codeOf(load)
  render(
    <MantineProvider env="test">
      <LiveContext.Provider value={live as unknown as Live}>
        <Failsafe>
          <Opened code={code}>{(Page) => <Page />}</Opened>
        </Failsafe>
      </LiveContext.Provider>
    </MantineProvider>,
  )
  expect(await screen.findByText('This page could not be loaded')).toBeTruthy()
  becomes('connecting')
  expect(load).toHaveBeenCalledTimes(1)
  away = false
  becomes('open')
  expect(await screen.findByText('Here it is')).toBeTruthy()
})

it('keeps the rest of a page when a part of it cannot be loaded, and tries again when somebody asks for it', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const user = userEvent.setup()
  let away = true
  const code = codeOf(async () => {
    if (away) throw new TypeError('Failed to fetch dynamically imported module')
    return { Page: ({ name }: { name: string }) => <h2>{name}</h2> }
  })
  render(
    <MantineProvider env="test">
      <Failsafe>
        <input aria-label="Typed" />
        <Part code={code}>{(Page) => <Page name="The part" />}</Part>
      </Failsafe>
    </MantineProvider>,
  )
  await user.type(screen.getByRole('textbox', { name: 'Typed' }), 'kept')
  await user.click(await screen.findByRole('button', { name: 'Try again' }))
  expect(await screen.findByText('This part of the page could not be shown')).toBeTruthy()
  away = false
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  expect(await screen.findByText('The part')).toBeTruthy()
  expect(screen.getByRole('textbox', { name: 'Typed' })).toHaveProperty('value', 'kept')
})

it('shows at once, and without a skeleton, what was loaded ahead', async () => {
  const load = vi.fn(async () => ({ Page: () => <h1>Here it is</h1> }))
  const code = codeOf(load)
  await code.ahead()
  render(
    <MantineProvider env="test">
      <Opened code={code}>{(Page) => <Page />}</Opened>
    </MantineProvider>,
  )
  expect(screen.getByText('Here it is')).toBeTruthy()
  expect(load).toHaveBeenCalledTimes(1)
})

it('loads when it is shown what could not be loaded ahead', async () => {
  let away = true
  const code = codeOf(async () => {
    if (away) throw new TypeError('Failed to fetch dynamically imported module')
    return { Page: () => <h1>Here it is</h1> }
  })
  await code.ahead()
  away = false
  render(
    <MantineProvider env="test">
      <Opened code={code}>{(Page) => <Page />}</Opened>
    </MantineProvider>,
  )
  expect(await screen.findByText('Here it is')).toBeTruthy()
})
