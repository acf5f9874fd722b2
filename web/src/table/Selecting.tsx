// The line above and below a list whose rows can be chosen: this page, all that match, how many are chosen.
import { Button, Checkbox } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { ask, type Refusal } from '../live/http'
import type { RowsPath } from './allRows'
import { count, sentence } from '../words'
import { firstRows } from './firstRows'
import { chosenText, leftText, mostChosen, withAll, without, type Chosen } from './selection'
import { fill, type Noun } from '../fill'
import { messages } from '../messages'

interface Props<T> {
  /** noun is what rows are called. */
  noun: Noun
  rows: T[]
  total: number
  chosen: Chosen<T>
  choose: (chosen: Chosen<T>) => void
  keyOf: (row: T) => string
  /** open says that a row can be chosen. */
  open: (row: T) => boolean
  /** all is the list that the rows are a page of. */
  all: { path: RowsPath; parameters: Record<string, string | string[]> }
}

/** SelectAll chooses all rows of the page that can be chosen, or all of every page. */
export function SelectAll<T>({ noun, rows, total, chosen, choose, keyOf, open, all }: Props<T>) {
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState('')
  const here = rows.filter(open)
  const every = here.length > 0 && here.every((row) => chosen.has(keyOf(row)))
  const add = (more: T[]) => {
    const filled = withAll(chosen, more, keyOf)
    choose(filled.chosen)
    setSaid(leftText(filled.left))
  }
  const everyPage = async () => {
    setBusy(true)
    setSaid('')
    try {
      add(await firstRows(all, open, mostChosen, ask))
    } catch (refusal) {
      setSaid(sentence((refusal as Refusal).message))
    }
    setBusy(false)
  }
  if (here.length === 0 && total <= rows.length) return null
  return (
    <div className="row" role="group" aria-label={messages.common.choose}>
      {here.length > 0 && (
        <Checkbox
          label={fill(messages.selecting.allPageChosen, { count: here.length })}
          checked={every}
          indeterminate={!every && here.some((row) => chosen.has(keyOf(row)))}
          onChange={() => (every ? choose(without(chosen, here, keyOf)) : add(here))}
        />
      )}
      {total > rows.length && (
        <Button size="compact-sm" variant="default" loading={busy} onClick={() => void everyPage()}>
          {fill(messages.selecting.chooseAllThatMatch, { rows: count(total, noun) })}
        </Button>
      )}
      <span className="small" role="status">
        {said}
      </span>
    </div>
  )
}

interface BarProps<T> {
  noun: Noun
  rows: T[]
  chosen: Chosen<T>
  choose: (chosen: Chosen<T>) => void
  keyOf: (row: T) => string
  /** empty is said while nothing is chosen. */
  empty: string
  children: ReactNode
}

/** SelectionBar says how many are chosen, and what can be done with them. */
export function SelectionBar<T>({ noun, rows, chosen, choose, keyOf, empty, children }: BarProps<T>) {
  const here = rows.filter((row) => chosen.has(keyOf(row))).length
  return (
    <div className="sticky row between">
      <span className="dim small" role="status">
        {chosenText(chosen.size, chosen.size - here, noun) || empty}
      </span>
      <div className="row">
        {chosen.size > 0 && (
          <Button variant="subtle" onClick={() => choose(new Map())}>
            {messages.selecting.chooseNone}
          </Button>
        )}
        {children}
      </div>
    </div>
  )
}
