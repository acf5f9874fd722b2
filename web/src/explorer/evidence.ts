// Where the evidence of a cause leads: to the object in the explorer, or to the log of its container.
import type { Fact, Ref } from '../api'
import { search } from '../live/http'
import { idOf } from './tree'

const versions: Record<string, string> = {
  Pod: 'v1',
  PersistentVolumeClaim: 'v1',
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
}

/** ofHub are kinds that lie on the hub, whatever cluster the module is in. */
const ofHub = ['Kyma', 'Manifest', 'Module', 'ModuleTemplate', 'ModuleReleaseMeta', 'ModuleRollout', 'KymaRelease']

/** objectLink is the address of an object on the page of its module, '' where the kind is not known well enough. */
export function objectLink(ref: Partial<Ref>, more: Record<string, string> = {}): string {
  const version = ref.apiVersion || (Object.hasOwn(versions, ref.kind ?? '') ? versions[ref.kind ?? ''] : undefined)
  if (!version || !ref.kind || !ref.name || ofHub.includes(ref.kind)) return ''
  const id = idOf({ apiVersion: version, kind: ref.kind, namespace: ref.namespace, name: ref.name })
  return search({ tab: 'parts', object: id, version, ...more })
}

/** factLink reads the object of a fact, such as "Pod kyma-system/greeter-7d9, container manager". */
export function factLink(fact: Fact): string {
  const parts = /^(\S+) (?:([^\s/,]+)\/)?([^\s/,]+)(?:, container (\S+))?$/.exec(fact.object ?? '')
  if (!parts) return ''
  const [, kind = '', namespace, name = '', container] = parts
  const more = fact.source === 'log' && container ? { panel: 'logs', container } : {}
  return objectLink({ kind, namespace, name }, more as Record<string, string>)
}
