// What a user must see and say before something is done, as plain decisions.
import type { Change, Deed, Operation, Preview } from '../api'
import { post, Refusal } from '../live/http'
import { count, moduleText } from '../words'
import { fill, formOf } from '../fill'
import { messages } from '../messages'

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
  if (review.phase === 'asking') return messages.review.theServerIsStillTryingIt
  const refused = review.previews.find((preview) => preview.refused)?.refused
  if (refused) return refused
  const spoilt = review.previews.flatMap((preview) => preview.diff ?? []).filter((change) => change.change === 'Refused' || change.error)
  if (spoilt.length > 0) return fill(messages.review.clusterRefuses, { objects: count(spoilt.length, messages.nouns.object) })
  if (review.previews.length > 0 && review.previews.every((preview) => preview.way === 'Gone')) return messages.common.itIsGoneAlready
  const text = toType(review.previews)
  if (text && typed.trim() !== text) return fill(messages.review.typeToConfirm, { text })
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
  return fill(formOf(n, messages.review.wouldStayAs), { objects: count(n, messages.nouns.otherObject) })
}

/** takenText says where a module that is installed directly comes from. */
export function takenText(taken: NonNullable<Preview['templates']>[number]): string {
  const places = [
    taken.namespace && fill(messages.review.namespaceOfItsCluster, { namespace: taken.namespace }),
    taken.hub && fill(messages.review.namespaceOfTheHub, { hub: taken.hub }),
    taken.origin && fill(messages.review.theCatalog, { origin: taken.origin }),
  ].filter(Boolean)
  return fill(messages.review.comesFrom, {
    module: moduleText({ name: `${taken.module} ${taken.version}`, kyma: taken.kyma }),
    places: places.join(messages.review.andBeforeFrom) || messages.review.aPlaceThatHasNoName,
  })
}

/** wayText says which way a deed goes, and what happens to the module, for a user who does not know the ways. */
export function wayText(way: string | undefined, kind: Deed['kind']): string {
  switch (way) {
    case 'Kyma':
      return messages.review.throughTheKyma + viaKyma(kind)
    case 'Direct':
      if (kind === 'upgrade') return messages.review.directlyClusterDashboardWorkNext
      return messages.review.directlyClusterDashboardWorkNow
    case 'DirectConfirmed':
      return messages.review.directlyClusterWithoutLifecycleManager
    default:
      return ''
  }
}

/** viaKyma is what the lifecycle manager makes of a change of the Kyma. */
function viaKyma(kind: Deed['kind']): string {
  switch (kind) {
    case 'unmanage':
      return messages.review.lifecycleManagerStopsLookingAfter
    case 'delete':
      return messages.review.lifecycleManagerDeletesInstalled
    case 'channel':
    case 'upgrade':
    case 'back':
    case 'retry':
      return messages.review.theLifecycleManagerDoesTheWork
    case 'approve':
      return messages.review.lifecycleManagerInstallsExactlyContent
    case 'strategy':
      return messages.review.lifecycleManagerAsksNot
    default:
      return messages.review.lifecycleManagerWorkLooksAfter
  }
}
