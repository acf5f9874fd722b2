// What sources hold in the mock, beside what the cluster offers.
import type { Offer, OfferRow, SourceLine } from '../src/api'
import * as fixtures from './fixtures'
import { nothing } from './lists'
import type { World } from './state'

const described: Record<string, string> = {
  greeter: 'Greets everybody who comes by, in as many languages as there are words for it.',
  keda: 'Scales workloads by events: queues, schedules and metrics.',
  'docker-registry': 'A registry inside of the cluster, for images that need not leave it.',
}

/** held is what each source that can be read holds. */
function held(world: World, source: string): OfferRow[] {
  const of = (name: string, versions: string[], over: Partial<OfferRow> = {}): OfferRow => {
    const like = fixtures.offers[0] as Offer
    const made = versions.map((version) => ({ ...like.versions?.[0], version, channels: [], template: { name: `${name}-${version}` } }))
    return {
      name,
      type: 'community',
      source,
      channels: [],
      versions: made,
      repository: `https://example.com/${source}/${name}`,
      vouched: { state: 'Pinned', digest: 'sha256:0a1b2c3d' },
      ...over,
    }
  }
  const there = world.modules.find((m) => m.name === 'billing' && !m.kyma)
  const installed = there ? [{ version: there.version.installed, state: there.state }] : []
  return [
    of('billing', ['1.0.0', '0.9.0'], { description: 'Writes invoices for what your users use.', installed }),
    of('ledger', ['0.3.0'], { vouched: { state: 'Unsigned' } }),
  ]
}

/** linesOf are the sources beside the catalog, and how reading them went. */
export function linesOf(world: World): SourceLine[] {
  return world.sources
    .filter(({ kind }) => kind !== 'cluster')
    .map((source) => ({
      name: source.name,
      url: source.url,
      trust: source.key ? 'Key' : source.digest ? 'Digest' : 'Address',
      state: source.error ? 'Failed' : 'Read',
      read: source.read ?? source.checked,
      shown: !source.error,
      modules: typeof source.modules === 'number' ? source.modules : 2,
      error: source.error,
    }))
}

/** offersOf are the modules of the cluster and of all sources that can be read, by their names. */
export function offersOf(world: World): OfferRow[] {
  if (nothing(world)) return []
  const here: OfferRow[] = fixtures.offers.map((offer) => ({
    ...offer,
    description: described[offer.name],
    vouched: offer.versions?.[0] && fixtures.told(offer, offer.versions[0].version, 0).vouched,
  }))
  const there = linesOf(world)
    .filter(({ shown }) => shown)
    .flatMap(({ name }) => held(world, name))
  return [...here, ...there].sort((a, b) => a.name.localeCompare(b.name) || (a.source ?? '').localeCompare(b.source ?? ''))
}
