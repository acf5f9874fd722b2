// What the mock knows of versions: what they may do, change and need, who must agree, and what becomes of a fleet.
import type { Changes, Consent, Finding, Forecast, ModuleDetail, Need, Needs, Pending, Review, Severity } from '../src/api'
import type { Reply } from './answers'
import type { World } from './state'

const ok = (body: unknown): Reply => ({ status: 200, body })
const digest = 'sha256:' + '8f43c1d2'.repeat(8)

export const limits =
  'Covers the objects that the module is installed with. What its operators create while they run, and what other objects of the ' +
  'cluster grant to it, is not covered.'

/** newer are the versions of a module for which there is a newer one. */
export const newer = (installed: string, available: string) => ({
  desired: available,
  installed,
  available,
  outdated: true,
  mismatch: true,
})

const finding = (severity: Severity, sentence: string, rule: string, subject = 'ServiceAccount notes-system/manager'): Finding => ({
  key: `rights|${sentence}`,
  category: 'Rights',
  severity,
  sentence,
  rule,
  subject,
})

const secrets = finding('Critical', 'May read every Secret of the cluster.', 'ClusterRole notes-manager rule 4: get,list,watch secrets')
const added: Finding[] = [
  secrets,
  finding('High', 'May run commands in every Pod of the cluster.', 'ClusterRole notes-manager rule 5: create pods/exec'),
  finding('Medium', 'Uses the network of a node, past all NetworkPolicies.', 'Deployment notes-system/agent hostNetwork', ''),
  finding('Low', 'May read every ConfigMap of the cluster.', 'ClusterRole notes-manager rule 2: get,list configmaps'),
  finding('Info', 'May write events.', 'Role notes-system/notes-manager rule 1: create,patch events'),
]
const usual: Finding[] = [
  finding('Medium', 'May change every Deployment of the cluster.', 'ClusterRole notes-manager rule 1: update,patch deployments.apps'),
  ...Array.from({ length: 11 }, (_, i) =>
    finding('Info', `May change its own notes of kind ${i + 1}.`, `ClusterRole notes-manager rule ${i + 6}: * notes`),
  ),
]

export const changes: Changes = {
  from: { version: '2.0.0', digest },
  to: { version: '2.1.0', digest },
  rights: {
    added,
    removed: [finding('Low', 'May delete Jobs in namespace notes-system.', 'Role notes-system/notes-cleaner rule 1: delete jobs.batch')],
    definitionsChanged: [
      { name: 'notes.samples.kyma-project.io', severity: 'Low', sentences: ['Serves v1beta1, too.', 'Stores v1beta1, not v1alpha1.'] },
    ],
    webhooksAdded: [{ name: 'MutatingWebhookConfiguration notes/defaults.notes.samples.kyma-project.io', hash: '' }],
    imagesChanged: [{ registry: 'registry.example.com', repository: 'notes/manager', before: ['2.0.0'], after: ['2.1.0'] }],
    imagesAdded: [{ registry: 'ghcr.io', repository: 'others/agent', tag: '0.3.1' }],
  },
  objects: {
    added: [
      { group: 'apps', kind: 'DaemonSet', namespace: 'notes-system', name: 'notes-agent' },
      { group: 'admissionregistration.k8s.io', kind: 'MutatingWebhookConfiguration', name: 'notes' },
    ],
    removed: [{ group: 'batch', kind: 'CronJob', namespace: 'notes-system', name: 'notes-cleaner' }],
    changed: [
      {
        group: 'apps',
        kind: 'Deployment',
        namespace: 'notes-system',
        name: 'notes-manager',
        fields: [
          {
            path: 'spec.template.spec.containers[manager].image',
            from: 'registry.example.com/notes/manager:2.0.0',
            to: 'registry.example.com/notes/manager:2.1.0',
          },
          { path: 'spec.template.spec.containers[manager].resources.limits.memory', from: '128Mi', to: '256Mi' },
        ],
      },
      { kind: 'Secret', namespace: 'notes-system', name: 'webhook', fields: [{ path: 'data[tls.crt]', from: '(hidden)', to: '(hidden)' }] },
    ],
    unchanged: 17,
    restarts: [{ group: 'apps', kind: 'Deployment', namespace: 'notes-system', name: 'notes-manager' }],
  },
  downtime: false,
  wayBack: { rollbackTo: '>=2.0.0', vouched: true },
}

export const pending: Pending = {
  version: '2.1.0',
  digest,
  from: ['Hub'],
  deadline: new Date(Date.now() + 13.2 * 24 * 3_600_000).toISOString(),
  counts: { rightsAdded: 4, rightsRemoved: 1, definitions: 1, webhooks: 1, images: 1 },
  gravest: added.slice(0, 4).map((one) => one.sentence),
}

/** elsewhere waits for the consent of another user. */
export const elsewhere: Pending = {
  version: '1.31.0',
  digest,
  from: ['Runtime'],
  counts: { rightsAdded: 2 },
  gravest: ['May read every Secret of the cluster.', 'May read the logs of every Pod.'],
}

const consentOf = (kyma: string, module: string, of: Pending | undefined): Consent | null => {
  if (!of) return null
  if (of === elsewhere) return { pending: of, act: null, others: 'the user of the runtime must agree: you cannot in their place' }
  return { pending: of, act: { deed: { kind: 'approve', kyma, module, target: `${of.version}@${of.digest ?? ''}` }, allowed: true } }
}

const needsOfNotes: Need[] = [
  {
    module: 'istio',
    version: '>=1.20 <2',
    state: 'Missing',
    text: 'module istio (>=1.20 <2)',
    message: 'module istio (>=1.20 <2), which the Kyma does not have',
    addable: true,
  },
  {
    module: 'api-gateway',
    version: '>=3.5',
    state: 'WrongVersion',
    have: '3.4.1',
    text: 'module api-gateway (>=3.5)',
    message: 'module api-gateway (>=3.5), which has version 3.4.1',
  },
  {
    definition: 'gateways.gateway.networking.k8s.io',
    served: 'v1',
    state: 'Ready',
    text: 'definition gateways.gateway.networking.k8s.io served as v1',
  },
  {
    kubernetes: '>=1.31',
    state: 'Unknown',
    text: 'Kubernetes >=1.31',
    message: 'Kubernetes >=1.31, and the version of the cluster is not known yet',
  },
]

/** detail is what the page of a module shows besides. */
export function detail(kyma: string, name: string, of: Pending | undefined): Partial<ModuleDetail> {
  if (!kyma) return { consent: null, strategy: null, needs: null, neededBy: [] }
  const manual = of === pending
  return {
    consent: consentOf(kyma, name, of),
    strategy: {
      is: manual ? 'Manual' : 'Automatic',
      act: { deed: { kind: 'strategy', kyma, module: name, strategy: manual ? 'Automatic' : 'Manual' }, allowed: true },
    },
    needs: { version: '2.1.0', needs: name === 'notes' ? needsOfNotes : [], reason: 'the runtime does not answer' },
    neededBy: name === 'api-gateway' ? ['notes', 'serverless'] : [],
  }
}

/** dependents are those of a module that is deleted. */
export const dependents = (name: string) =>
  name === 'api-gateway'
    ? [
        { module: 'serverless', version: '1.2.0', needs: 'api-gateway >=3' },
        { module: 'notes', version: '2.0.0', needs: 'api-gateway >=3.4' },
      ]
    : []

/** late answers in the background: at first it is being read, and a moment later it is there. */
function late<T>(world: World, key: string, reading: T, there: T): Reply {
  if (world.scenario === 'many' || world.read.has(key)) return ok(there)
  setTimeout(() => {
    world.read.add(key)
    world.changed()
  }, 900)
  return ok(reading)
}

/** review answers .../review. */
export function review(world: World, module: string, version: string, against: string): Reply {
  const nothing = { problem: null, changes: null, may: null }
  const reading: Review = { state: 'Reading', step: `reading ${module} ${version}`, module, version, against, limits, ...nothing }
  if (module === 'telemetry') {
    return late(world, 'review ' + module, reading, {
      ...reading,
      state: 'Unreadable',
      step: '',
      problem: {
        reason: 'RegistryUnreachable',
        message: 'registry registry.internal:5000, which the lifecycle manager names, does not answer this machine: connection refused',
        remedy: 'try it where the registry can be reached, or name its address as this machine sees it with --registry',
      },
    })
  }
  const all = [...added, ...usual]
  const done: Review = { ...reading, state: 'Done', step: '', may: all, more: 0, changes: { ...changes, to: { version, digest } } }
  if (module === 'greeter') {
    done.may = usual
    done.changes = { ...changes, to: { version, digest }, rights: {}, objects: { unchanged: 21, changed: [] } }
  }
  if (!against && done.changes) {
    const objects = { added: changes.objects.added, unchanged: 0 }
    done.changes = { ...done.changes, from: undefined, rights: { added: all }, objects }
  }
  return late(world, `review ${module} ${version}`, reading, done)
}

/** requirements answers .../requirements. */
export function requirements(name: string, version: string, kyma: string): Reply {
  const needs = name === 'notes' ? needsOfNotes.map((one) => (kyma ? one : { ...one, state: 'Unknown' as const })) : []
  return ok({ version, needs } satisfies Needs)
}

/** forecast answers .../forecast. */
export function forecast(world: World, module: string, channel: string, version: string): Reply {
  const reading: Forecast = {
    state: 'Reading',
    step: `reading ${module} ${version}, and what becomes of every Kyma`,
    module,
    channel,
    version,
    limits,
    unread: [],
    problem: null,
    result: null,
    changes: null,
  }
  return late(world, `forecast ${module} ${channel} ${version}`, reading, {
    ...reading,
    state: 'Done',
    step: '',
    result: {
      module,
      channel,
      version,
      offered: '3.4.1',
      kymas: 1198,
      others: 12,
      groups: [
        { outcome: 'Upgrades', detail: 'from 3.4.1', count: 57, names: ['demo', 'shop-asia', 'shop-europe'], more: 54 },
        { outcome: 'WaitsForRollout', detail: 'in wave early', count: 120, names: ['runtime-0001'], more: 119 },
        { outcome: 'WaitsForRollout', detail: 'in wave rest', count: 930, names: ['runtime-0300'], more: 929 },
        { outcome: 'NeedsConsent', detail: 'of the user of the runtime', count: 64, names: ['bank-1', 'bank-2'], more: 62 },
        { outcome: 'WaitsForWindow', detail: 'opens 2026-11-28T22:00:00Z', count: 9, names: ['night-1'], more: 8 },
        { outcome: 'RequirementMissing', detail: 'module istio, which the Kyma does not have', count: 5, names: ['bare-1'], more: 4 },
        { outcome: 'Unreachable', detail: 'RuntimeUnreachable', count: 11, names: ['lost-1'], more: 10 },
        { outcome: 'Same', count: 2, names: ['early-bird', 'pilot'] },
      ],
      then: [{ outcome: 'NeedsConsent', count: 21 }],
      unknown: ['the maintenance policy could not be read, so that it is not known when windows open'],
    },
    changes: { ...changes, from: { version: '3.4.1' }, to: { version } },
  })
}
