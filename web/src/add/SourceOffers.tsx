// The modules of a source, as the wizard offers them: what the server read of it last.
import { NativeSelect } from '@mantine/core'
import type { OfferList, List, Offer, OfferRow } from '../api'
import { query } from '../live/http'
import type { Failure } from '../live/live'
import { useLive, type Answer } from '../live/useLive'
import { fill } from '../fill'
import { messages } from '../messages'

/** ofSource makes an offer of the wizard of what a source has: it is installed directly, whatever manages others of its name. */
export function ofSource(offer: OfferRow): OfferRow {
  return { ...offer, type: 'community', namespace: undefined, channels: [] }
}

/** SourceSelect chooses where modules come from; it is not there while there is only one place. */
export function SourceSelect({ value, change }: { value: string; change: (name: string) => void }) {
  const answer = useLive(query('/sources'), true)
  const names = (answer.data?.items ?? []).filter((source) => source.kind !== 'cluster').map((source) => source.name)
  if (names.length === 0 && value === '') return null
  if (value !== '' && !names.includes(value)) names.push(value) // the one of the address may be gone: then one must get away from it
  const data = [
    { value: '', label: messages.sourceOffers.theCatalogOfThisCluster },
    ...names.map((name) => ({ value: name, label: fill(messages.sourceOffers.sourceName, { name }) })),
  ]
  return (
    <NativeSelect
      label={messages.sourceOffers.modulesFrom}
      value={value}
      data={data}
      maw={420}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}

/** goneSource is the answer of a source that an old address names. */
function goneSource(name: string): Failure {
  return { status: 404, reason: 'NotFound', message: fill(messages.sourceOffers.noSourceAnyMoreChoose, { name }) }
}

/** shownOf is the answer of a source, of what the server says of the catalog. */
export function shownOf(name: string, answer: Answer<OfferList>): Answer<List<Offer>> {
  const { data, ...rest } = answer
  if (!data) return rest
  const source = (data.sources ?? []).find((one) => one.name === name)
  if (!source) return { error: goneSource(name), loading: false, stale: false }
  if (source.state === 'Reading') return { loading: true, stale: false }
  if (!source.shown) return { error: { status: 502, reason: 'Unreachable', message: source.error ?? '' }, loading: false, stale: false }
  return { ...rest, data: { ...data, items: (data.items ?? []).map(ofSource) } }
}

/** useSourceOffers are the modules of a source whose names or descriptions have all words; of no source without a name. */
export function useSourceOffers(name: string, words: string): Answer<List<Offer>> {
  const asked = query('/catalog', { source: name, search: words, limit: 60 })
  return shownOf(name, useLive(name ? asked : null, true))
}
