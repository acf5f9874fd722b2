// The live query hook: useLive('/api/v1/modules') has the answer, and has the next one when it changes.
import { createContext, useCallback, useContext, useEffect, useRef, useSyncExternalStore } from 'react'
import { problemOf, type Query } from './http'
import type { Connection, Failure, Live, Result } from './live'

export const LiveContext = createContext<Live | null>(null)

export interface Answer<T> {
  /** data of the last good answer; with keep, of the query before until the new one is there. */
  data?: T
  error?: Failure
  loading: boolean
  /** stale says that data is not of this very moment. */
  stale: boolean
}

const nothing = () => () => undefined

function useConnectionOf(): Live {
  const live = useContext(LiveContext)
  if (!live) throw new Error('useLive needs a LiveContext')
  return live
}

/** useLive asks a query as long as the component is there. null asks nothing. */
export function useLive<T>(query: Query<T> | null, keep = false): Answer<T> {
  const live = useConnectionOf()
  const subscribe = useCallback((listen: () => void) => (query === null ? nothing() : live.subscribe(query, listen)), [live, query])
  const result = useSyncExternalStore(subscribe, () => (query === null ? undefined : live.result(query)))
  const last = useRef<Result | undefined>(undefined)
  useEffect(() => {
    if (result && result.status < 400) last.current = result
  }, [result])
  return answerOf<T>(result, keep ? last.current : undefined)
}

/** answerOf turns an answer, and the one before, into what a page shows. */
export function answerOf<T>(result: Result | undefined, before: Result | undefined): Answer<T> {
  if (!result) return { data: before?.body as T | undefined, loading: true, stale: before !== undefined }
  if (result.status >= 400) {
    return { error: { status: result.status, ...problemOf(result.status, result.body) }, loading: false, stale: result.stale }
  }
  return { data: result.body as T, loading: false, stale: result.stale }
}

/** useConnection says whether the page is live. */
export function useConnection(): { connection: Connection; retry: () => void } {
  const live = useConnectionOf()
  const connection = useSyncExternalStore(
    useCallback((listen) => live.watch(listen), [live]),
    () => live.connection,
  )
  return { connection, retry: () => live.retry() }
}
