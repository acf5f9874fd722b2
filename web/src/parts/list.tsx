// What every list has: search, filters, columns to sort by, pages. All of it stands in the address, so that a list can be shared.
import { Button, CloseButton, Group, Pagination, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { ArrowDown, ArrowUp, ListEnd, Search as SearchIcon } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { useLocation, useSearchParams } from 'react-router'
import type { List } from '../api'
import { query, type AnswerTo, type Parameters, type Query } from '../live/http'
import { count } from '../words'
import { Empty } from './basics'
import { fill, type Noun } from '../fill'
import { messages } from '../messages'

export const pageSize = 50

export interface ListState {
  parameters: URLSearchParams
  page: number
  set(name: string, value: string | string[] | undefined): void
  toggle(name: string, value: string): void
  clear(): void
  /** filtered says that something other than sort and page narrows the list. */
  filtered: boolean
}

/** useListState is what the address says of a list. Every change but that of the page goes back to the first one. */
export function useListState(): ListState {
  const [parameters, change] = useSearchParams()
  const set = useCallback(
    (name: string, value: string | string[] | undefined) => {
      change((old) => withParameter(old, name, value), { replace: name === 'search' }) // a step back is one choice, not one letter
    },
    [change],
  )
  const toggle = useCallback(
    (name: string, value: string) => {
      change((old) => {
        const has = old.getAll(name)
        return withParameter(old, name, has.includes(value) ? has.filter((v) => v !== value) : [...has, value])
      })
    },
    [change],
  )
  return useMemo(
    () => ({
      parameters,
      page: Math.max(1, Number.parseInt(parameters.get('page') ?? '1', 10) || 1),
      set,
      toggle,
      clear: () => change({}),
      filtered: [...parameters.keys()].some((name) => !['sort', 'page', 'causes', 'step', 'operation'].includes(name)),
    }),
    [parameters, set, toggle, change],
  )
}

/** withParameter changes one parameter; any that is not about another part of the page goes back to the first page. */
export function withParameter(old: URLSearchParams, name: string, value: string | string[] | undefined): URLSearchParams {
  const next = new URLSearchParams(old)
  next.delete(name)
  if (!['page', 'tab', 'causes'].includes(name)) next.delete('page')
  for (const one of Array.isArray(value) ? value : [value]) if (one) next.append(name, one)
  return next
}

/** listQuery is the question that a list's state asks. */
export function listQuery<P extends ListPath>(
  path: P,
  state: ListState,
  names: readonly (keyof Parameters<P> & string)[],
  fixed: Record<string, string> = {},
): Query<AnswerTo<P>> {
  const page = { limit: pageSize, offset: (state.page - 1) * pageSize }
  const asked: Record<string, string | number | string[]> = { ...listParameters(state.parameters, names, fixed), ...page }
  return query(path, asked as Parameters<P>)
}

/** ListPath is the path of a list with pages; parameters that it names are fixed ones. */
export type ListPath = '/kymas' | '/modules' | '/catalog' | '/operations' | '/rollouts' | '/fleet' | HistoryPath
type HistoryPath = '/kymas/{ns}/{name}/history' | '/modules/{ns}/{kyma}/{name}/history'

/** listParameters are what an address says of a list, but for its page. */
export function listParameters(parameters: URLSearchParams, names: readonly string[], fixed: Record<string, string> = {}) {
  const asked: Record<string, string | string[]> = { ...fixed }
  for (const name of [...names, 'search', 'sort']) {
    const values = parameters.getAll(name)
    if (values.length > 0) asked[name] = values
  }
  return asked
}

/** useSearchText returns the field's text: the user's input, or the address's when that changes. */
function useSearchText(state: ListState): [string, (text: string) => void] {
  const there = state.parameters.get('search') ?? ''
  const [text, setText] = useState(there)
  const own = useRef<string[]>([]) // what this field wrote to the address, and has not seen there yet: typing continues meanwhile
  const say = useDebouncedCallback((value: string) => {
    if (value.trim() !== there) own.current.push(value.trim())
    state.set('search', value.trim() || undefined)
  }, 200)
  useEffect(() => {
    const at = own.current.indexOf(there)
    own.current = at < 0 ? [] : own.current.slice(at + 1)
    if (at >= 0) return
    say.cancel() // what was typed a moment ago would be written over it
    setText(there)
  }, [there, say])
  const change = (value: string) => {
    setText(value)
    say(value)
  }
  return [text, change]
}

/** Search is the field that / goes to. */
export function Search({ state, label }: { state: ListState; label: string }) {
  const [text, change] = useSearchText(state)
  const field = useRef<HTMLInputElement>(null)
  const wanted = (useLocation().state as { search?: boolean } | null)?.search
  useEffect(() => {
    if (wanted) field.current?.focus() // the user pressed / on a page without a search
  }, [wanted])
  return (
    <TextInput
      ref={field}
      type="search"
      data-search
      aria-label={label}
      placeholder={label}
      value={text}
      w={300}
      maw="100%"
      maxLength={200}
      leftSection={<SearchIcon size={16} aria-hidden />}
      rightSection={text && <CloseButton size="sm" aria-label={messages.common.clearTheSearch} onClick={() => change('')} />}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}

/** Filter is a group of words that can be switched on. */
export function Filter(props: { state: ListState; name: string; label: string; options: { value: string; label: string }[] }) {
  const on = props.state.parameters.getAll(props.name)
  return (
    <Group gap={6} role="group" className="filter" aria-label={props.label}>
      {props.options.map((option) => (
        <Button
          key={option.value}
          size="compact-sm"
          radius="xl"
          aria-pressed={on.includes(option.value)}
          variant={on.includes(option.value) ? 'filled' : 'default'}
          onClick={() => props.state.toggle(props.name, option.value)}
        >
          {option.label}
        </Button>
      ))}
    </Group>
  )
}

export interface Column {
  key: string
  label: string
  sort?: boolean
  hidden?: boolean
}

interface TableProps {
  label: string
  columns: Column[]
  state?: ListState
  /** sorted is the order without one in the address. */
  sorted?: string
  cards?: boolean
  dense?: boolean
  /** tall tables scroll below their head. */
  tall?: boolean
  /** busy: rows are still to come. */
  busy?: boolean
  children: ReactNode
}

/** Table is a table that one can sort, and that becomes cards on a narrow screen. */
export function Table(props: TableProps) {
  const classes = ['table', props.cards !== false && 'cards', props.dense && 'dense']
  return (
    <div className={'card table-wrap' + (props.tall ? ' tall' : '')}>
      <table className={classes.filter(Boolean).join(' ')} aria-busy={props.busy || undefined}>
        <caption className="hidden-text">{props.label}</caption>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <Head key={column.key} column={column} state={props.state} sorted={props.sorted} />
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  )
}

function Head({ column, state, sorted }: { column: Column; state?: ListState; sorted?: string }) {
  if (column.hidden)
    return (
      <th scope="col">
        <span className="hidden-text">{column.label}</span>
      </th>
    )
  if (!column.sort || !state) return <th scope="col">{column.label}</th>
  const sort = state.parameters.get('sort') ?? sorted ?? ''
  const up = sort === column.key
  const down = sort === '-' + column.key
  const next = up ? '-' + column.key : down ? undefined : column.key
  return (
    <th scope="col" aria-sort={up ? 'ascending' : down ? 'descending' : 'none'}>
      <button type="button" className="sort" onClick={() => state.set('sort', next)}>
        {column.label}
        {up && <ArrowUp size={13} aria-hidden />}
        {down && <ArrowDown size={13} aria-hidden />}
      </button>
    </th>
  )
}

/** beyondEnd says that there is a list, and nothing of it on this page: it has become shorter, or the address is made up. */
export function beyondEnd(list: List<unknown>): boolean {
  return (list.items ?? []).length === 0 && list.total > 0
}

/** BeyondEnd stands where one would read that there is nothing, on a page after the last one. */
export function BeyondEnd({ state }: { state: ListState }) {
  const back = () => {
    state.set('page', undefined)
    document.getElementById('main')?.focus() // this button disappears: its user continues at the top
  }
  return (
    <div className="card">
      <Empty
        icon={<ListEnd size={40} aria-hidden />}
        title={messages.list.theListEndsBeforeThisPage}
        action={
          <Button variant="light" onClick={back}>
            {messages.list.toTheFirstPage}
          </Button>
        }
      >
        {messages.list.becomeShorterNeverLong}
      </Empty>
    </div>
  )
}

/** Pages says how much there is, and continues. */
export function Pages({ state, total, noun }: { state: ListState; total: number; noun: Noun }) {
  const pages = Math.ceil(total / pageSize)
  const first = (state.page - 1) * pageSize + 1
  return (
    <div className="row between">
      <p className="dim small" role="status">
        {pages > 1
          ? fill(messages.list.range, { first, last: Math.min(total, first + pageSize - 1), rows: count(total, noun) })
          : count(total, noun)}
      </p>
      {pages > 1 && (
        <Pagination
          total={pages}
          value={Math.min(state.page, pages)}
          size="sm"
          onChange={(page) => state.set('page', page > 1 ? String(page) : undefined)}
          getControlProps={(control) => ({ 'aria-label': fill(messages.list.goToPage, { which: control }) })}
          getItemProps={(page) => ({ 'aria-label': fill(messages.list.page, { page }) })}
        />
      )}
    </div>
  )
}
