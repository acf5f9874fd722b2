// What a user must see and say before something is done, as plain decisions.
import type { Change, Deed, Operation, Preview } from '../api'
import { post, Refusal } from '../live/http'
import { count } from '../words'

/** Review is how far a user and the server are with some deeds. */
export interface Review {
  phase: 'asking' | 'asked' | 'starting' | 'started' | 'failed'
  previews: Preview[]
  operations: Operation[]
  error?: Refusal
}

export const asking: Review = { phase: 'asking', previews: [], operations: [] }

/** ask lets the server try all deeds without doing them. */
export async function ask(deeds: Deed[]): Promise<Review> {
  try {
    const previews = await Promise.all(deeds.map((deed) => post('/previews', deed, {})))
    return { phase: 'asked', previews, operations: [] }
  } catch (error) {
    return { ...asking, phase: 'failed', error: error as Refusal }
  }
}

/** start begins the deeds, one after the other; those that began stay begun when a later one is refused. */
export async function start(deeds: Deed[], previews: Preview[], typed: string): Promise<Review> {
  const operations: Operation[] = []
  try {
    for (const [i, deed] of deeds.entries()) {
      operations.push(await post('/operations', confirmed(deed, previews[i], typed), {}))
    }
    return { phase: 'started', previews, operations }
  } catch (error) {
    return { phase: operations.length > 0 ? 'started' : 'failed', previews, operations, error: error as Refusal }
  }
}

/** Refused is what did not begin although something else did: the first of the deeds was refused, the others were not tried. */
export interface Refused {
  deeds: Deed[]
  error: Refusal
}

/** refusedOf is what did not begin of some deeds. */
export function refusedOf(deeds: Deed[], after: Review): Refused | undefined {
  return after.error && { deeds: deeds.slice(after.operations.length), error: after.error }
}

/** confirmed adds what was typed to a deed that asked for it. */
export function confirmed(deed: Deed, preview: Preview | undefined, typed: string): Deed {
  return preview?.confirm ? { ...deed, confirmation: typed } : deed
}

/** toType is what must be typed first; empty: nothing. */
export function toType(previews: Preview[]): string {
  return previews.find((preview) => preview.confirm)?.confirm ?? ''
}

/** hindrance says why the deeds cannot be started; empty: they can. */
export function hindrance(review: Review, typed: string): string {
  if (review.phase === 'asking') return 'The server is still trying it.'
  const refused = review.previews.find((preview) => preview.refused)?.refused
  if (refused) return refused
  const spoilt = review.previews.flatMap((preview) => preview.diff ?? []).filter((change) => change.change === 'Refused' || change.error)
  if (spoilt.length > 0) return `The cluster refuses ${spoilt.length === 1 ? 'one object' : `${spoilt.length} objects`}: see below.`
  if (review.previews.length > 0 && review.previews.every((preview) => preview.way === 'Gone')) return 'It is gone already.'
  const text = toType(review.previews)
  if (text && typed.trim() !== text) return `Type ${text} to confirm.`
  return ''
}

export interface Sorted {
  changed: Change[]
  unchanged: number
}

/** sorted splits what changes from what stays: refused first, then deletions, then the rest. */
export function sorted(diff: Change[] | null | undefined): Sorted {
  const order = { Refused: 0, Delete: 1, Update: 2, Create: 3, Unchanged: 4 }
  const changed = (diff ?? []).filter((change) => change.change !== 'Unchanged' || change.error)
  changed.sort((a, b) => order[a.change] - order[b.change])
  return { changed, unchanged: (diff ?? []).length - changed.length }
}

/** staying says how many objects stay as they are. */
export function staying(n: number): string {
  return `${count(n, 'other object')} would stay as ${n === 1 ? 'it is' : 'they are'}.`
}

/** takenText says where a module that is installed directly comes from. */
export function takenText(taken: NonNullable<Preview['templates']>[number]): string {
  const places = [
    taken.namespace && `namespace ${taken.namespace} of its cluster`,
    taken.hub && `namespace ${taken.hub} of the hub`,
    taken.origin && `the catalog ${taken.origin}`,
  ].filter(Boolean)
  const where = taken.kyma ? ` in ${taken.kyma}` : ''
  return `${taken.module} ${taken.version}${where} comes from ${places.join(', and before from ') || 'a place that has no name'}.`
}

/** wayText says which way a deed goes, and what happens to the module, for a user who does not know the ways. */
export function wayText(way: string | undefined, kind: Deed['kind']): string {
  switch (way) {
    case 'Kyma':
      return 'Through the Kyma: ' + viaKyma(kind)
    case 'Direct':
      if (kind === 'upgrade') return 'Directly in the cluster: the dashboard does the work, and the next upgrade is yours to ask for, too.'
      return 'Directly in the cluster: the dashboard does the work now, and you upgrade it later.'
    case 'DirectConfirmed':
      return 'Directly in the cluster, without the lifecycle manager: you upgrade and repair it yourself.'
    default:
      return ''
  }
}

/** viaKyma is what the lifecycle manager makes of a change of the Kyma. */
function viaKyma(kind: Deed['kind']): string {
  switch (kind) {
    case 'unmanage':
      return 'the lifecycle manager stops looking after it. What runs stays.'
    case 'delete':
      return 'the lifecycle manager deletes what it installed.'
    case 'channel':
    case 'upgrade':
    case 'back':
    case 'retry':
      return 'the lifecycle manager does the work.'
    case 'approve':
      return 'the lifecycle manager installs exactly this content, and nothing else that is published under the same version.'
    case 'strategy':
      return 'the lifecycle manager asks from then on, or does not.'
    default:
      return 'the lifecycle manager does the work, and looks after it from then on.'
  }
}
