// The queries about one module: of a Kyma, which id names as NAMESPACE/NAME, or without one.
import type { ModuleDetail, ObjectDetail, ObjectTree, OfferedResource, Resource, Review } from '../api'
import { query, search, type Query } from './http'
import type { Value } from './paths'

const placeOf = (id: string) => {
  const [ns = '', kyma = ''] = id.split('/')
  return { ns, kyma }
}

export const moduleQuery = (id: string, name: string): Query<ModuleDetail> =>
  id ? query('/modules/{ns}/{kyma}/{name}', { ...placeOf(id), name }) : query('/direct/{name}', { name })

/** resourceQuery is about its configuration. */
export const resourceQuery = (id: string, name: string) =>
  (id
    ? query('/modules/{ns}/{kyma}/{name}/resource', { ...placeOf(id), name })
    : query('/direct/{name}/resource', { name })) as Query<Resource>

/** reviewQuery is about what a version of it may do and changes. */
export const reviewQuery = (id: string, name: string, version: string): Query<Review> =>
  id
    ? query('/modules/{ns}/{kyma}/{name}/review', { ...placeOf(id), name, version })
    : query('/direct/{name}/review', { name, version })

/** offeredResourceQuery is about the configuration of a version that can be had. */
export const offeredResourceQuery = (name: string, where: { version?: string; namespace?: string; source?: string; kyma?: string }) =>
  query('/catalog/{name}/resource', { name, ...where }) as Query<OfferedResource>

// What follows takes the path of a module below /api/v1: an object and a pod have names of their own, beside that of the module.

export const treeQuery = (path: string) => ('/api/v1' + path + '/tree') as Query<ObjectTree>

/** objectQuery is about one object in the cluster of the module. */
export const objectQuery = (path: string, asked: Record<string, Value>) =>
  ('/api/v1' + path + '/object' + search(asked)) as Query<ObjectDetail>

/** logsAddress is that of the log of a container: lines of JSON, or a text to download. */
export const logsAddress = (path: string, asked: Record<string, Value>) => '/api/v1' + path + '/logs' + search(asked)
