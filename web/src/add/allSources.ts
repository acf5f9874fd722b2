// What all sources hold now, and which modules that came from them could be newer: the cluster itself does not know.
import { useEffect, useState } from 'react'
import type { Module, Offer, Source, SourceTest } from '../api'
import { query, type Refusal } from '../live/http'
import type { Failure } from '../live/live'
import { useLive } from '../live/useLive'
import { newestAbove } from '../versions'
import { contentOf, keyOf, useReadings } from './readings'
import { offersOf } from './SourceOffers'

/** Shelf is a source, and the result of reading it. */
export interface Shelf {
  source: Source
  offers?: Offer[]
  error?: Refusal
}

/** Shelves are the sources that are kept; error says why they could not be listed. */
export interface Shelves {
  shelves: Shelf[]
  error?: Failure
}

interface Read {
  test?: SourceTest
  error?: Refusal
}

/** useShelves reads every source that is kept, or the one at an address; null reads none. */
export function useShelves(url: string | null = ''): Shelves {
  const list = useLive(url === null ? null : query('/sources', { limit: 200 }), true)
  const readings = useReadings()
  const [read, setRead] = useState<Record<string, Read>>({})
  const found = (list.data?.items ?? []).filter((one) => one.kind !== 'cluster' && (url === '' || one.url === url))
  const all = url === null ? [] : found
  const keys = JSON.stringify(all.map(keyOf))
  useEffect(() => {
    let current = true
    for (const key of JSON.parse(keys) as string[]) {
      const settle = (came: Read) => {
        if (current) setRead((before) => ({ ...before, [key]: came }))
      }
      readings.read(contentOf(key)).then(
        (test) => settle({ test }),
        (error: Refusal) => settle({ error }),
      )
    }
    return () => {
      current = false
    }
  }, [keys, readings])
  const shelves = all.map((source) => {
    const came = read[keyOf(source)]
    return { source, offers: came?.test && offersOf(came.test, source.name), error: came?.error }
  })
  return { shelves, error: url === null ? undefined : list.error }
}

/** newerOf is a module as it could be by the source that it came from; undefined when it is as new as that. */
export function newerOf(m: Module, shelves: Shelf[]): Module | undefined {
  if (m.kyma || !m.origin || m.version.outdated || m.state === 'Deleting') return undefined
  const offer = shelves.find(({ source }) => source.url === m.origin)?.offers?.find(({ name }) => name === m.name)
  const versions = (offer?.versions ?? []).map(({ version }) => version)
  const available = newestAbove(versions, m.version.installed ?? '')
  return available === '' ? undefined : { ...m, version: { ...m.version, available, outdated: true } }
}

/** useNewer are the directly installed modules whose sources hold a newer version, as far as their names have all words. */
export function useNewer(words: string): { modules: Module[]; kept: Shelves } {
  const installed = useLive(query('/modules', { type: 'community', search: words, limit: 200 }), true)
  const any = (installed.data?.items ?? []).some((m) => !m.kyma && m.origin)
  const kept = useShelves(any ? '' : null)
  return { modules: (installed.data?.items ?? []).flatMap((m) => newerOf(m, kept.shelves) ?? []), kept }
}
