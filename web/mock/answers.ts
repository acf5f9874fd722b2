// What the mock answers: the endpoints of internal/dashboard/server, as small as they can be.
import type { Deed, Module, Offer, Operation, Session } from '../src/api'
import * as explorer from './explorer'
import * as fixtures from './fixtures'
import * as catalogs from './catalogs'
import { bad, counts, filters, fits, fleet, has, having, labelled, nothing, ok, paged, unreadOf, wrong, type Reply } from './lists'
import { history } from './history'
import { done, fixesOf, isOfKyma, newKyma } from './kymas'
import { previewOf } from './previews'
import * as reviews from './reviews'
import * as rollouts from './rollouts'
import type { World } from './state'

export type { Reply }

/** answerTo is the answer to one request. */
export function answerTo(world: World, method: string, url: URL, body: unknown): Reply {
  const path = url.pathname.replace(/^\/api\/v1/, '')
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent)
  if (parts[0] === 'session') return session(world, method, body)
  if (!world.loggedIn) return wrong(401, 'Unauthorized', 'not logged in, or the session has expired: log in')
  if (world.scenario === 'error')
    return wrong(502, 'ClusterUnreachable', 'the cluster does not answer: connection refused; check that it runs and can be reached')
  if (world.scenario === 'forbidden' && parts[0] !== 'settings') {
    return wrong(
      403,
      'Forbidden',
      `system:serviceaccount:default:guest may not list ${parts[0] ?? 'this'}: ask an administrator of the cluster for permission`,
    )
  }
  return method === 'GET' ? read(world, parts, url) : write(world, method, parts, body)
}

function session(world: World, method: string, body: unknown): Reply {
  if (method === 'POST') {
    const { token, code } = (body ?? {}) as { token?: string; code?: string }
    if (token === 'wrong') return wrong(401, 'Unauthorized', 'the cluster does not take this token: it may be too old')
    world.loggedIn = Boolean(token || code)
  }
  if (method === 'DELETE') world.loggedIn = false
  const is: Session = {
    user: world.loggedIn ? 'system:serviceaccount:kcp-system:admin' : '',
    groups: ['system:authenticated'],
    mode: world.scenario === 'login' ? 'cluster' : 'local',
    cluster: 'https://127.0.0.1:6443',
    login: world.scenario === 'login' ? ['oidc', 'token'] : ['code'],
    loggedIn: world.loggedIn,
  }
  return ok(is)
}

function read(world: World, parts: string[], url: URL): Reply {
  const [kind, ...rest] = parts
  switch (kind) {
    case 'overview':
      return overview(world)
    case 'kymas':
      if (rest[2] === 'history') return history(world, `${rest[0]}/${rest[1]}`, '', url)
      return rest.length === 2
        ? kyma(world, rest.join('/'))
        : paged(
            world,
            url,
            world.kymas.filter(
              (k) =>
                has(url, 'state', k.state) &&
                has(url, 'channel', k.channel) &&
                has(url, 'reason', k.reason) &&
                labelled(url, k) &&
                having(world, url, k),
            ),
          )
    case 'newkyma':
      return ok(newKyma(world))
    case 'modules':
    case 'direct':
      if (rest.length > 0) return module_(world, kind, rest, url)
      return paged(
        world,
            url,
        world.modules.filter((m) => fits(url, m)).map((m) => ({ ...m, attention: bad(m) })),
      )
    case 'rollouts':
      return rollouts.answer(world, rest, url)
    case 'fleet':
      return fleet(world, rest, url)
    case 'filters':
      return ok(filters(world))
    case 'catalog':
      return catalog(world, rest, url)
    case 'operations':
      return rest[0]
        ? one(world, rest[0])
        : paged(
            world,
            url,
            world.operations.filter((o) => has(url, 'state', o.state)),
          )
    case 'sources':
      return paged(world, url, world.sources)
    case 'releases':
      if (rest[2] === 'forecast')
        return reviews.forecast(world, rest[1] ?? '', url.searchParams.get('channel') ?? '', url.searchParams.get('version') ?? '')
      return ok({
        items: nothing(world) ? [] : fixtures.releases,
        total: 5,
        channels: ['regular', 'fast', 'experimental'],
        unread: unreadOf(world),
      })
    case 'settings':
      return ok(fixtures.settings)
    case 'events':
      return ok({ items: fixtures.events, total: fixtures.events.length })
  }
  return wrong(404, 'NotFound', `there is nothing at ${url.pathname}`)
}

function overview(world: World): Reply {
  const bad = world.modules.filter((m) => m.state === 'Error' || m.state === 'Warning' || m.state === 'Unknown' || m.state === 'Deleting')
  const halted =
    world.scenario === 'data'
      ? [{ kind: 'Rollout', namespace: 'kcp-system', name: 'greeter', state: 'Error', reason: 'Halted', message: rollouts.haltedWhy }]
      : []
  const modules = bad.map((m) => ({
    kind: 'Module',
    kyma: m.kyma ?? '',
    name: m.name,
    state: m.state,
    reason: m.installation.reason,
    message: m.installation.message ?? m.module.message,
    cause: m.name === 'beacon' ? fixtures.cause.sentence : undefined,
  }))
  const consents = world.modules
    .filter((m) => m.pending && m.consentHere)
    .map((m) => ({
      kind: 'Consent',
      kyma: m.kyma ?? '',
      name: m.name,
      state: 'Warning',
      reason: 'ApprovalRequired',
      message: `version ${m.pending?.version ?? ''} waits for your consent: ${m.pending?.gravest?.[0] ?? ''}`,
    }))
  const items = [...halted, ...modules, ...consents]
  return ok({
    kymas: counts(world.kymas),
    modules: counts(world.modules),
    outdated: world.modules.filter((m) => m.version.outdated).length,
    attention: { items: items.slice(0, 20), total: items.length },
    operations: world.operations.filter((o) => o.state === 'Running'),
    health: { manager: { ready: true, message: '' } },
    unread: unreadOf(world),
  })
}

function kyma(world: World, id: string): Reply {
  const line = world.kymas.find((k) => `${k.namespace}/${k.name}` === id)
  if (!line) return wrong(404, 'NotFound', `there is no Kyma ${id}`)
  const modules = world.modules.filter((m) => m.kyma === id)
  return ok({
    kyma: line,
    spec: { channel: line.channel, remote: !line.local, skipMaintenanceWindows: false, modules: [] },
    conditions: line.conditions,
    modules,
    lastOperation: { operation: 'kyma is in state Error', lastUpdateTime: new Date(Date.now() - 60_000).toISOString() },
    events: fixtures.events,
    access: { edit: true, delete: true, secret: line.name !== 'shop-asia', connect: line.name !== 'shop-asia' },
    channels: ['regular', 'fast'],
    suspended: world.suspended.has(id),
    fixes: modules.flatMap(fixesOf),
  })
}

const find = (world: World, kyma: string, name: string): Module | undefined =>
  world.modules.find((m) => (m.kyma ?? '') === kyma && m.name === name)

function module_(world: World, kind: string, rest: string[], url: URL): Reply {
  const [id, name, what] = kind === 'direct' ? ['', rest[0] ?? '', rest[1]] : [`${rest[0]}/${rest[1]}`, rest[2] ?? '', rest[3]]
  const m = find(world, id, name)
  if (!m) return wrong(404, 'NotFound', `there is no module ${name}${id ? ' in Kyma ' + id : ''}`)
  if (what === 'resource') return ok({ object: fixtures.resource, default: fixtures.resource, schema: fixtures.schema, editable: true })
  if (what === 'history') return history(world, id, name, url)
  if (what === 'tree' || what === 'object' || what === 'logs') return explorer.answer(world, m, what, url)
  if (what === 'review') {
    const version = url.searchParams.get('version') || (m.version.available ?? '')
    return reviews.review(world, name, version, version === m.version.installed ? '' : (m.version.installed ?? ''))
  }
  const offer = fixtures.offers.find((o) => o.name === name)
  const node = (kind_: string, n: string, state: string) => ({
    kind: kind_,
    apiVersion: 'v1',
    namespace: `${name}-system`,
    name: n,
    state,
  })
  return ok({
    module: m.name === 'beacon' && m.state !== 'Ready' ? { ...m, cause: fixtures.cause } : m,
    why:
      m.state === 'Ready'
        ? []
        : m.name === 'beacon'
          ? fixtures.why
          : [
              {
                what: `Module ${name}`,
                state: m.state,
                reason: m.installation.reason,
                message: m.installation.message ?? m.module.message,
              },
            ],
    tree: {
      kind: 'Module',
      name,
      state: m.state,
      version: m.version.installed,
      children: [
        node('Deployment', `${name}-manager`, m.state === 'Error' ? 'Error' : 'Ready'),
        node('ServiceAccount', `${name}-manager`, 'Ready'),
        ...Array.from({ length: 14 }, (_, i) => node('ConfigMap', `settings-${i}`, 'Ready')),
      ],
    },
    events: fixtures.events,
    versions: offer?.versions ?? [],
    channels: offer?.channels ?? [],
    links: [
      { name: 'Release notes', link: 'https://example.com/notes' },
      { name: 'Icon', link: 'javascript:alert(1)' },
    ],
    documentation: 'https://example.com/docs',
    timeline: id ? rollouts.timeline : [],
    way: id ? rollouts.wayOf(id, name) : {},
    waits: m.offered
      ? { version: m.offered, message: 'wave rest has not begun: it waits until wave early has passed', rollout: 'kcp-system/greeter' }
      : null,
    ...reviews.detail(id, name, m.pending),
    fixes: fixesOf(m),
    access: { edit: true, delete: true, runtime: id !== 'kcp-system/shop-asia' },
    flow: { delete: { step: 'RemoveEntry', why: '' } },
  })
}

function catalog(world: World, rest: string[], url: URL): Reply {
  const offers = catalogs.offersOf(world)
  if (rest.length === 0) {
    const fit = offers.filter(
      (o) =>
        has(url, 'type', o.type) &&
        has(url, 'installed', String((o.installed ?? []).length > 0)) &&
        has(url, 'source', o.source ?? '@cluster'),
    )
    const list = paged(world, url, fit)
    return ok({ ...(list.body as object), sources: catalogs.linesOf(world) })
  }
  const source = url.searchParams.get('source') ?? ''
  const offer = offers.find((o) => o.name === rest[0] && (o.source ?? '') === source)
  if (!offer) return wrong(404, 'NotFound', `there is no module ${rest[0]} in the catalog`)
  const asked = url.searchParams.get('version') || (offer.versions?.[0]?.version ?? '')
  if (rest[1] === 'review') return reviews.review(world, offer.name, asked, url.searchParams.get('against') ?? '')
  if (rest[1] === 'requirements') return reviews.requirements(offer.name, asked, url.searchParams.get('kyma') ?? '')
  if (rest[1] === 'resource') return offeredResource(offer, url)
  return ok({ ...offer, versions: (offer.versions ?? []).map((v, i) => ({ ...v, ...fixtures.told(offer, v.version, i) })) })
}

function offeredResource(offer: Offer, url: URL): Reply {
  const version = url.searchParams.get('version') ?? ''
  const found = (offer.versions ?? []).find((v) => version === '' || v.version === version)
  if (!found) return wrong(404, 'NotFound', `there is no version ${version} of module ${offer.name} in the catalog`)
  if (offer.name === 'beacon')
    return ok({
      version: found.version,
      default: fixtures.resource,
      schema: null,
      reason: 'the cluster does not know Greeter.operator.kyma-project.io in version v1alpha1 yet',
    })
  return ok({ version: found.version, default: fixtures.resource, schema: fixtures.schema, from: 'cluster' })
}

function one(world: World, id: string): Reply {
  const operation = world.operations.find((o) => o.id === id)
  return operation ? ok(operation) : wrong(404, 'NotFound', `there is no operation ${id}: it may have been removed`)
}

function write(world: World, method: string, parts: string[], body: unknown): Reply {
  const [kind, id, verb] = parts
  if (kind === 'previews') return ok(previewOf(world, body as Deed))
  if (kind === 'sources' && id === 'test') {
    const { name = '' } = body as { name?: string }
    const broken = world.sources.find((source) => source.name === name && source.error)
    world.sources = world.sources.map((source) => (source.name === name ? { ...source, checked: new Date().toISOString() } : source))
    world.changed()
    if (broken) return wrong(400, 'Invalid', broken.error ?? '')
    return ok({
      modules: [
        { name: 'billing', versions: ['1.0.0', '0.9.0'], new: true },
        { name: 'docker-registry', versions: ['0.14.0'], new: false },
      ],
      problems: [],
      digest: 'sha256:0a1b2c3d',
    })
  }
  if (kind === 'sources' && method === 'DELETE') {
    world.sources = world.sources.filter((source) => source.name !== id)
    world.changed()
    return { status: 204 }
  }
  if (kind === 'sources') {
    const source = { ...(body as { name: string; url: string }), kind: 'https' as const, modules: 2, checked: new Date().toISOString() }
    world.sources = [...world.sources, source]
    world.changed()
    return { status: 201, body: source }
  }
  if (kind === 'operations' && !id) return begin(world, body as Deed)
  const operation = world.operations.find((o) => o.id === id)
  if (!operation) return wrong(404, 'NotFound', `there is no operation ${id ?? ''}`)
  if (method === 'DELETE') world.operations = world.operations.filter((o) => o !== operation)
  else world.put({ ...operation, state: verb === 'cancel' ? 'Cancelled' : 'Running' } satisfies Operation)
  world.changed()
  return { status: method === 'DELETE' ? 204 : 202 }
}

const aboutOf = (deed: Deed) => ('module' in deed ? deed.module : 'rollout' in deed ? deed.rollout : 'release' in deed ? deed.release : '')

function begin(world: World, deed: Deed): Reply {
  const preview = previewOf(world, deed)
  if (preview.refused) return wrong(409, 'Refused', preview.refused)
  if (preview.confirm && deed.confirmation !== preview.confirm)
    return wrong(409, 'ConfirmationNeeded', `type "${preview.confirm}" to confirm that`)
  if (isOfKyma(deed)) {
    const [namespace = '', name = ''] = deed.kyma.split('/')
    done(world, deed, fixtures.kyma(name, { namespace, modules: '0/0', local: deed.kind === 'create' && deed.new.local === true }))
    const shown = 'kubeconfig' in deed && deed.kubeconfig ? { ...deed, kubeconfig: '(hidden)' } : deed
    return { status: 202, body: world.begin(shown, `${deed.kind} ${deed.kyma}`, ['Change it', 'Wait for it']) }
  }
  switch (deed.kind) {
    case 'add':
      return {
        status: 202,
        body: world.begin(deed, `Add ${deed.modules.map((m) => m.name).join(', ')}`, [
          'Change the Kyma',
          'Wait until it is installed',
          'Wait until it is ready',
        ]),
      }
    case 'delete':
      return {
        status: 202,
        body: world.begin(deed, `Delete ${deed.module}`, [
          ...(deed.cascade ? ['Delete 2 objects'] : []),
          'Remove it from the Kyma',
          'Wait until it is gone',
        ]),
      }
    case 'upgrade':
      return {
        status: 202,
        body: world.begin(deed, `Upgrade ${deed.items.map((i) => i.module).join(', ')}`, ['Change the Kyma', 'Wait until it is ready']),
      }
  }
  return {
    status: 202,
    body: world.begin(deed, `${deed.kind} ${aboutOf(deed)}`, ['Change it', 'Wait for it']),
  }
}
