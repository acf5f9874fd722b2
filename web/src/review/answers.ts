// What the server answers about a version before it is installed: what it may do, changes and needs, and who must agree. The names are
// those of pkg/permissions, internal/client/releasepreview and internal/dashboard/server.
import type { Unread } from '../api'
import type { Act } from '../rollouts/answers'

export type Severity = 'Critical' | 'High' | 'Medium' | 'Low' | 'Info'

/** Finding is one right, or one thing that concerns others than the module. */
export interface Finding {
  key: string
  category: string
  severity: Severity
  sentence: string
  rule?: string
  subject?: string
}
export interface NamedHash {
  name: string
  hash?: string
}
export interface Image {
  registry: string
  repository: string
  tag?: string
  digest?: string
}
export interface Difference {
  added?: Finding[]
  removed?: Finding[]
  definitionsChanged?: { name: string; severity: Severity; sentences: string[] | null }[]
  webhooksAdded?: NamedHash[]
  webhooksChanged?: NamedHash[]
  webhooksRemoved?: NamedHash[]
  apiServicesAdded?: NamedHash[]
  apiServicesChanged?: NamedHash[]
  apiServicesRemoved?: NamedHash[]
  imagesAdded?: Image[]
  imagesRemoved?: Image[]
  imagesChanged?: { registry: string; repository: string; before: string[] | null; after: string[] | null }[]
}
export interface ObjectID {
  group?: string
  kind: string
  namespace?: string
  name: string
}
export interface FieldChange {
  path: string
  from?: string
  to?: string
}
export interface ObjectChanges {
  added?: ObjectID[]
  removed?: ObjectID[]
  changed?: (ObjectID & { fields?: FieldChange[]; moreFields?: number })[]
  unchanged: number
  restarts?: ObjectID[]
}
export interface Requirement {
  module?: string
  version?: string
  definition?: string
  served?: string
  kubernetes?: string
}
export interface VersionRef {
  version: string
  digest?: string
}
export interface Changes {
  /** from is missing for a first installation. */
  from?: VersionRef
  to: VersionRef
  rights: Difference
  objects: ObjectChanges
  definitions?: { definition: string; rule: string; message: string; refused: boolean; onlyWithObjects?: boolean }[]
  template?: FieldChange[]
  requirements?: { added?: Requirement[]; removed?: Requirement[] }
  downtime?: boolean
  wayBack: { rollbackTo?: string; vouched: boolean }
}

/** Unreadable says why a version cannot be read by the dashboard, and what one can do. */
export interface Unreadable {
  reason: string
  message: string
  remedy?: string
}

/** Review is what a version may do, and what changes with it. It is read in the background. */
export interface Review {
  state: 'Reading' | 'Done' | 'Unreadable'
  /** step is what is being done. */
  step?: string
  problem?: Unreadable | null
  module: string
  version: string
  /** against is the version that it is compared with; missing for a first installation. */
  against?: string
  /** note says what the comparison leaves out. */
  note?: string
  limits: string
  changes?: Changes | null
  /** may is everything that the version may do, the gravest first; more counts what is not listed. */
  may?: Finding[] | null
  more?: number
}

export type ConsentSide = 'Hub' | 'Runtime' | 'Any'
export interface Pending {
  version: string
  digest?: string
  from?: ConsentSide[]
  deadline?: string
  counts?: { rightsAdded?: number; rightsRemoved?: number; definitions?: number; webhooks?: number; images?: number }
  gravest?: string[]
  downtime?: boolean
}
export interface ApproveDeed {
  kind: 'approve'
  kyma: string
  module: string
  /** target is the version and the digest that the user saw. */
  target: string
  confirmation?: string
}
export interface StrategyDeed {
  kind: 'strategy'
  kyma: string
  module: string
  strategy: UpgradeStrategy
  confirmation?: string
}
export type UpgradeStrategy = 'Automatic' | 'Manual'

/** Consent is a version that waits for it: whose is missing, and the button where it is that of this Kyma's user. */
export interface Consent {
  pending: Pending
  /** act is missing when the consent of another user is what lacks. */
  act?: Act<ApproveDeed> | null
  /** others are those who must agree, too, in words; empty for none. */
  others?: string
}
export interface Strategy {
  is: UpgradeStrategy
  act?: Act<StrategyDeed> | null
}

/** Need is one thing that a version needs. */
export interface Need extends Requirement {
  /** state is how far it is met; Unknown where it was not looked at. */
  state: 'Ready' | 'WrongVersion' | 'NotReady' | 'Missing' | 'Unknown'
  have?: string
  /** message says why it does not count, with the requirement itself. */
  message?: string
  /** text is the requirement in words. */
  text: string
  /** addable says that the Kyma lacks the module, and that the catalog has a version of it that fits. */
  addable?: boolean
  /** addChannel is the channel to add it with; that of the Kyma without one. */
  addChannel?: string
}
export interface Needs {
  version: string
  needs: Need[] | null
  /** reason is why the cluster was not looked at. */
  reason?: string
}

export type Outcome =
  | 'Upgrades'
  | 'Installs'
  | 'WaitsForRollout'
  | 'NeedsConsent'
  | 'WaitsForWindow'
  | 'RequirementMissing'
  | 'WouldBreak'
  | 'Unreachable'
  | 'Suspended'
  | 'Refused'
  | 'Removed'
  | 'Downgrade'
  | 'Avoids'
  | 'Leaving'
  | 'Same'
export interface OutcomeGroup {
  outcome: Outcome
  detail?: string
  reason?: string
  count: number
  names?: string[]
  more?: number
}
export interface Forecast {
  state: Review['state']
  step?: string
  /** problem is why the versions cannot be read: what becomes of the Kymas is known nevertheless. */
  problem?: Unreadable | null
  module: string
  channel: string
  version: string
  limits: string
  result?: {
    offered?: string
    kymas: number
    others: number
    groups: OutcomeGroup[] | null
    then?: OutcomeGroup[] | null
    pairs?: { from?: VersionRef; to: VersionRef; kymas: number }[]
    unknown?: string[]
  } | null
  changes?: Changes | null
  unread?: Unread[] | null
}

