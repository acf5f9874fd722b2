// Page 9: the lists that community modules come from: add, read again, remove.
import { Button, Loader } from '@mantine/core'
import { Plus, Rss } from 'lucide-react'
import { useCallback, useState } from 'react'
import type { List, Source, SourceTest } from '../api'
import { post, query, remove, type Refusal } from '../live/http'
import { useLive } from '../live/useLive'
import { NewSource, Tested } from './NewSource'
import { Action, Empty, Header, hidden, Notice, NotRead, Tag, Unseen } from '../parts/basics'
import { Ago } from '../parts/details'
import { FormModal } from '../parts/formmodal'
import { Table } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { TypedConfirm } from '../parts/confirm'
import { count, sentence } from '../words'

export function Page() {
  const answer = useLive(query('/sources'))
  const [adding, setAdding] = useState(false)
  const close = useCallback(() => setAdding(false), [])
  return (
    <>
      <Header
        title="Sources"
        lead="Lists of community modules at addresses that you trust. Choose from them what to add."
        actions={
          <Action onClick={() => setAdding(true)} leftSection={<Plus size={17} aria-hidden />}>
            Add a source
          </Action>
        }
      />
      <FormModal opened={adding} close={close} title="Add a source" size="lg">
        <NewSource close={close} />
      </FormModal>
      <Loaded answer={answer}>{(list) => <Body list={list} />}</Loaded>
    </>
  )
}

const columns = [
  { key: 'name', label: 'Source' },
  { key: 'modules', label: 'Modules' },
  { key: 'trust', label: 'Trust' },
  { key: 'checked', label: 'Last read' },
  { key: 'action', label: 'Read again or remove', hidden: true },
]


/** needed is where sources stand: a ConfigMap each, or the module templates of a namespace. */
const needed = ['ConfigMap', 'ModuleTemplate']

function Body({ list }: { list: List<Source> }) {
  const items = list.items ?? []
  const [going, setGoing] = useState<Source>()
  const { reading, read } = useReading()
  if (items.length === 0) {
    return (
      <>
        <NotRead unread={list.unread} />
        <div className="card">{hidden(list.unread, ...needed) ? <Unseen /> : <NoSource />}</div>
      </>
    )
  }
  return (
    <>
      <NotRead unread={list.unread} />
      {going && <Removal source={going} close={() => setGoing(undefined)} />}
      <div role="status" aria-live="polite">
        {reading && <Read reading={reading} />}
      </div>
      <Table label="Sources" columns={columns}>
        {items.map((source) => (
          <Row
            key={source.name}
            source={source}
            busy={reading?.name === source.name && reading.busy}
            read={() => void read(source.name)}
            remove={() => setGoing(source)}
          />
        ))}
      </Table>
    </>
  )
}

function NoSource() {
  return (
    <Empty icon={<Rss size={40} aria-hidden />} title="No sources yet">
      A source is a file or an OCI artifact with descriptions of modules, such as an all-modules.yaml. It is read by the dashboard, and
      tested before it is kept.
    </Empty>
  )
}

/** Reading is a source that is read again, and the result. */
interface Reading {
  name: string
  busy: boolean
  test?: SourceTest
  error?: Refusal
}

/** useReading reads sources again, one at a time. What is late and of another source than the last is left out. */
function useReading() {
  const [reading, setReading] = useState<Reading>()
  const read = async (name: string) => {
    const settle = (came: Partial<Reading>) => setReading((last) => (last?.name === name ? { name, busy: false, ...came } : last))
    setReading({ name, busy: true })
    try {
      settle({ test: await post('/sources/test', { name }, {}) })
    } catch (refusal) {
      settle({ error: refusal as Refusal })
    }
  }
  return { reading, read }
}

function Read({ reading }: { reading: Reading }) {
  if (reading.busy)
    return (
      <span className="row">
        <Loader size="xs" />
        Reading {reading.name}…
      </span>
    )
  if (reading.error)
    return (
      <Notice tone="bad" title={`${reading.name} cannot be read`}>
        <p>{sentence(reading.error.message)}</p>
      </Notice>
    )
  return (
    <section className="stack tight" aria-label={`What ${reading.name} holds now`}>
      <h2 className="flat">{reading.name} was read just now</h2>
      {reading.test && <Tested test={reading.test} />}
    </section>
  )
}

/** Since says since when the content of a source is known. A source is read whenever something is chosen from it. */
function Since({ source }: { source: Source }) {
  if (!source.checked) return <span className="dim">Never</span>
  return (
    <span className={source.error ? 'dim' : undefined}>
      {source.error && 'tried '}
      <Ago at={source.checked} />
      {source.error && source.read && (
        <span className="small">
          , read <Ago at={source.read} />
        </span>
      )}
    </span>
  )
}

interface RowProps {
  source: Source
  busy: boolean
  read: () => void
  remove: () => void
}

function Row({ source, busy, read, remove }: RowProps) {
  return (
    <tr>
      <td className="lead">
        <strong>{source.name}</strong>
        <div className="dim small mono anywhere">{source.url || 'in this cluster'}</div>
        {source.error && (
          <Notice tone="bad">
            <p>{sentence(source.error)}</p>
          </Notice>
        )}
      </td>
      <td data-label="Modules">
        {source.checked ? source.modules : '–'}
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
      <td data-label="Last read">
        <Since source={source} />
      </td>
      <td>
        <span className="row end">
          <Button size="compact-sm" variant="default" disabled={busy} onClick={read}>
            Read again<span className="hidden-text"> {source.name}</span>
          </Button>
          {source.kind !== 'cluster' && (
            <>
              <Action size="compact-sm" variant="light" to={`/add?source=${encodeURIComponent(source.name)}`}>
                Choose modules<span className="hidden-text"> of {source.name}</span>
              </Action>
              <Button size="compact-sm" variant="default" onClick={remove}>
                Remove<span className="hidden-text"> {source.name}</span>
              </Button>
            </>
          )}
        </span>
      </td>
    </tr>
  )
}

function Removal({ source, close }: { source: Source; close: () => void }) {
  const n = source.modules
  return (
    <TypedConfirm
      title={`Remove ${source.name}?`}
      verb="Remove the source"
      text={source.name}
      close={close}
      act={() => remove('/sources/{name}', { name: source.name })}
    >
      <p className="flat">
        {n === 0
          ? 'No module stands in it.'
          : count(n, 'module') + ' can then no longer be added or upgraded from here.'}
      </p>
    </TypedConfirm>
  )
}
