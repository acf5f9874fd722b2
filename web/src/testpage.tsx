// A page in a test: all providers, the mock's answers instead of a server, and a stream that answers at once.
import { MantineProvider } from '@mantine/core'
import { render } from '@testing-library/react'
import { MemoryRouter } from 'react-router'
import { vi } from 'vitest'
import { answerTo } from '../mock/answers'
import { World, type Scenario } from '../mock/world'
import { Pages } from './app/routes'
import { SessionProvider } from './app/session'
import { theme } from './app/theme'

/** show opens an address in a world. What is asked of the server is kept in asked. */
export function show(address: string, scenario: Scenario = 'data') {
  const world = new World(scenario)
  const asked: { method: string; path: string; body: unknown }[] = []
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    const body: unknown = init.body ? JSON.parse(String(init.body)) : undefined
    asked.push({ method: init.method ?? 'GET', path, body })
    const reply = answerTo(world, init.method ?? 'GET', new URL(path, 'http://mock'), body)
    return new Response(reply.body === undefined ? null : JSON.stringify(reply.body), { status: reply.status })
  })
  vi.stubGlobal('EventSource', streamOf(world))
  const page = render(
    <MantineProvider theme={theme} env="test">
      <SessionProvider>
        <MemoryRouter initialEntries={[address]}>
          <Pages />
        </MemoryRouter>
      </SessionProvider>
    </MantineProvider>,
  )
  return { world, asked, page }
}

function streamOf(world: World) {
  return class {
    onopen: (() => void) | null = null
    onerror: (() => void) | null = null
    private listener?: (event: { data: string }) => void
    private readonly forget: () => void

    constructor(url: string) {
      const queries = new URL(url, 'http://mock').searchParams.getAll('q')
      const look = () =>
        queries.forEach((query, q) => {
          const reply = answerTo(world, 'GET', new URL(query, 'http://mock'), undefined)
          this.listener?.({ data: JSON.stringify({ q, status: reply.status, body: reply.body }) })
        })
      this.forget = world.watch(look)
      queueMicrotask(look)
    }

    addEventListener(type: string, listener: (event: { data: string }) => void) {
      if (type === 'result') this.listener = listener
    }
    close() {
      this.forget()
    }
  }
}
