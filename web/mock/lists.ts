// The lists of the mock: pages, order, and what they are filtered by.
import type { Filters, KymaRow, Module, Problem, State, Unread } from '../src/api'
import { severity } from '../src/words'
import * as rollouts from './rollouts'
import type { World } from './state'

export interface Reply {
  status: number
  body?: unknown
}

export const ok = (body: unknown): Reply => ({ status: 200, body })
export const wrong = (status: number, reason: string, message: string): Reply => ({
  status,
  body: { error: { reason, message } satisfies Problem },
})

export const nothing = (world: World) => world.scenario === 'empty' || world.scenario === 'blind'

/** unreadOf lists what a user without any rights cannot read. */
export function unreadOf(world: World): Unread[] {
  if (world.scenario !== 'blind') return []
  return ['Kyma', 'Manifest', 'ModuleReleaseMeta', 'ModuleTemplate'].map((name) => {
    const kind = name + '.operator.kyma-project.io'
    return { kind, reason: 'Forbidden', message: `you may not list ${kind}` }
  })
}

export function paged<T>(world: World, url: URL, all: T[]): Reply {
  const words = (url.searchParams.get('search') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  let found = words.length === 0 ? all : all.filter((one) => words.every((word) => JSON.stringify(one).toLowerCase().includes(word)))
  const sort = url.searchParams.get('sort')
  if (sort) {
    const key = sort.replace(/^-/, '') as keyof T
    const order = (one: T) => (key === 'state' ? String(severity.indexOf(one[key] as State)) : String(one[key]))
    const sorted = [...found].sort((a, b) => order(a).localeCompare(order(b)))
    found = sort.startsWith('-') ? sorted.reverse() : sorted
  }
  const limit = Number(url.searchParams.get('limit') ?? 50)
  const offset = Number(url.searchParams.get('offset') ?? 0)
  return ok({ items: found.slice(offset, offset + limit), total: found.length, unread: unreadOf(world) })
}

export const has = (url: URL, name: string, value: string | undefined) => {
  const wanted = url.searchParams.getAll(name)
  return wanted.length === 0 || wanted.includes(value ?? '')
}

/** having says whether a Kyma has the module and version that the address asks for. */
export function having(world: World, url: URL, kyma: { namespace: string; name: string }): boolean {
  const [name, version] = [url.searchParams.get('module'), url.searchParams.get('version')]
  const id = `${kyma.namespace}/${kyma.name}`
  return !name || world.modules.some((m) => m.kyma === id && m.name === name && (!version || m.version.installed === version))
}

export const bad = (m: Module) => m.state === 'Error' || m.state === 'Warning'
const reasonOf = (m: Module) => (m.installation.message ? m.installation.reason : m.module.reason)

/** fits says whether a module passes the filters of an address. */
export function fits(url: URL, m: Module): boolean {
  const cause = rollouts.causes.find(({ id }) => id === url.searchParams.get('cause'))
  const installed = m.version.installed || 'none'
  return (
    has(url, 'state', m.state) &&
    has(url, 'type', m.type) &&
    has(url, 'kyma', m.kyma) &&
    has(url, 'module', m.name) &&
    has(url, 'namespace', m.kyma?.split('/')[0]) &&
    has(url, 'version', installed) &&
    !url.searchParams.getAll('notVersion').includes(installed) &&
    has(url, 'channel', m.channel) &&
    has(url, 'reason', reasonOf(m)) &&
    has(url, 'attention', String(bad(m))) &&
    has(url, 'outdated', String(m.version.outdated)) &&
    has(url, 'pending', String(m.pending !== undefined)) &&
    (!url.searchParams.get('cause') || (cause !== undefined && cause.module === m.name && bad(m)))
  )
}

/** labelled understands KEY=VALUE alone. */
export function labelled(url: URL, kyma: KymaRow): boolean {
  const [key = '', value] = (url.searchParams.get('labelSelector') ?? '').split('=')
  return key === '' || kyma.labels?.[key] === value
}

export function fleet(world: World, rest: string[], url: URL): Reply {
  if (rest[0] === 'causes') return paged(world, url, nothing(world) || world.scenario === 'fine' ? [] : rollouts.causes)
  const list = paged(world, url, nothing(world) ? [] : [...rollouts.fleet])
  const all = { kymas: counts(world.kymas), modules: counts(world.modules), attention: world.modules.filter(bad).length }
  return ok({ ...(list.body as object), counts: all })
}

export function filters(world: World): Filters {
  const of = (values: (string | undefined)[]) => [...new Set(values.filter((value) => value !== undefined))].sort()
  return {
    channels: of([...world.kymas, ...world.modules].map(({ channel }) => channel)),
    versions: of(world.modules.map((m) => m.version.installed)),
    modules: of(world.modules.map((m) => m.name)),
    reasons: of(world.modules.map(reasonOf)),
    labels: of(world.kymas.flatMap((k) => Object.entries((k as KymaRow).labels ?? {}).map(([key, value]) => `${key}=${value}`))),
  }
}

export function counts(all: { state: string }[]): Record<string, number> {
  const by: Record<string, number> = {}
  for (const { state } of all) by[state] = (by[state] ?? 0) + 1
  return by
}

