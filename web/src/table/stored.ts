// What the browser remembers for its user: how tables look, and saved views. It may store nothing, or something else: both is no error.

/** Keeper is what is needed of localStorage. */
export interface Keeper {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

/** Stored is one value, the same in all tabs. What cannot be stored is remembered until the page is loaded anew. */
export class Stored<T> {
  private readonly listeners = new Set<() => void>()
  private text?: string | null
  private value: T
  private kept = true
  private readonly key: string
  private readonly parse: (value: unknown) => T
  private readonly keeper: () => Keeper

  constructor(key: string, parse: (value: unknown) => T, keeper: () => Keeper = () => window.localStorage) {
    this.key = key
    this.parse = parse
    this.keeper = keeper
    this.value = parse(undefined)
  }

  readonly get = (): T => {
    if (!this.kept) return this.value
    const text = this.read()
    if (text !== this.text) {
      this.text = text
      this.value = this.parse(jsonOf(text))
    }
    return this.value
  }

  /** set says whether the value will be there after the page is loaded anew. */
  set(value: T): boolean {
    this.value = value
    try {
      this.text = JSON.stringify(value)
      this.keeper().setItem(this.key, this.text)
      this.kept = true
    } catch {
      this.kept = false
    }
    this.listeners.forEach((listen) => listen())
    return this.kept
  }

  readonly subscribe = (listen: () => void): (() => void) => {
    const changed = (event: StorageEvent) => {
      if (event.key === this.key || event.key === null) listen()
    }
    this.listeners.add(listen)
    window.addEventListener('storage', changed)
    return () => {
      this.listeners.delete(listen)
      window.removeEventListener('storage', changed)
    }
  }

  private read(): string | null {
    try {
      return this.keeper().getItem(this.key)
    } catch {
      return null
    }
  }
}

function jsonOf(text: string | null): unknown {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

/** entriesOf are the entries of an object, and nothing for anything else. */
export function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
}
