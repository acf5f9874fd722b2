// What the mock's cluster holds. Typed by src/api.ts, so that it cannot drift from what the pages expect.
import { elsewhere, newer, pending } from './reviews'
import type { Event, KymaLine, KymaRow, Module, Offer, OfferVersion, Release, Settings, Source } from '../src/api'

export { cause, why } from './rootcause'

const minutes = (n: number) => new Date(Date.now() - n * 60_000).toISOString()

export function kyma(name: string, over: Partial<KymaRow> = {}): KymaRow {
  return {
    namespace: 'kcp-system',
    name,
    state: 'Ready',
    channel: 'regular',
    modules: '3/3',
    local: false,
    outdated: 0,
    labels: { env: name.startsWith('shop') ? 'prod' : 'stage' },
    created: minutes(60 * 24 * 9),
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Ready', message: 'every module runs in the version that is asked for' },
      { type: 'ModuleCatalog', status: 'True', reason: 'Synced', message: 'the catalog in the runtime is up to date' },
    ],
    ...over,
  }
}

export function module_(name: string, over: Partial<Module> = {}): Module {
  return {
    name,
    kyma: 'kcp-system/demo',
    type: 'managed',
    state: 'Ready',
    channel: 'regular',
    channelOverridden: false,
    version: { desired: '1.2.0', installed: '1.2.0', available: '1.2.0', outdated: false, mismatch: false },
    module: { state: 'Ready' },
    installation: { state: 'Installed' },
    managed: true,
    policy: 'CreateAndDelete',
    beta: false,
    mandatory: false,
    maintenance: false,
    signed: { state: 'Verified', by: 'kyma-module-signature' },
    resource: { apiVersion: 'operator.kyma-project.io/v1alpha1', kind: 'Greeter', namespace: 'kyma-system', name: 'default' },
    template: { namespace: 'kcp-system', name: `${name}-1.2.0` },
    manifest: { namespace: 'kcp-system', name: `demo-${name}` },
    ...over,
  }
}

export const kymas: KymaLine[] = [
  kyma('demo', {
    state: 'Error',
    modules: '4/7',
    outdated: 2,
    reason: 'ModuleError',
    message: 'module beacon is in state Error',
    conditions: [
      { type: 'Ready', status: 'False', reason: 'ModuleError', message: 'module beacon is in state Error' },
      { type: 'ModuleCatalog', status: 'True', reason: 'Synced', message: 'the catalog in the runtime is up to date' },
      { type: 'RuntimeConnected', status: 'True', reason: 'Connected', message: 'the runtime answers' },
    ],
  }),
  kyma('shop-europe', { modules: '5/5', channel: 'regular', release: '2.2', onRelease: '2.1' }),
  kyma('shop-asia', {
    state: 'Processing',
    modules: '4/5',
    channel: 'fast',
    message: 'module registry is being upgraded',
    reason: 'ModuleProcessing',
  }),
  kyma('local', { namespace: 'kyma-system', local: true, modules: '2/2', created: minutes(44) }),
]

const beaconMessage = 'Deployment beacon-system/beacon-manager: 0 of 1 replicas are available: the image cannot be pulled'

export const modules: Module[] = [
  module_('greeter'),
  module_('beacon', {
    state: 'Error',
    version: { desired: '1.1.0', installed: '1.0.0', available: '1.1.0', outdated: true, mismatch: true },
    installation: { state: 'Failed', reason: 'ManagerNotReady', message: beaconMessage },
    module: { state: 'Warning', reason: 'Warning', message: 'Beacon kyma-system/default: the last signal is 10 minutes old' },
    signed: { state: 'Unknown' },
  }),
  module_('api-gateway', {
    state: 'Warning',
    channel: 'fast',
    channelOverridden: true,
    version: { desired: '3.4.1', installed: '3.4.1', available: '3.4.1', outdated: false, mismatch: false },
    module: { state: 'Warning', reason: 'Warning', message: 'APIGateway kyma-system/default: the domain has no certificate' },
  }),
  module_('telemetry', {
    state: 'Processing',
    version: { desired: '1.30.0', installed: '1.29.0', available: '1.30.0', outdated: true, mismatch: true },
    installation: {
      state: 'Upgrading',
      reason: 'ModuleProcessing',
      message: 'waits for Deployment kyma-system/telemetry-manager',
      progress: '11/14',
    },
  }),
  module_('keda', {
    maintenance: true,
    version: { desired: '1.8.0', installed: '1.7.2', available: '1.8.0', outdated: true, mismatch: true },
  }),
  module_('serverless', {
    state: 'Unmanaged',
    managed: false,
    installation: { state: 'Unmanaged', reason: 'Unmanaged', message: 'its objects keep running unmanaged' },
  }),
  module_('warden', { mandatory: true, channel: undefined }),
  module_('connectivity-proxy', {
    state: 'Deleting',
    installation: {
      state: 'Deleting',
      reason: 'DeletionBlocked',
      message: 'two ConnectivityProxies still exist',
      blockedBy: ['ConnectivityProxy shop/eu'],
    },
  }),
  module_('docker-registry', {
    kyma: undefined,
    type: 'community',
    channel: undefined,
    managed: false,
    manifest: undefined,
    record: { namespace: 'kyma-system', name: 'docker-registry' },
    version: { desired: '0.11.0', installed: '0.11.0', available: '0.14.0', outdated: true, mismatch: false },
    signed: { state: 'Missing' },
  }),
  module_('cap-operator', {
    kyma: undefined,
    type: 'community',
    channel: undefined,
    managed: false,
    beta: true,
    state: 'NotConfigured',
    module: { state: 'NotConfigured', reason: 'NoResource', message: 'there is no CAPOperator' },
    version: { desired: '0.33.0', installed: '0.33.0', available: '0.33.0', outdated: false, mismatch: false },
    signed: { state: 'Unknown' },
  }),
  module_('greeter', {
    kyma: 'kcp-system/shop-europe',
    offered: '1.3.0',
    version: { desired: '1.3.0', installed: '1.2.0', available: '1.3.0', outdated: true, mismatch: true },
  }),
  module_('telemetry', { kyma: 'kcp-system/shop-europe', pending: elsewhere, version: newer('1.30.0', '1.31.0') }),
  module_('notes', { pending, consentHere: true, version: newer('2.0.0', '2.1.0') }),
  module_('registry', {
    kyma: 'kcp-system/shop-asia',
    state: 'Unknown',
    module: { state: 'Unknown', reason: 'NotObserved', message: 'its custom resource is in another cluster' },
    installation: {
      state: 'Unknown',
      reason: 'Forbidden',
      message: 'you may not list Manifest.operator.kyma-project.io in namespace kcp-system',
    },
  }),
]

export const events: Event[] = [
  {
    type: 'Warning',
    reason: 'Failed',
    message: 'Failed to pull image "registry.example.com/beacon:1.1.0": not found',
    object: { apiVersion: 'v1', kind: 'Pod', namespace: 'beacon-system', name: 'beacon-manager-5d8c' },
    count: 14,
    last: minutes(1),
  },
  {
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: 'Scaled up replica set beacon-manager-5d8c to 1',
    object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'beacon-system', name: 'beacon-manager' },
    count: 1,
    last: minutes(12),
  },
  {
    type: 'Normal',
    reason: 'Installed',
    message: 'module greeter 1.2.0 is installed',
    object: { apiVersion: 'operator.kyma-project.io/v1beta2', kind: 'Kyma', namespace: 'kcp-system', name: 'demo' },
    count: 1,
    last: minutes(95),
  },
]

function offer(name: string, type: Offer['type'], versions: string[], over: Partial<Offer> = {}): Offer {
  const channels =
    type === 'community'
      ? []
      : [
          { channel: 'regular', version: versions[1] ?? versions[0] ?? '' },
          { channel: 'fast', version: versions[0] ?? '' },
        ]
  return {
    name,
    namespace: 'kcp-system',
    type,
    channels,
    component: `kyma-project.io/module/${name}`,
    versions: versions.map((version) => ({
      version,
      template: { namespace: 'kcp-system', name: `${name}-${version}` },
      channels: channels.filter((c) => c.version === version).map((c) => c.channel),
      beta: version.startsWith('0.'),
      requiresDowntime: name === 'keda',
      manager: `Deployment ${name}-system/${name}-manager`,
      resource: { apiVersion: 'operator.kyma-project.io/v1alpha1', kind: 'Greeter', namespace: 'kyma-system', name: 'default' },
      associatedResources: [{ group: 'operator.kyma-project.io', version: 'v1alpha1', kind: 'Greeting' }],
      links: [{ name: 'rawManifest', link: `https://example.com/${name}/${version}.yaml` }],
    })),
    repository: `https://example.com/kyma-project/${name}`,
    documentation: `https://example.com/docs/${name}`,
    ...over,
  }
}

/** told is what the template of a version says beside what lists show. */
export function told(of: Offer, version: string, i: number): Partial<OfferVersion> {
  const digest = 'sha256:' + '0a1b2c3d'.repeat(8)
  return {
    images: i === 0 ? [`registry.example.com/${of.name}/manager:${version}`, `registry.example.com/${of.name}/agent:${version}`] : [],
    vouched:
      of.type === 'community'
        ? { state: 'Pinned', digest }
        : i === 0
          ? { state: 'Signed', by: ['kyma-module-signature'] }
          : { state: 'Unknown' },
    documentation: `https://example.com/docs/${of.name}/${version}`,
    changelog: i === 0 ? `https://example.com/changes/${of.name}/${version}` : undefined,
  }
}

export const offers: Offer[] = [
  offer('api-gateway', 'manageable', ['3.5.0', '3.4.1']),
  offer('beacon', 'manageable', ['1.1.0', '1.0.0']),
  offer('cap-operator', 'community', ['0.33.0']),
  offer('docker-registry', 'community', ['0.14.0', '0.13.0', '0.11.0'], { installed: [{ version: '0.11.0', state: 'Ready' }] }),
  offer('greeter', 'manageable', ['1.3.0', '1.2.0', '1.1.0'], {
    installed: [
      { kyma: 'kcp-system/demo', version: '1.2.0', state: 'Ready' },
      { kyma: 'kcp-system/shop-europe', version: '1.2.0', state: 'Ready' },
    ],
  }),
  offer('istio', 'manageable', ['1.22.0', '1.21.0']),
  offer('keda', 'manageable', ['1.8.0', '1.7.2']),
  offer('notes', 'manageable', ['2.1.0', '2.0.0']),
  offer('registry-proxy', 'community', ['0.15.0']),
  offer('telemetry', 'manageable', ['1.30.0', '1.29.0'], { restricted: true }),
  offer('warden', 'manageable', ['1.2.0'], { mandatory: '1.2.0' }),
  offer('old-thing', 'manageable', [], { channels: [{ channel: 'regular', version: '0.9.0', missing: true }] }),
]

export const releases: Release[] = [
  {
    name: 'api-gateway',
    namespace: 'kcp-system',
    channels: { regular: '3.4.1', fast: '3.5.0' },
    versions: ['3.5.0', '3.4.1'],
    problems: [],
    access: { edit: true },
    installed: { '3.5.0': 3, '3.4.1': 9 },
  },
  {
    name: 'beacon',
    namespace: 'kcp-system',
    channels: { regular: '1.0.0', fast: '1.1.0' },
    versions: ['1.1.0', '1.0.0'],
    problems: [],
    access: { edit: true },
    installed: null,
  },
  {
    name: 'greeter',
    namespace: 'kcp-system',
    channels: { regular: '1.2.0', fast: '1.3.0', experimental: '1.3.0' },
    versions: ['1.3.0', '1.2.0', '1.1.0'],
    problems: [],
    access: { edit: false },
    installed: null,
  },
  {
    name: 'old-thing',
    namespace: 'kcp-system',
    channels: { regular: '0.9.0' },
    versions: [],
    problems: ['channel regular offers version 0.9.0, and there is no template of it'],
    access: { edit: true },
    installed: null,
  },
  {
    name: 'warden',
    namespace: 'kcp-system',
    channels: {},
    versions: ['1.2.0'],
    mandatory: '1.2.0',
    problems: [],
    access: { edit: true },
    installed: null,
  },
]

export const sources: Source[] = [
  {
    name: 'community',
    url: 'https://catalog.example.com/all-modules.yaml',
    kind: 'https',
    digest: '',
    key: '',
    checked: minutes(31),
    modules: 3,
  },
  {
    name: 'our-own',
    url: 'oci://registry.example.com/catalogs/own:1',
    kind: 'oci',
    digest: 'sha256:8f43c1d2',
    key: '',
    checked: minutes(600),
    modules: 1,
  },
  {
    name: 'broken',
    url: 'https://old.example.com/all-modules.json',
    kind: 'https',
    checked: minutes(3),
    read: minutes(300),
    modules: 1,
    error: 'https://old.example.com/all-modules.json answers with status 404: check the address',
  },
]

export const settings: Settings = {
  versions: {
    dashboard: 'v0.7.0',
    kubernetes: 'v1.36.3',
    manager: 'v0.7.0',
    crds: { Kyma: ['v1beta2', 'v1alpha1'], Manifest: ['v1beta2'], ModuleTemplate: ['v1beta2'], ModuleReleaseMeta: ['v1beta2'] },
  },
  access: [
    { what: 'Kymas', verb: 'list', allowed: true },
    { what: 'Kymas', verb: 'patch', allowed: true },
    { what: 'Module releases', verb: 'patch', allowed: false },
    { what: 'Access Secrets in kcp-system', verb: 'get', allowed: false },
  ],
  health: [
    { what: 'Lifecycle manager', state: 'Ready', message: '1 of 1 replicas are available' },
    { what: 'API server', state: 'Ready' },
    { what: 'Definitions', state: 'Warning', message: 'ModuleReleaseMeta is served in an old version' },
  ],
}

export const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['greeting'],
      properties: {
        greeting: { type: 'string', description: 'What it says.', minLength: 2, maxLength: 40 },
        replicas: { type: 'integer', minimum: 1, maximum: 5, default: 1 },
        loud: { type: 'boolean', description: 'Say it in capitals.' },
        language: { type: 'string', enum: ['en', 'de', 'fr'] },
        names: { type: 'array', items: { type: 'string' }, description: 'Whom to greet.' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        resources: { type: 'object', properties: { cpu: { 'x-kubernetes-int-or-string': true }, memory: { type: 'string' } } },
        rules: {
          type: 'array',
          items: { type: 'object', required: ['host'], properties: { host: { type: 'string' }, port: { type: 'integer' } } },
        },
        extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
}

export const resource = {
  apiVersion: 'operator.kyma-project.io/v1alpha1',
  kind: 'Greeter',
  metadata: { name: 'default', namespace: 'kyma-system', resourceVersion: '41' },
  spec: { greeting: 'Hello', replicas: 2, loud: false, names: ['Ada', 'Grace'], resources: { cpu: '100m', memory: '64Mi' } },
}
