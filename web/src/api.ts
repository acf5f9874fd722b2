// What the server answers and is sent, as types. They are generated from its OpenAPI document (`npm run types`); here are the names of
// parts that have none there, and the types of what the document only calls an object of Kubernetes.
import type * as schema from './apischema'
import type { Schema } from './openapischema'

export type * from './apischema'
export type { Schema }

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined }
export type JsonObject = { [key: string]: Json | undefined }

/** List is a page of what there is; unread says what could not be read. */
export interface List<T> {
  items: T[] | null
  total: number
  unread?: schema.Unread[] | null
}
export type Problem = schema.Error['error']

export type Phase = schema.Module['installation']['state']
export type ModuleType = schema.Module['type']
export type Version = schema.Module['version']
export type Pending = schema.PendingVersion
export type ConsentSide = NonNullable<Pending['from']>[number]
export type Release = schema.ReleaseLine
export type Releases = schema.ReleaseList
export type Outcome = schema.OutcomeGroup['outcome']
export type Wave = schema.RolloutWave
export type WaveState = Wave['state']
export type Container = NonNullable<schema.ObjectDetail['containers']>[number]
export type ObjectCondition = NonNullable<schema.ObjectDetail['conditions']>[number]
export type Presence = schema.ObjectNode['presence']
export type LogLine = NonNullable<schema.LogMessage['lines']>[number]
export type LogEnd = NonNullable<schema.LogMessage['end']>
export type Way = schema.ModuleDetail['way']
export type OperationState = Operation['state']
export type Blocking = NonNullable<schema.Preview['blocking']>[number]
export type Previewed = schema.PreviewedObject
export type NewKymaModule = NonNullable<schema.NewKymaPlace['modules']>[number]
export type KymaDeed = schema.CreateDeed | schema.ConnectDeed | schema.KymaLifecycleDeed
export type HistoryDeed = schema.BackDeed | schema.RetryDeed
export type Operation = schema.Operation

/** Offer is a module that can be had; source is the one that it was read from by this page. */
export type Offer = schema.Offer & { source?: string }

/** Resource is how a module is configured; OfferedResource is how one would be that can be had. */
export type Resource = WithObjects<schema.ModuleResource>
export type OfferedResource = WithObjects<schema.OfferedResource>
type WithObjects<T extends { schema: unknown }> = Omit<T, 'object' | 'default' | 'schema'> & {
  [field in keyof T & ('object' | 'default')]: JsonObject | null
} & { schema: Schema | null }
