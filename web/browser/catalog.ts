// Community modules: what they hold, a catalog of them that kyma catalog build makes, and the web server that both are read from.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { artifacts, program } from './places'

const group = 'samples.kyma-project.io'

/** kindOf is the kind of a module's own resource. */
const kindOf = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** content is everything that a version of a module consists of: a namespace, a definition and its operator. */
function content(name: string, version: string, words: Words): object[] {
  const labels = { app: name }
  const space = `${name}-system`
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: space } },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${name}s.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind: kindOf(name), listKind: kindOf(name) + 'List', plural: name + 's', singular: name },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaOf(words) } }],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: space, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'manager', image: `${group}/${name}:${version}` }] } },
      },
    },
  ]
}

/** Words are what the makers of a module say of its resource. */
interface Words {
  help: string
  state: string
  message: string
}

const usual: Words = { help: 'What stands above it.', state: 'Ready', message: '' }

/** schemaOf is the schema of a module's resource. Nothing runs that could tell how a resource is, so it is so from the beginning. */
function schemaOf({ help, state, message }: Words) {
  const text = { type: 'string' }
  const condition = { type: 'object', properties: { type: text, status: text, reason: text, message: text } }
  const conditions = message ? [{ type: 'Ready', status: 'False', reason: 'Told', message }] : []
  return {
    type: 'object',
    properties: {
      status: {
        type: 'object',
        default: {},
        properties: {
          state: { type: 'string', default: state },
          conditions: { type: 'array', items: condition, default: conditions },
        },
      },
      spec: {
        type: 'object',
        required: ['title'],
        properties: {
          title: { type: 'string', description: help, minLength: 1, maxLength: 200 },
          size: { type: 'string', description: 'How large it is.', enum: ['small', 'large'], default: 'small' },
        },
      },
    },
  }
}

/** resource is a custom resource of a module. */
export function resource(module: string, name: string, title: string) {
  return { apiVersion: `${group}/v1`, kind: kindOf(module), metadata: { name, namespace: 'default' }, spec: { title, size: 'small' } }
}

/** template describes a version of a module whose content is at a link. */
export function template(name: string, version: string, link: string) {
  return {
    apiVersion: 'operator.kyma-project.io/v1beta2',
    kind: 'ModuleTemplate',
    metadata: {
      name: `${name}-${version}`,
      labels: { 'operator.kyma-project.io/module-name': name },
      annotations: {
        'operator.kyma-project.io/is-cluster-scoped': 'false',
        'operator.kyma-project.io/description': `A ${name} for everybody who passes by.`,
      },
    },
    spec: {
      moduleName: name,
      version,
      descriptor: {},
      info: { repository: `https://example.com/${name}`, documentation: `https://example.com/${name}/README.md` },
      resources: [{ name: 'rawManifest', link }],
      manager: { group: 'apps', version: 'v1', kind: 'Deployment', namespace: `${name}-system`, name },
      associatedResources: [{ group, version: 'v1', kind: kindOf(name) }],
      data: resource(name, 'default', 'Welcome'),
    },
  }
}

export interface Shop {
  /** certificate is the file by which programs know the server. */
  certificate: string
  base: string
  catalog: string
  stop(): Promise<void>
}

/** Sold is a module; the catalog lists it, or the cluster describes it. */
export interface Sold {
  name: string
  versions: string[]
  listed: boolean
  words?: Words
}

/** contentFile is what the content of a version is called on the server. */
export const contentFile = (name: string, version: string) => `${name}-${version}.yaml`

/** open builds the catalog and serves it with the content of the modules, also of those that are not in it. */
export async function open(modules: Sold[]): Promise<Shop> {
  const dir = artifacts('state', 'catalog')
  const files = new Map<string, string>()
  const { server, certificate } = await serve(dir, files)
  const base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const { name, versions, listed, words } of modules) {
    const folder = join(dir, 'modules', name)
    for (const version of versions) {
      const file = contentFile(name, version)
      files.set('/' + file, content(name, version, words ?? usual).map((object) => stringify(object)).join('---\n'))
      if (!listed) continue
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `${name}-${version}.yaml`), stringify(template(name, version, `${base}/${file}`)))
    }
  }
  const catalog = base + '/all-modules.yaml'
  execFileSync(program('kyma'), ['catalog', 'build', dir, '--to', dir, '--source', catalog], { stdio: 'pipe' })
  files.set('/all-modules.yaml', readFileSync(join(dir, 'all-modules.yaml'), 'utf8'))
  return { certificate, base, catalog, stop: () => closed(server) }
}

/** serve answers with the files that are there by then. Addresses of catalogs are https, so it has a certificate of its own. */
async function serve(dir: string, files: Map<string, string>): Promise<{ server: Server; certificate: string }> {
  mkdirSync(dir, { recursive: true })
  const key = join(dir, 'server.key')
  const certificate = join(dir, 'server.crt')
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=catalog']
  execFileSync('openssl', [...made, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate], { stdio: 'pipe' })
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, answer) => {
    const text = files.get(request.url ?? '')
    answer.writeHead(text === undefined ? 404 : 200, { 'Content-Type': 'application/yaml' }).end(text ?? '')
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return { server, certificate }
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((done) => server.close(() => done()))
}
