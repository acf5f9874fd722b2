// Page 9: the lists that community modules come from: add, test, remove.
import { Button } from '@mantine/core'
import { Plus, Rss } from 'lucide-react'
import { useState } from 'react'
import type { List, Source } from '../api'
import { at, query, send } from '../live/http'
import { useLive } from '../live/useLive'
import { NewSource } from './NewSource'
import { Action, Empty, Header, Notice, NotRead, Tag } from '../parts/basics'
import { Ago } from '../parts/details'
import { Table } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { TypedConfirm } from '../parts/confirm'
import { count, sentence } from '../words'

export function Page() {
  const answer = useLive<List<Source>>(query('/sources'))
  const [adding, setAdding] = useState(false)
  return (
    <>
      <Header
        title="Sources"
        lead="Lists of community modules at addresses that you trust. Choose from them what to add."
        actions={
          !adding && (
            <Action onClick={() => setAdding(true)} leftSection={<Plus size={17} aria-hidden />}>
              Add a source
            </Action>
          )
        }
      />
      {adding && <NewSource close={() => setAdding(false)} />}
      <Loaded answer={answer}>{(list) => <Body list={list} />}</Loaded>
    </>
  )
}

const columns = [
  { key: 'name', label: 'Source' },
  { key: 'modules', label: 'Modules' },
  { key: 'trust', label: 'Trust' },
  { key: 'checked', label: 'Read' },
  { key: 'action', label: 'Remove', hidden: true },
]

/** modulesOf are the names of a source's modules, and how many there are. */
export function modulesOf(source: Source): { n: number; names: string[] } {
  if (Array.isArray(source.modules)) return { n: source.modules.length, names: source.modules }
  return { n: source.modules ?? 0, names: [] }
}

function Body({ list }: { list: List<Source> }) {
  const items = list.items ?? []
  const [going, setGoing] = useState<Source>()
  if (items.length === 0) {
    return (
      <div className="card">
        <Empty icon={<Rss size={40} aria-hidden />} title="No sources yet">
          A source is a file or an OCI artifact with descriptions of modules, such as an all-modules.yaml. It is read by the dashboard,
          and tested before it is kept.
        </Empty>
      </div>
    )
  }
  return (
    <>
      <NotRead unread={list.unread} />
      {going && <Removal source={going} close={() => setGoing(undefined)} />}
      <Table label="Sources" columns={columns}>
        {items.map((source) => (
          <Row key={source.name} source={source} remove={() => setGoing(source)} />
        ))}
      </Table>
    </>
  )
}

function Row({ source, remove }: { source: Source; remove: () => void }) {
  const { n, names } = modulesOf(source)
  return (
    <tr>
      <td className="lead">
        <strong>{source.name}</strong>
        <div className="dim small mono">{source.url || 'in this cluster'}</div>
        {source.error && (
          <Notice tone="bad">
            <p>{sentence(source.error)}</p>
          </Notice>
        )}
      </td>
      <td data-label="Modules">
        <span title={names.join(', ')}>{n}</span>
      </td>
      <td data-label="Trust">
        {source.key ? (
          <Tag tone="strong" means="Only what this key signed is taken.">
            by key
          </Tag>
        ) : source.digest ? (
          <Tag tone="strong" means={`Only exactly this content is taken: ${source.digest}`}>
            by digest
          </Tag>
        ) : (
          <Tag tone="warn" means="Whatever stands at the address is taken.">
            address only
          </Tag>
        )}
      </td>
      <td data-label="Read">
        <Ago at={source.checked} />
      </td>
      <td>
        {source.kind !== 'cluster' && (
          <span className="row end">
            <Action size="compact-sm" variant="light" to={`/add?source=${encodeURIComponent(source.name)}`}>
              Choose modules<span className="hidden-text"> of {source.name}</span>
            </Action>
            <Button size="compact-sm" variant="default" onClick={remove}>
              Remove<span className="hidden-text"> {source.name}</span>
            </Button>
          </span>
        )}
      </td>
    </tr>
  )
}

function Removal({ source, close }: { source: Source; close: () => void }) {
  const { n, names } = modulesOf(source)
  return (
    <TypedConfirm
      title={`Remove ${source.name}?`}
      verb="Remove the source"
      text={source.name}
      close={close}
      act={() => send<undefined>('DELETE', '/api/v1/sources' + at(source.name))}
    >
      <p className="flat">
        {n === 0
          ? 'No module stands in it.'
          : count(n, 'module') + ' can then no longer be added or upgraded from here' + among(names) + '.'}
      </p>
    </TypedConfirm>
  )
}

function among(names: string[]): string {
  return names.length > 0 ? ': ' + names.slice(0, 12).join(', ') : ''
}
