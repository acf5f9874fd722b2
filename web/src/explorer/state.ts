// What of the explorer stands in the address: so that reload and Back work, and an address can be sent.
import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'react-router'

export type View = 'tree' | 'graph'
export type Panel = 'summary' | 'yaml' | 'logs'
export type Side = 'live' | 'wanted' | 'difference'

export interface ExplorerState {
  view: View
  /** object is the id of the object whose panel is open, '' for none; version is that of its kind. */
  object: string
  version: string
  panel: Panel
  side: Side
  managed: boolean
  container: string
  previous: boolean
  follow: boolean
  tail: string
  since: string
  times: boolean
  text: string
  kind: string
  state: string
  /** set changes parameters; each choice is one step back, but for letters that are typed. */
  set(changes: Record<string, string | undefined>, replace?: boolean): void
}

/** names are the parameters that say something of the open object. */
const ofObject = ['object', 'version', 'panel', 'side', 'managed', 'container', 'previous', 'follow', 'tail', 'since', 'times']

const oneOf = <T extends string>(value: string | null, all: readonly T[]): T => all.find((one) => one === value) ?? (all[0] as T)

/** tails are how many lines of a log are read, sinces how many seconds back; the first is the usual one. */
export const tails = ['500', '100', '2000', '5000'] as const
export const sinces = ['', '300', '3600', '86400'] as const

/** changed is an address with other parameters. Another object begins with its summary. */
export function changed(old: URLSearchParams, changes: Record<string, string | undefined>): URLSearchParams {
  const next = new URLSearchParams(old)
  if ('object' in changes && changes['object'] !== (old.get('object') ?? undefined)) for (const name of ofObject) next.delete(name)
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value)
    else next.delete(name)
  }
  return next
}

export function useExplorerState(): ExplorerState {
  const [parameters, change] = useSearchParams()
  const set = useCallback(
    (changes: Record<string, string | undefined>, replace = false) => change((old) => changed(old, changes), { replace }),
    [change],
  )
  return useMemo(() => {
    const is = (name: string) => parameters.get(name) === 'true'
    return {
      view: oneOf(parameters.get('view'), ['tree', 'graph'] as const),
      object: parameters.get('object') ?? '',
      version: parameters.get('version') ?? '',
      panel: oneOf(parameters.get('panel'), ['summary', 'yaml', 'logs'] as const),
      side: oneOf(parameters.get('side'), ['live', 'wanted', 'difference'] as const),
      managed: is('managed'),
      container: parameters.get('container') ?? '',
      previous: is('previous'),
      follow: is('follow'),
      tail: oneOf(parameters.get('tail'), tails),
      since: oneOf(parameters.get('since'), sinces),
      times: is('times'),
      text: parameters.get('find') ?? '',
      kind: parameters.get('kind') ?? '',
      state: parameters.get('state') ?? '',
      set,
    }
  }, [parameters, set])
}

