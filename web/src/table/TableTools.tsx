// What one can do with a table: compact rows, columns, saved views, and a file of all rows.
import { Button, CloseButton, Popover, TextInput } from '@mantine/core'
import { Bookmark, Columns3, Download, Rows3 } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { Link, useLocation } from 'react-router'
import { ask } from '../live/http'
import { Notice } from '../parts/basics'
import type { Column } from '../parts/list'
import { count } from '../words'
import { allRows, type RowsPath } from './allRows'
import { csvOf, type Value } from './csv'
import { usePrefs } from './DataTable'
import { tablePrefs, visible, withColumn, withoutColumns, type Choosable } from './prefs'
import { useViews } from './useViews'
import { addressOf, longestName, mostViews, nameOf, savedViews, withoutView, withView } from './views'
import { fill } from '../fill'
import { messages } from '../messages'

/** Export is how a list becomes a file. */
export interface Export<T> {
  path: RowsPath
  parameters: Record<string, string | string[]>
  keyOf: (row: T) => string
  fields: [head: string, value: (row: T) => Value][]
}

interface ToolsProps<T> {
  name: string
  columns: (Column & Choosable)[]
  file: Export<T>
}

export function TableTools<T>({ name, columns, file }: ToolsProps<T>) {
  const prefs = usePrefs()
  return (
    <div className="row" role="group" aria-label={messages.tableTools.table}>
      <Button
        size="compact-sm"
        variant={prefs.dense ? 'filled' : 'default'}
        aria-pressed={prefs.dense}
        leftSection={<Rows3 size={15} aria-hidden />}
        onClick={() => tablePrefs.set({ ...prefs, dense: !prefs.dense })}
      >
        {messages.tableTools.compact}
      </Button>
      <Columns name={name} columns={columns} />
      <Views />
      <Save name={name} file={file} />
    </div>
  )
}

function Columns({ name, columns }: { name: string; columns: (Column & Choosable)[] }) {
  const prefs = usePrefs()
  const shown = new Set(visible(prefs, name, columns).map(({ key }) => key))
  return (
    <Popover position="bottom-start" trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button size="compact-sm" variant="default" leftSection={<Columns3 size={15} aria-hidden />}>
          {messages.tableTools.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <div className="stack tight" role="group" aria-label={messages.tableTools.columnsThatAreShown}>
          {columns.slice(1).map(({ key, label }) => (
            <label key={key} className="row check">
              <input
                type="checkbox"
                checked={shown.has(key)}
                onChange={(event) => tablePrefs.set(withColumn(prefs, name, key, event.currentTarget.checked))}
              />
              {label}
            </label>
          ))}
          <Button size="compact-sm" variant="light" onClick={() => tablePrefs.set(withoutColumns(prefs, name))}>
            {messages.tableTools.reset}
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}

function Views() {
  const views = useViews()
  const { pathname, search } = useLocation()
  const here = addressOf(pathname, search)
  const [opened, setOpened] = useState(false)
  return (
    <Popover position="bottom-start" width={300} trapFocus returnFocus shadow="md" opened={opened} onChange={setOpened}>
      <Popover.Target>
        <Button size="compact-sm" variant="default" leftSection={<Bookmark size={15} aria-hidden />} onClick={() => setOpened(!opened)}>
          {messages.tableTools.views}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <div className="stack tight">
          <Keep here={here} />
          {views.length > 0 && (
            <ul className="views" aria-label={messages.tableTools.savedViews}>
              {views.map(({ name, path }) => (
                <li key={name} className="row between nowrap-row">
                  <Link to={path} aria-current={path === here ? 'page' : undefined} onClick={() => setOpened(false)}>
                    {name}
                  </Link>
                  <CloseButton
                    size="sm"
                    aria-label={fill(messages.tableTools.forgetTheView, { name })}
                    onClick={() => savedViews.set(withoutView(views, name))}
                  />
                </li>
              ))}
            </ul>
          )}
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}

/** Keep gives the address of the page a name. */
function Keep({ here }: { here: string }) {
  const views = useViews()
  const [name, setName] = useState('')
  const [said, setSaid] = useState('')
  const keep = (event: FormEvent) => {
    event.preventDefault()
    const next = withView(views, name, here)
    if (!next)
      return setSaid(
        views.length >= mostViews ? fill(messages.tableTools.tooManyViews, { most: mostViews }) : messages.tableTools.thisCannotBeSaved,
      )
    setSaid(
      savedViews.set(next) ? fill(messages.tableTools.savedAs, { name: nameOf(name) }) : messages.tableTools.browserStoresNothingViewGone,
    )
    setName('')
  }
  return (
    <form onSubmit={keep} className="stack tight">
      <TextInput
        size="xs"
        label={messages.tableTools.saveWhatThisPageShowsAs}
        description={messages.tableTools.filtersAndOrderInThisBrowser}
        value={name}
        maxLength={longestName}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Button size="compact-sm" type="submit" disabled={nameOf(name) === ''}>
        {messages.tableTools.saveTheView}
      </Button>
      <p className="small flat" role="status">
        {said}
      </p>
    </form>
  )
}

function Save<T>({ name, file }: { name: string; file: Export<T> }) {
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState<{ text: string; bad: boolean }>()
  const save = async () => {
    setBusy(true)
    setSaid(undefined)
    try {
      const { rows, whole } = await allRows(file.path, file.parameters, file.keyOf, ask)
      const lines = rows.map((row) => file.fields.map(([, value]) => value(row)))
      download(
        `${name}.csv`,
        csvOf(
          file.fields.map(([head]) => head),
          lines,
        ),
      )
      const saved = fill(messages.tableTools.rowsSaved, { rows: count(rows.length, messages.nouns.row) })
      if (whole) setSaid({ text: saved + '.', bad: false })
      else setSaid({ text: fill(messages.tableTools.listChangedWhileReadSome, { saved }), bad: true })
    } catch (error) {
      setSaid({ text: error instanceof Error ? error.message : messages.tableTools.theRowsCouldNotBeRead, bad: true })
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        loading={busy}
        leftSection={<Download size={15} aria-hidden />}
        onClick={() => void save()}
      >
        {messages.tableTools.csv}
        <span className="hidden-text"> {messages.tableTools.ofAllRows}</span>
      </Button>
      {said?.bad ? (
        <Notice tone="warn">
          <p>{said.text}</p>
        </Notice>
      ) : (
        <span className="dim small" role="status">
          {said?.text}
        </span>
      )}
    </>
  )
}

/** download hands a file to the browser. */
function download(name: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
