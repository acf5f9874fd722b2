// A server for development: the same endpoints, out of memory. /__mock?scenario=NAME chooses what the world is like.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Plugin } from 'vite'
import { answerTo, type Reply } from './answers'
import { scenarios, World, type Scenario } from './state'

const worlds = new Map<string, World>()

function worldOf(request: IncomingMessage): World {
  const named = /(?:^|;\s*)scenario=([a-z]+)/.exec(request.headers.cookie ?? '')?.[1] ?? 'data'
  const scenario = (scenarios as readonly string[]).includes(named) ? (named as Scenario) : 'data'
  const known = worlds.get(scenario) ?? new World(scenario)
  worlds.set(scenario, known)
  return known
}

function write(response: ServerResponse, reply: Reply) {
  response.statusCode = reply.status
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Cache-Control', 'no-store')
  response.end(reply.body === undefined ? '' : JSON.stringify(reply.body))
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString()
  return text === '' ? undefined : JSON.parse(text)
}

function stream(world: World, queries: string[], response: ServerResponse) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  const last = new Map<number, string>()
  const look = () =>
    queries.forEach((query, q) => {
      const reply = answerTo(world, 'GET', new URL(query, 'http://mock'), undefined)
      const text = JSON.stringify({ q, status: reply.status, body: reply.body })
      if (last.get(q) === text) return
      last.set(q, text)
      response.write(`event: result\ndata: ${text}\n\n`)
    })
  if (world.scenario === 'slow') {
    response.write(':\n\n')
    return
  }
  look()
  const forget = world.watch(look)
  response.on('close', forget)
}

// The headers of internal/dashboard/server: what is built must work with them.
function guard(response: ServerResponse, nonce: string) {
  response.setHeader(
    'Content-Security-Policy',
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
      "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  )
  response.setHeader('X-Content-Type-Options', 'nosniff')
}

/** answer is the middleware: the API and /__mock, and nothing else. */
function answer(request: IncomingMessage, response: ServerResponse, next: () => void) {
  const url = new URL(request.url ?? '/', 'http://mock')
  if (url.pathname === '/__mock') {
    const scenario = url.searchParams.get('scenario') ?? 'data'
    worlds.delete(scenario)
    response.setHeader('Set-Cookie', `scenario=${scenario}; Path=/`)
    response.end(`scenario ${scenario}\n`)
  } else if (url.pathname === '/api/v1/stream') {
    stream(worldOf(request), url.searchParams.getAll('q'), response)
  } else if (url.pathname.startsWith('/api/')) {
    const world = worldOf(request)
    void bodyOf(request).then((body) => write(response, answerTo(world, request.method ?? 'GET', url, body)))
  } else {
    next()
  }
}

/** mock answers below /api/v1 and at /__mock; `vite preview` serves what was built with the headers of the real server. */
export function mock(): Plugin {
  return {
    name: 'mock',
    configureServer(server) {
      server.middlewares.use(answer)
    },
    configurePreviewServer(server) {
      const index = readFileSync(new URL('../../internal/dashboard/server/assets/dist/index.html', import.meta.url), 'utf8')
      server.middlewares.use(answer)
      server.middlewares.use((request, response, next) => {
        const nonce = randomBytes(16).toString('base64url')
        guard(response, nonce)
        if (/\.(js|css|svg)$/.test((request.url ?? '').split('?')[0] ?? '')) return next()
        response.setHeader('Content-Type', 'text/html; charset=utf-8')
        response.end(index.replace('__NONCE__', nonce))
      })
    },
  }
}
