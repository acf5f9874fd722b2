// The modules of a source, as offers: they are read when the source is chosen.
import { NativeSelect } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { List, Offer, SourceTest } from '../api'
import { query, type Refusal } from '../live/http'
import type { Failure } from '../live/live'
import { useLive, type Answer } from '../live/useLive'
import { contentOf, keyOf, useReadings } from './readings'

/** offersOf makes offers of what a source holds: community modules, the newest version first. */
export function offersOf(test: SourceTest, source: string): Offer[] {
  return (test.modules ?? []).map((m) => ({
    name: m.name,
    namespace: `source:${source}`,
    type: 'community',
    source,
    versions: (m.versions ?? []).map((version) => ({ version, template: { name: '' } })),
  }))
}

/** SourceSelect chooses where modules come from; it is not there while there is only one place. */
export function SourceSelect({ value, change }: { value: string; change: (name: string) => void }) {
  const answer = useLive(query('/sources'), true)
  const names = (answer.data?.items ?? []).filter((source) => source.kind !== 'cluster').map((source) => source.name)
  if (names.length === 0 && value === '') return null
  if (value !== '' && !names.includes(value)) names.push(value) // the one of the address may be gone: then one must get away from it
  const data = [{ value: '', label: 'The catalog of this cluster' }, ...names.map((name) => ({ value: name, label: `Source ${name}` }))]
  return <NativeSelect label="Modules from" value={value} data={data} maw={420} onChange={(event) => change(event.currentTarget.value)} />
}

/** goneSource is the answer of a source that an old address names. */
function goneSource(name: string): Failure {
  return { status: 404, reason: 'NotFound', message: `there is no source ${name} any more: choose another place above` }
}

/** useSourceOffers reads a source. */
export function useSourceOffers(name: string, words: string): Answer<List<Offer>> {
  const sources = useLive(query('/sources'), true)
  const source = sources.data?.items?.find((one) => one.name === name)
  const [test, setTest] = useState<SourceTest>()
  const [error, setError] = useState<Refusal>()
  const readings = useReadings()
  const key = source && keyOf(source)
  useEffect(() => {
    setTest(undefined)
    setError(undefined)
    if (!key) return
    let current = true
    readings.read(contentOf(key)).then(
      (found) => {
        if (current) setTest(found)
      },
      (refusal: Refusal) => {
        if (current) setError(refusal)
      },
    )
    return () => {
      current = false
    }
  }, [key, readings])
  if (error) return { error, loading: false, stale: false }
  if (sources.data && !sources.stale && !source) return { error: goneSource(name), loading: false, stale: false }
  if (!test) return { loading: true, stale: false, error: sources.error }
  const items = offersOf(test, name).filter((offer) => offer.name.includes(words.toLowerCase()))
  return { data: { items, total: items.length }, loading: false, stale: false }
}
