// A page in a test: all providers, the mock's answers instead of a server, and a stream that answers at once.
import { MantineProvider } from '@mantine/core'
import { render } from '@testing-library/react'
import { useEffect } from 'react'
import { createMemoryRouter, RouterProvider, useLocation, useNavigate, type LoaderFunctionArgs, type NavigateFunction } from 'react-router'
import { vi } from 'vitest'
import { answerTo, type Reply } from '../mock/answers'
import { World, type Scenario } from '../mock/state'
import { Pages } from './app/routes'
import { SessionProvider } from './app/session'
import { theme } from './app/theme'

/** Instead answers a request in the place of the mock, if it likes; 'never' leaves it without an answer. */
export type Instead = (method: string, url: URL, body: unknown) => Reply | 'never' | undefined

/**
 * show opens an address in a world. What is asked of the server is kept in asked. late says which addresses are never reached, as on a page
 * that is too busy for the step: what was asked for stays on its way.
 */
export function show(
  address: string,
  scenario: Scenario = 'data',
  instead: Instead = () => undefined,
  late?: (address: string) => boolean,
) {
  const world = new World(scenario)
  const asked: { method: string; path: string; body: unknown }[] = []
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    const body: unknown = init.body ? JSON.parse(String(init.body)) : undefined
    asked.push({ method: init.method ?? 'GET', path, body })
    const url = new URL(path, 'http://mock')
    const reply = instead(init.method ?? 'GET', url, body) ?? answerTo(world, init.method ?? 'GET', url, body)
    if (reply === 'never') return new Promise<Response>(() => undefined)
    return new Response(reply.body === undefined ? null : JSON.stringify(reply.body), { status: reply.status })
  })
  vi.stubGlobal('EventSource', streamOf(world, instead))
  let place: Place | undefined
  const element = (
    <>
      <Where tell={(now) => void (place = now)} />
      <Pages />
    </>
  )
  const loader = late && (({ request }: LoaderFunctionArgs) => (late(request.url) ? new Promise<null>(() => undefined) : null))
  const router = createMemoryRouter([{ path: '*', element, loader }], { initialEntries: [address] })
  const whole = (key: string) => (
    <MantineProvider key={key} theme={theme} env="test">
      <SessionProvider>
        <RouterProvider router={router} />
      </SessionProvider>
    </MantineProvider>
  )
  const page = render(whole('first'))
  return {
    ...{ world, asked, page },
    where: () => place?.where ?? '',
    back: () => void place?.navigate(-1),
    /** reload makes everything anew but the history and what is stored, as a browser does. */
    reload: () => page.rerender(whole('again')),
  }
}

interface Place {
  where: string
  navigate: NavigateFunction
}

/** Where tells the address, which has no bar in a test. */
function Where({ tell }: { tell: (place: Place) => void }) {
  const { pathname, search } = useLocation()
  const navigate = useNavigate()
  useEffect(() => {
    tell({ where: pathname + search, navigate })
  })
  return null
}

function streamOf(world: World, instead: Instead) {
  return class {
    onopen: (() => void) | null = null
    onerror: (() => void) | null = null
    private listener?: (event: { data: string }) => void
    private readonly forget: () => void

    constructor(url: string) {
      const queries = new URL(url, 'http://mock').searchParams.getAll('q')
      const look = () =>
        queries.forEach((query, q) => {
          const url = new URL(query, 'http://mock')
          const reply = instead('GET', url, undefined) ?? answerTo(world, 'GET', url, undefined)
          if (reply === 'never') return
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
