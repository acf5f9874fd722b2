// Everything by its name, without a mouse: pages, saved views, Kymas, modules, and the catalog.
import { TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Search } from 'lucide-react'
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { useNavigate } from 'react-router'
import type { KymaLine, Module, Offer } from '../api'
import { groups } from '../app/navigation'
import { offerLink } from '../catalog/links'
import { moduleLink } from '../deeds/Progress'
import { at, query, ask, type Refusal } from '../live/http'
import { useViews } from '../table/useViews'
import { count } from '../words'
import { rank, type Candidate, type Kind } from './rank'
import { fill } from '../fill'
import { messages } from '../messages'

const pages: Candidate[] = groups.flatMap((group) => group.links.map(([to, name]) => ({ kind: 'Page' as const, name, to })))

const kindWords: Record<Kind, string> = {
  Page: messages.palette.page,
  View: messages.palette.savedView,
  Kyma: messages.common.kyma,
  Module: messages.common.module,
  Catalog: messages.common.inTheCatalog,
}

/** asked is how many of each the server is asked for; the best of them are shown. */
const asked = 50

interface Found {
  text: string
  candidates: Candidate[]
  /** failed is why something could not be searched. */
  failed?: string
}

/** search asks for what has a text in it. What is not readable is told, and the rest is found. */
async function search(text: string): Promise<Found> {
  const lists = await Promise.allSettled([
    ask(query('/kymas', { search: text, limit: asked })),
    ask(query('/modules', { search: text, limit: asked })),
    ask(query('/catalog', { search: text, limit: asked })),
  ])
  const [kymas, modules, offers] = lists.map((list) => (list.status === 'fulfilled' ? (list.value.items ?? []) : [])) as [
    KymaLine[],
    Module[],
    Offer[],
  ]
  const refused = lists.find((list) => list.status === 'rejected')
  return {
    text,
    failed: refused && (refused.reason as Refusal).message,
    candidates: [
      ...kymas.map(({ namespace, name }) => ({ kind: 'Kyma' as const, name, detail: namespace, to: '/kymas' + at(namespace, name) })),
      ...modules.map(({ name, kyma }) => ({
        kind: 'Module' as const,
        name,
        detail: kyma ? fill(messages.common.inKyma, { kyma }) : messages.common.installedDirectlyWord,
        to: moduleLink(kyma, name),
      })),
      ...unique(offers.map((offer) => ({ kind: 'Catalog' as const, name: offer.name, detail: ofSource(offer), to: pageOf(offer) }))),
    ],
  }
}

/** ofSource says which source offers something; nothing for the cluster. */
const ofSource = ({ source }: Offer) => (source ? fill(messages.palette.ofSource, { source }) : undefined)

const pageOf = (offer: Offer) => (offer.source ? offerLink(offer) : '/catalog' + at(offer.name))

/** unique leaves one candidate for each address. */
const unique = (all: Candidate[]) => [...new Map(all.map((one) => [one.to, one])).values()]

/** useFound searches once its user stops typing; an answer to an earlier text is not shown. */
function useFound(text: string): Found | undefined {
  const [found, setFound] = useState<Found>()
  const [settled] = useDebouncedValue(text.trim(), 150)
  useEffect(() => {
    if (settled === '') return
    let current = true
    void search(settled).then((result) => {
      if (current) setFound(result)
    })
    return () => {
      current = false
    }
  }, [settled])
  return text.trim() === '' ? undefined : found
}

export function Page({ leave }: { leave: (chosen?: boolean) => void }) {
  const navigate = useNavigate()
  const views = useViews()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), []) // the dialog was there before this code
  const [text, setText] = useState('')
  const found = useFound(text)
  const options = useMemo(() => {
    const saved = views.map(({ name, path }) => ({ kind: 'View' as const, name, to: path }))
    const best = rank(text, unique([...pages, ...saved, ...(found?.candidates ?? [])]))
    const words = text.trim()
    const all = (what: string, path: string): Candidate => ({
      kind: 'Page',
      name: fill(messages.palette.allWith, { kind: what, words }),
      to: `${path}?search=${encodeURIComponent(words)}`,
    })
    return words === '' ? best : [...best, all('modules', '/modules'), all(messages.common.kymas, '/kymas')]
  }, [text, found, views])
  const [chosen, setChosen] = useState(0)
  const on = Math.min(chosen, options.length - 1)
  const id = useId()
  const go = (option: Candidate | undefined) => {
    if (!option) return
    leave(true)
    void navigate(option.to)
  }
  const pressed = (event: KeyboardEvent) => {
    const last = options.length - 1
    const next = { ArrowDown: on >= last ? 0 : on + 1, ArrowUp: on <= 0 ? last : on - 1 }[event.key]
    if (next !== undefined) setChosen(next)
    else if (event.key === 'Enter') go(options[on])
    else return
    event.preventDefault()
  }
  const searching = text.trim() !== '' && found?.text !== text.trim()
  return (
    <div className="stack tight">
      <TextInput
        ref={field}
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={options[on] ? `${id}-${on}` : undefined}
        aria-autocomplete="list"
        aria-label={messages.palette.searchPagesKymasModulesCatalog}
        placeholder={messages.palette.pagesKymasModulesCatalog}
        leftSection={<Search size={16} aria-hidden />}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={text}
        onKeyDown={pressed}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
      />
      <Options id={id} options={options} on={on} go={go} point={setChosen} />
      <p className="dim small flat" role="status">
        {searching ? messages.palette.searching : count(options.length, messages.nouns.result)}
        {found?.failed && ' ' + fill(messages.palette.notEverythingCouldBeSearched, { failed: found.failed })}
      </p>
    </div>
  )
}

interface OptionsProps {
  id: string
  options: Candidate[]
  on: number
  go: (option: Candidate) => void
  point: (index: number) => void
}

/** Options are chosen by the keys of the field, so that none of them takes the focus. */
function Options({ id, options, on, go, point }: OptionsProps) {
  useEffect(() => {
    document.getElementById(`${id}-${on}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, on])
  return (
    <div id={id} role="listbox" aria-label={messages.palette.results} className="palette">
      {options.map((option, i) => (
        // eslint-disable-next-line jsx-a11y/click-events-have-key-events -- the field has the keys
        <div
          key={option.to}
          id={`${id}-${i}`}
          role="option"
          tabIndex={-1}
          aria-selected={i === on}
          onMouseMove={() => point(i)}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => go(option)}
        >
          <span className="palette-name">
            <strong>{option.name}</strong> {option.detail && <span className="dim small">{option.detail}</span>}
          </span>{' '}
          <span className="dim small nowrap">{kindWords[option.kind]}</span>
        </div>
      ))}
    </div>
  )
}
