// What reading a source gave, kept for a few minutes: a page that is opened again does not fetch every source from the network again.
import { createContext, useContext } from 'react'
import type { Source, SourceTest } from '../api'
import { post } from '../live/http'

/** lasts is how long, in ms, a reading counts. Sources change rarely, and the Sources page reads one again at any time. */
const lasts = 5 * 60_000

interface Reading {
  at: number
  test: Promise<SourceTest>
}

/** Content is what a reading depends on: a source that is kept again with another address, digest or key is read again. */
export type Content = Pick<Source, 'name' | 'url' | 'digest' | 'key'>

/** keyOf is a text that two sources share if their content is the same. */
export const keyOf = ({ name, url, digest, key }: Content) => JSON.stringify([name, url, digest ?? '', key ?? ''])

/** contentOf reads a key. */
export function contentOf(of: string): Content {
  const [name = '', url = '', digest, key] = JSON.parse(of) as string[]
  return { name, url, digest, key }
}

/** Readings holds the readings of this session by source. A reading that failed is not kept: the next page tries again. */
export class Readings {
  private readonly all = new Map<string, Reading>()

  /** read returns the reading of a source that is kept. */
  read(source: Content, now = Date.now()): Promise<SourceTest> {
    const { name } = source
    const key = keyOf(source)
    const kept = this.all.get(key)
    if (kept && now - kept.at < lasts) return kept.test
    this.forget(name)
    const test = post('/sources/test', { name }, {})
    this.all.set(key, { at: now, test })
    test.catch(() => {
      if (this.all.get(key)?.test === test) this.all.delete(key)
    })
    return test
  }

  /** forget drops the readings of a source. */
  forget(name: string): void {
    for (const key of this.all.keys()) if (contentOf(key).name === name) this.all.delete(key)
  }
}

export const ReadingsContext = createContext(new Readings())

/** useReadings are the readings of this session. */
export const useReadings = () => useContext(ReadingsContext)
