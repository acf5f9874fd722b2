// What a user has chosen and not started yet. It outlives Back, Forward, other pages and a reload, and ends with the session. What may hold
// secrets is kept in memory alone; only what its owner calls plain is stored, in this tab.
import { createContext, useContext } from 'react'

/** Tab is the storage of a tab; a browser may have none. */
export type Tab = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const place = 'kyma-drafts'
const most = 20
/** mostText bounds what is stored, in characters: a tab has some MiB for everything. */
const mostText = 400_000

interface Stored {
  user: string
  drafts: Record<string, unknown>
}

/** tabStorage is that of this tab, if the browser lets it be used. */
export function tabStorage(): Tab | undefined {
  try {
    return window.sessionStorage
  } catch {
    return undefined
  }
}

/** forgetStored removes what is stored of drafts: who logs out leaves nothing behind. */
export function forgetStored(tab: Tab | undefined = tabStorage()): void {
  try {
    tab?.removeItem(place)
  } catch {
    // then there is nothing either
  }
}

/** Drafts are kept by the name of what they are for. */
export class Drafts {
  private readonly all = new Map<string, unknown>()
  private readonly plain: Map<string, unknown>
  private readonly user: string
  private readonly tab: Tab | undefined

  /** Drafts of a user; those that another one left in the tab are not taken over. */
  constructor(user = '', tab: Tab | undefined = undefined) {
    this.user = user
    this.tab = tab
    this.plain = new Map(Object.entries(read(tab, user)))
  }

  get<T>(name: string): T | undefined {
    return this.all.get(name) as T | undefined
  }

  /** stored is what was stored of a draft before a reload. It may be anything: its owner checks it. */
  stored(name: string): unknown {
    return this.plain.get(name)
  }

  /** keep remembers a draft; of too many the oldest is forgotten. plain is what of it may be stored. */
  keep(name: string, draft: unknown, plain?: unknown): void {
    put(this.all, name, draft)
    if (plain === undefined) this.plain.delete(name)
    else put(this.plain, name, plain)
    this.write()
  }

  forget(name: string): void {
    this.all.delete(name)
    if (this.plain.delete(name)) this.write()
  }

  private write(): void {
    try {
      const text = JSON.stringify({ user: this.user, drafts: Object.fromEntries(this.plain) } satisfies Stored)
      if (text.length <= mostText) this.tab?.setItem(place, text)
      else this.tab?.removeItem(place) // part of it would be taken for the whole
    } catch {
      // a browser that stores nothing keeps drafts until the next reload
    }
  }
}

function put(all: Map<string, unknown>, name: string, draft: unknown): void {
  all.delete(name)
  all.set(name, draft)
  const [oldest] = all.keys()
  if (all.size > most && oldest !== undefined) all.delete(oldest)
}

function read(tab: Tab | undefined, user: string): Record<string, unknown> {
  try {
    const found = JSON.parse(tab?.getItem(place) ?? 'null') as Partial<Stored> | null
    return found?.user === user && typeof found.drafts === 'object' && found.drafts !== null ? found.drafts : {}
  } catch {
    return {}
  }
}

export const DraftsContext = createContext(new Drafts())

/** useDrafts are the drafts of this session. */
export const useDrafts = () => useContext(DraftsContext)
