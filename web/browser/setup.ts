// Before the first test: a playground with everything real, a catalog of community modules, and somebody who is logged in.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentFile, open, template, type Sold } from './catalog'
import { apply, kyma } from './cluster'
import { hostile, tricked } from './hostile'
import { artifacts, program, root, sessionFile, tell, type World } from './places'
import { start } from './processes'

const modules: Sold[] = [
  { name: 'kiosk', versions: ['1.0.0', '1.1.0'], listed: true },
  { name: 'mailbox', versions: ['1.0.0', '1.1.0'], listed: false },
  { name: 'fountain', versions: ['1.0.0', '1.1.0'], listed: false },
  { name: 'lantern', versions: ['1.0.0', '1.1.0'], listed: false },
  { name: 'trickster', versions: ['1.0.0'], listed: false, words: { help: hostile('help'), state: 'Error', message: hostile('message') } },
]

/** workshop needs somebody: there is no such channel. */
const workshop = kyma('workshop', [{ name: 'charted', channel: 'nightly' }])

/** setup starts it all, and answers with what ends it. */
export default async function setup(): Promise<() => Promise<void>> {
  const assets = process.env['KUBEBUILDER_ASSETS']
  if (!assets) throw new Error('KUBEBUILDER_ASSETS is not set: begin with make test-browser')
  for (const name of ['state', 'screenshots', 'playground']) rmSync(artifacts(name), { recursive: true, force: true })
  mkdirSync(artifacts('state'), { recursive: true })
  const shop = await open(modules)
  const playground = await start({
    program: program('playground'),
    args: ['-dir', artifacts('playground')],
    cwd: root,
    env: { ...process.env, SSL_CERT_FILE: shop.certificate },
    log: artifacts('playground.log'),
    until: /^ {2}(http:\/\/127\.0\.0\.1:\d+)\/#code=(\S+)$/,
  }).catch(async (error: unknown) => {
    await shop.stop()
    throw error
  })
  const [link, base, code] = playground.found
  const dir = artifacts('playground', '1')
  const world: World = {
    link: link.trim(),
    base: base ?? '',
    kubectl: join(assets, 'kubectl'),
    hub: join(dir, 'hub', 'kubeconfig'),
    runtime: join(dir, 'runtime', 'kubeconfig'),
    catalog: shop.catalog,
  }
  const close = async () => {
    await playground.stop()
    await shop.stop()
  }
  try {
    tell(world)
    await apply([...offered(shop.base), workshop], { from: world })
    writeFileSync(sessionFile, JSON.stringify(await login(world.base, code ?? '')), { mode: 0o600 })
  } catch (error) {
    await close()
    throw error
  }
  return close
}

/** offered are the community modules that the cluster itself describes. */
function offered(base: string): object[] {
  return modules
    .filter((module) => !module.listed)
    .flatMap(({ name, versions }) => versions.map((version) => template(name, version, `${base}/${contentFile(name, version)}`)))
    .map((one) => (one.spec.moduleName === 'trickster' ? tricked(one) : one))
    .map((one) => ({ ...one, metadata: { ...one.metadata, namespace: 'kcp-system' } }))
}

/** login trades the code for a cookie, as the page does. */
async function login(base: string, code: string) {
  const answer = await fetch(base + '/api/v1/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: base },
    body: JSON.stringify({ code }),
  })
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  const [name = '', value = ''] = pair.split('=')
  if (!answer.ok || !name) throw new Error(`the dashboard did not let in whoever has its code: ${answer.status}`)
  const rest = { domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Strict' }
  return { cookies: [{ name, value, ...rest }], origins: [] }
}
