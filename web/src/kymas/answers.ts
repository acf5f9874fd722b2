// What the server answers about a Kyma as a whole, and what is asked of it: internal/dashboard/server/newkyma.go and fixes.go.
import type { AddModule, Deed, KymaDetail, OfferChannel, Unread } from '../api'

export interface CreateDeed {
  kind: 'create'
  kyma: string
  channel?: string
  modules?: AddModule[]
  new: { local?: boolean; release?: string; labels?: Record<string, string>; skipMaintenanceWindows?: boolean }
  kubeconfig?: string
  confirmation?: string
}
export type KymaDeed =
  | CreateDeed
  | { kind: 'connect'; kyma: string; kubeconfig: string; confirmation?: string }
  | { kind: 'deleteKyma' | 'suspend' | 'resume'; kyma: string; confirmation?: string }

/** Fix is a button that removes a cause. Without a deed a user brings something first, or looks at another page. */
export interface Fix {
  kind: 'channel' | 'version' | 'approve' | 'add' | 'retry' | 'delete' | 'connect' | 'resume'
  title: string
  /** module that it is about; missing for the Kyma itself. */
  module?: string
  deed: Deed | null
  allowed: boolean
  why?: string
}

export interface KymaPage extends KymaDetail {
  suspended?: boolean
  fixes?: Fix[] | null
  access: KymaDetail['access'] & { connect?: boolean }
}

export interface NewModule {
  name: string
  channels: OfferChannel[] | null
}
export interface NewPlace {
  namespace: string
  connect: boolean
  channels: string[] | null
  releases: string[] | null
  modules: NewModule[] | null
  kymas: string[] | null
}
export interface NewKyma {
  allowed: boolean
  why?: string
  namespaces: NewPlace[] | null
  unread?: Unread[] | null
}
