// What the server answers, as types. The names are those of client/modulestatus, dashboard/server and dashboard/operations (internal/).
import type { Schema } from './openapischema'
import type { KymaDeed } from './kymas/answers'
import type { ApproveDeed, Consent, Needs, Pending, Strategy, StrategyDeed, UpgradeStrategy } from './review/answers'
import type { HistoryDeed, Revision, RolloutDeed, Way } from './rollouts/answers'
import type { Cause, Why } from './rootcause'

export type { Schema }
export type { Cause, Fact, Why } from './rootcause'

export type State = 'Ready' | 'Unmanaged' | 'NotConfigured' | 'Processing' | 'Deleting' | 'Unknown' | 'Warning' | 'Error'
export type Phase =
  'NotInstalled' | 'Installing' | 'Installed' | 'Upgrading' | 'Deleting' | 'Failed' | 'Unmanaged' | 'Orphaned' | 'Unknown'
export type ModuleType = 'managed' | 'manageable' | 'community'
export type Policy = 'CreateAndDelete' | 'Ignore'
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined }
export type JsonObject = { [key: string]: Json | undefined }

export interface Ref {
  apiVersion: string
  kind: string
  namespace?: string
  name: string
}
export interface Key {
  namespace?: string
  name: string
}
export interface Named {
  name: string
  link: string
}
export interface Unread {
  kind: string
  namespace?: string
  reason: string
  message: string
}
export interface List<T> {
  items: T[] | null
  total: number
  unread?: Unread[] | null
}
export interface Problem {
  reason: string
  message: string
  details?: { field?: string; message: string }[]
}

export interface Session {
  user: string
  groups?: string[] | null
  mode: 'local' | 'cluster'
  cluster: string
  login: ('code' | 'token' | 'oidc')[] | null
  loggedIn: boolean
}

export interface Condition {
  state: State
  reason?: string
  message?: string
}
export interface Installation {
  state: Phase
  reason?: string
  message?: string
  progress?: string
  blockedBy?: string[]
  warning?: boolean
  unready?: boolean
}
export interface Version {
  desired?: string
  installed?: string
  available?: string
  outdated: boolean
  running?: string
  mismatch: boolean
}
export interface Signed {
  state: 'Verified' | 'Missing' | 'Invalid' | 'Untrusted' | 'Revoked' | 'Incomplete' | 'Unknown'
  by?: string
  message?: string
  digest?: string
  at?: string
}

export interface Module {
  name: string
  kyma?: string
  type: ModuleType
  state: State
  channel?: string
  channelOverridden: boolean
  release?: string
  version: Version
  module: Condition
  installation: Installation
  managed: boolean
  policy?: Policy
  hasValues?: boolean
  beta: boolean
  mandatory: boolean
  maintenance: boolean
  /** offered is the version that waits for its rollout. */
  offered?: string
  /** pending is the version that waits for consent; consentHere says that it is the consent of this Kyma's own user that is missing. */
  pending?: Pending
  consentHere?: boolean
  suspended?: boolean
  signed: Signed
  resource?: Ref
  template?: Key
  manifest?: Key
  record?: Key
  /** origin is the address of the catalog that a module without a Kyma came from. */
  origin?: string
  cause?: Cause // why it is not ready; only the page of one module has it
}

export interface KymaCondition {
  type: string
  status: string
  reason?: string
  message?: string
}
export interface KymaLine {
  namespace: string
  name: string
  state: State
  channel: string
  modules: string
  local: boolean
  copy?: boolean
  release?: string
  onRelease?: string
  reason?: string
  message?: string
  created?: string
  outdated: number
  conditions?: KymaCondition[]
}
export interface KymaEntry {
  name: string
  channel?: string
  version?: string
  customResourcePolicy?: Policy
  managed?: boolean
}
export interface KymaDetail {
  kyma: KymaLine
  spec: { channel: string; remote?: boolean; skipMaintenanceWindows?: boolean; modules?: KymaEntry[] | null }
  conditions: KymaCondition[] | null
  modules: Module[] | null
  lastOperation?: { operation?: string; lastUpdateTime?: string } | string | null
  events: Event[] | null
  access: { edit: boolean; delete: boolean; secret: boolean }
  channels: string[] | null
}

export interface Event {
  type: string
  reason: string
  message: string
  object: Ref
  count: number
  last: string
}

export interface Node {
  kind: string
  apiVersion?: string
  namespace?: string
  name: string
  state?: State
  reason?: string
  message?: string
  version?: string
  children?: Node[]
}
export interface OfferChannel {
  channel: string
  version: string
  missing?: boolean
}
export interface OfferVersion {
  version: string
  template: Key
  channels?: string[]
  beta?: boolean
  internal?: boolean
  requiresDowntime?: boolean
  resource?: Ref
  manager?: string
  associatedResources?: { group: string; version: string; kind: string }[]
  links?: Named[]
  images?: string[]
  vouched?: Vouched
  clusterScoped?: boolean
  documentation?: string
  changelog?: string
}
/** Vouched is what a template says of who answers for a version. Only a single offer tells it. */
export interface Vouched {
  state: 'Signed' | 'Pinned' | 'Unsigned' | 'Unknown'
  by?: string[]
  digest?: string
}
export interface Offer {
  name: string
  namespace?: string
  type: ModuleType
  mandatory?: string
  component?: string
  channels?: OfferChannel[]
  versions?: OfferVersion[]
  installed?: { kyma?: string; version?: string; state: State }[]
  restricted?: boolean
  repository?: string
  documentation?: string
  source?: string
}

export interface ModuleDetail {
  module: Module
  why: Why[] | null
  tree: Node | null
  events: Event[] | null
  versions: OfferVersion[] | null
  channels: OfferChannel[] | null
  links: Named[] | null
  documentation?: string
  timeline?: Revision[] | null
  way?: Way
  waits?: { version: string; message?: string; rollout?: string } | null
  consent?: Consent | null
  strategy?: Strategy | null
  needs?: Needs | null
  neededBy?: string[] | null
  unread?: Unread[] | null
  access: { edit: boolean; delete: boolean; runtime: boolean }
  flow?: { delete?: { step: 'Blocked' | 'DeleteResources' | 'RemoveEntry' | 'DeleteObjects' | 'Gone'; why: string } }
}
export interface Resource {
  object: JsonObject | null
  default: JsonObject | null
  schema: Schema | null
  editable: boolean
  reason?: string
}
/** OfferedResource is what a version that are available would be configured by. */
export interface OfferedResource {
  version: string
  default: JsonObject | null
  schema: Schema | null
  from?: 'cluster' | 'link'
  reason?: string
}

export interface Attention {
  kind: 'Kyma' | 'Module' | 'Rollout' | 'Consent'
  kyma?: string
  /** namespace of a rollout. */
  namespace?: string
  name: string
  state: State
  reason?: string
  message?: string
  /** cause is why a module is not ready, in one sentence. */
  cause?: string
}
export interface Overview {
  kymas: Partial<Record<State, number>>
  modules: Partial<Record<State, number>>
  outdated: number
  attention: { items: Attention[] | null; total: number }
  operations: Operation[] | null
  health: { manager: { ready: boolean; message?: string } }
  unread?: Unread[] | null
}

export interface AddModule {
  name: string
  channel?: string
  version?: string
  policy?: Policy
  strategy?: UpgradeStrategy
  resource?: JsonObject
  /** namespace of the template of a directly installed module. */
  namespace?: string
}
export interface Previewed extends Ref {
  uid: string
}
export type Deed =
  | {
      kind: 'add'
      kyma: string
      modules: AddModule[]
      direct: boolean
      community: boolean
      source?: string
      confirmation?: string
    }
  | {
      kind: 'upgrade'
      items: { kyma: string; module: string; version?: string; channel?: string; namespace?: string }[]
      confirmation?: string
    }
  | { kind: 'delete'; kyma: string; module: string; cascade: boolean; previewed?: Previewed[]; with?: string[]; confirmation?: string }
  | { kind: 'manage' | 'unmanage'; kyma: string; module: string; policy?: Policy; confirmation?: string }
  | { kind: 'channel'; kyma: string; module: string; channel?: string; version?: string; confirmation?: string }
  | { kind: 'configure'; kyma: string; module: string; object: JsonObject; confirmation?: string }
  | { kind: 'promote'; release: string; channel: string; version: string; confirmation?: string }
  | RolloutDeed
  | HistoryDeed
  | ApproveDeed
  | StrategyDeed | KymaDeed

export interface Change {
  /** kyma that the object belongs to, where a deed is about several. */
  kyma?: string
  object: Ref
  change: 'Create' | 'Update' | 'Delete' | 'Unchanged' | 'Refused'
  fields?: { path: string; from?: Json; to?: Json }[] | null
  error?: string
}
export interface Blocking {
  ref: Ref
  uid: string
  deleting?: boolean
  finalizers?: string[] | null
}
export interface Preview {
  way?: string
  why?: string
  confirm?: string
  diff?: Change[] | null
  blocking?: Blocking[] | null
  warnings?: string[] | null
  /** dependents are modules that need the one that is deleted, in the order of their removal. */
  dependents?: { module: string; version?: string; needs?: string }[] | null
  /** templates are where modules that are installed directly come from. */
  templates?: { kyma?: string; module: string; version: string; namespace: string; hub: string; origin: string }[] | null
  refused?: string
}

export type OperationState = 'Running' | 'Succeeded' | 'Failed' | 'Interrupted' | 'Cancelled'
export interface Operation {
  id: string
  deed: Deed
  title: string
  user: string
  state: OperationState
  message?: string
  created: string
  finished?: string
  steps: { title: string; state: 'Waiting' | 'Running' | 'Done' | 'Failed'; message?: string }[] | null
  objects?: { ref: Ref; kyma?: string; state: string; message?: string }[] | null
  access: { resume: boolean; cancel: boolean }
}

export interface Source {
  name: string
  url: string
  kind: 'https' | 'oci' | 'cluster'
  digest?: string
  key?: string
  checked?: string
  /** read is when it could be read last. */
  read?: string
  modules?: string[] | number | null
  error?: string
}
export interface SourceTest {
  modules: { name: string; versions: string[] | null; new: boolean }[] | null
  problems: { rule: string; where: string; message: string }[] | null
  digest: string
}
export interface Release {
  name: string
  namespace: string
  channels: Record<string, string> | null
  versions: string[] | null
  mandatory?: string
  problems?: string[] | null
  access: { edit: boolean }
  installed?: Record<string, number> | null
}
export interface Releases {
  items: Release[] | null
  channels: string[] | null
  unread?: Unread[] | null
}
export interface Settings {
  versions: { dashboard?: string; kubernetes?: string; manager?: string; crds?: Record<string, string[]> }
  access: { what: string; verb: string; allowed: boolean }[] | null
  health: { what: string; state: State; message?: string }[] | null
}
