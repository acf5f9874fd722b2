// What the server answers about rollouts and the fleet, as types. The names are those of internal/client/rollouts and modulestatus.
import type { Event, KymaCondition, List, State, Unread } from '../api'

export type RolloutPhase =
  'Pending' | 'Progressing' | 'Waiting' | 'Halted' | 'RollingBack' | 'RolledBack' | 'Aborted' | 'Completed'
export type WaveState =
  'Passed' | 'Updating' | 'Soaking' | 'Waiting' | 'Halted' | 'RollingBack' | 'RolledBack' | 'Aborted' | 'Pending'
export type RolloutAction = 'pause' | 'resume' | 'approve' | 'abort'

export interface VersionRef {
  version?: string
  digest?: string
}
export interface Wave {
  name: string
  state: WaveState
  since?: string
  soak?: string
  share?: string
  maxConcurrent?: number
  approval?: boolean
  allowedFailures: number
  total: number
  waiting: number
  updating: number
  ready: number
  failed: number
  brokenBefore: number
  skipped: number
}
export interface RolloutFailure {
  /** kyma is in the namespace of the rollout. */
  kyma: string
  reason: string
  message?: string
  since?: string
}
export interface RolloutChannel {
  /** name is empty for a mandatory module. */
  name: string
  from?: VersionRef
  to: VersionRef
  offered?: string
  phase: RolloutPhase
  wave?: string
  waitsFor?: 'Manager' | 'Resume' | 'Approval' | 'EmptyWave' | 'Decision' | 'Kymas' | 'Soak' | 'WayBack'
  message?: string
  nextAt?: string
  open?: boolean
  underway: number
  back?: number
  waves: Wave[] | null
  worst?: RolloutFailure[] | null
}
export interface Rollout {
  name: string
  namespace: string
  phase: RolloutPhase
  summary?: string
  observed: boolean
  armed: boolean
  armedMessage?: string
  paused?: boolean
  deleting?: boolean
  problem?: string
  onFailure?: 'Halt' | 'Rollback'
  progressDeadline?: string
  decision?: { action: RolloutAction; target: string; channel?: string; wave?: string; at?: string; by?: string }
  channels: RolloutChannel[] | null
}
export interface RolloutList extends List<Rollout> {
  /** missing says that the hub does not serve rollouts. */
  missing?: string
}

export interface RolloutDeed {
  kind: 'rollout'
  rollout: string
  action: RolloutAction
  channel?: string
  target?: string
  wave?: string
  version?: string
  confirmation?: string
}
/** Act is a button: what it asks for, and why it cannot be pressed. */
export interface Act<D> {
  deed: D
  allowed: boolean
  why?: string
}
export type RolloutAct = Act<RolloutDeed>
export interface RolloutDetail {
  rollout: Rollout
  selects: Record<string, string> | null
  conditions: KymaCondition[] | null
  actions: RolloutAct[] | null
  decisions: (RolloutAct[] | null)[] | null
  events: Event[] | null
  unread?: Unread[] | null
}

export interface FleetVersion {
  /** version is empty where none is installed yet. */
  version: string
  kymas: number
  troubled: number
  channels: string[] | null
}
export interface FleetModule {
  namespace: string
  name: string
  mandatory: boolean
  kymas: number
  waiting: number
  troubled: number
  versions: FleetVersion[] | null
  others: { versions: number; kymas: number }
}
export interface FleetList extends List<FleetModule> {
  counts: { kymas: Partial<Record<State, number>>; modules: Partial<Record<State, number>>; attention: number }
}
/** FleetCause are the modules that need attention for the same cause. */
export interface FleetCause {
  id: string
  namespace: string
  module: string
  version: string
  reason: string
  pattern: string
  state: State
  message: string
  modules: number
  kymas: number
  since?: string
}

export type HistoryDeed =
  | { kind: 'back'; kyma: string; module: string; target: string; version: string; confirmation?: string }
  | { kind: 'retry'; kyma: string; module: string; confirmation?: string }
/** Way is how a module goes back, or tries again what it went back from; none says why it cannot go back. */
export interface Way {
  back?: Act<HistoryDeed> | null
  retry?: Act<HistoryDeed> | null
  none?: string
}

/** Revision is what a module was asked to be once. */
export interface Revision {
  number: number
  version?: string
  digest: string
  at?: string
  before?: string
  outcome?: 'Succeeded' | 'Failed' | 'Superseded' | 'RolledBack'
  reason?: string
  current: boolean
  wayBack: boolean
  avoided: boolean
}
