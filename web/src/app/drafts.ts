// What a user has chosen and not started yet. It outlives Back, Forward and other pages, and ends with the session. It may hold
// secrets, so that it is kept in memory alone.
import { createContext, useContext, useEffect } from 'react'

/** Drafts are kept by the name of what they are for. */
export class Drafts {
  private readonly all = new Map<string, unknown>()

  get<T>(name: string): T | undefined {
    return this.all.get(name) as T | undefined
  }

  /** keep remembers a draft; of too many the oldest is forgotten. */
  keep(name: string, draft: unknown): void {
    this.all.delete(name)
    this.all.set(name, draft)
    const [oldest] = this.all.keys()
    if (this.all.size > most && oldest !== undefined) this.all.delete(oldest)
  }

  forget(name: string): void {
    this.all.delete(name)
  }
}

const most = 20

export const DraftsContext = createContext(new Drafts())

/** useDrafts are the drafts of this session. */
export const useDrafts = () => useContext(DraftsContext)

/** useUnsaved lets the browser ask before a reload, or a closed tab, discards something. */
export function useUnsaved(unsaved: boolean) {
  useEffect(() => {
    if (!unsaved) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [unsaved])
}
