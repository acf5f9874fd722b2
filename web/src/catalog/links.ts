// Where the pages of an offer are: one name can be offered in several namespaces and by several sources.
import type { Offer } from '../api'

/** ofCluster chooses what the cluster itself offers, among sources. No source can have that name. */
export const ofCluster = '@cluster'

/** placeOf are the parameters that name the place of an offer. */
export function placeOf(offer: Pick<Offer, 'namespace' | 'source'>): Record<string, string> {
  if (offer.source) return { source: offer.source }
  return offer.namespace ? { namespace: offer.namespace } : {}
}

/** offerLink is the page of an offer. */
export function offerLink(offer: Offer): string {
  const where = new URLSearchParams(placeOf(offer)).toString()
  return `/catalog/${encodeURIComponent(offer.name)}${where && '?' + where}`
}

/** addLink is the wizard with this very offer. */
export function addLink(offer: Offer): string {
  return '/add?' + new URLSearchParams({ module: offer.name, ...placeOf(offer) }).toString()
}
