// The queries about one module: of a Kyma, which id names as NAMESPACE/NAME, or without one.
import type { ModuleDetail, OfferedResource, Resource, Review } from '../api'
import { query, type Query } from './http'

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
export const offeredResourceQuery = (name: string, where: { version?: string; namespace?: string; kyma?: string }) =>
  query('/catalog/{name}/resource', { name, ...where }) as Query<OfferedResource>
