// Rows that are chosen across the pages of a list: they stay chosen while other pages, orders and filters are shown, and after a reload.
import { useCallback, useEffect, useState } from 'react'
import { useDrafts } from '../app/drafts'
import { count } from '../words'
import { fill, type Noun } from '../fill'
import { messages } from '../messages'

/** mostChosen is how many modules one operation takes; the server refuses more. */
export const mostChosen = 500

/** Chosen are rows by their keys, in the order in which they were chosen. */
export type Chosen<T> = ReadonlyMap<string, T>

/** flipped has a row if it had it not; a full selection takes no more. */
export function flipped<T>(chosen: Chosen<T>, key: string, row: T): Chosen<T> {
  const next = new Map(chosen)
  if (!next.delete(key) && next.size < mostChosen) next.set(key, row)
  return next
}

/** withAll has all of some rows, up to the bound; left says how many did not fit. What was chosen before stays. */
export function withAll<T>(chosen: Chosen<T>, rows: T[], keyOf: (row: T) => string): { chosen: Chosen<T>; left: number } {
  const next = new Map(chosen)
  let left = 0
  for (const row of rows) {
    const key = keyOf(row)
    if (next.has(key) || next.size < mostChosen) next.set(key, row)
    else left++
  }
  return { chosen: next, left }
}

/** without has none of some rows. */
export function without<T>(chosen: Chosen<T>, rows: T[], keyOf: (row: T) => string): Chosen<T> {
  const next = new Map(chosen)
  for (const row of rows) next.delete(keyOf(row))
  return next
}

/** leftText says in one sentence that something did not fit. */
export function leftText(left: number): string {
  return left === 0 ? '' : fill(messages.selection.mostAreChosen, { most: mostChosen })
}

/** chosenText says how many rows are chosen, and how many of them this page does not show. */
export function chosenText(all: number, elsewhere: number, noun: Noun): string {
  if (all === 0) return ''
  return (
    fill(messages.selection.chosen, { rows: count(all, noun) }) +
    (elsewhere > 0 ? fill(messages.selection.ofThemNotOnThisPage, { elsewhere }) : '')
  )
}

/** fromStored are rows that were stored, as far as they are what keyOf expects. */
export function fromStored<T>(stored: unknown, is: (row: unknown) => row is T, keyOf: (row: T) => string): Chosen<T> {
  const rows = Array.isArray(stored) ? stored.filter(is) : []
  return new Map(rows.slice(0, mostChosen).map((row) => [keyOf(row), row]))
}

/** useSelection is what was chosen of a list: a draft by name, of which plain may be stored. */
export function useSelection<T>(name: string, keyOf: (row: T) => string, plain: (row: T) => T, is: (row: unknown) => row is T) {
  const drafts = useDrafts()
  const [chosen, choose] = useState<Chosen<T>>(() => drafts.get<Chosen<T>>(name) ?? fromStored(drafts.stored(name), is, keyOf))
  useEffect(() => {
    if (chosen.size > 0) drafts.keep(name, chosen, [...chosen.values()].map(plain))
    else drafts.forget(name)
  }, [drafts, name, chosen, plain])
  const forget = useCallback(() => drafts.forget(name), [drafts, name])
  return { chosen, choose, forget }
}
