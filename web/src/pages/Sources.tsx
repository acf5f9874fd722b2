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
import { fill, fillNodes } from '../fill'
import { messages } from '../messages'

export function Page() {
  const answer = useLive(query('/sources'))
  const [adding, setAdding] = useState(false)
  const close = useCallback(() => setAdding(false), [])
  return (
    <>
      <Header
        title={messages.common.sources}
        lead={messages.sources.listsCommunityModulesAddressesTrust}
        actions={
          <Action onClick={() => setAdding(true)} leftSection={<Plus size={17} aria-hidden />}>
            {messages.common.addASource}
          </Action>
        }
      />
      <FormModal opened={adding} close={close} title={messages.common.addASource} size="lg">
        <NewSource close={close} />
      </FormModal>
      <Loaded answer={answer}>{(list) => <Body list={list} />}</Loaded>
    </>
  )
}

const columns = [
  { key: 'name', label: messages.common.source },
  { key: 'modules', label: messages.common.modules },
  { key: 'trust', label: messages.sources.trust },
  { key: 'checked', label: messages.sources.lastRead },
  { key: 'action', label: messages.sources.readAgainOrRemove, hidden: true },
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
      <Table label={messages.common.sources} columns={columns}>
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
    <Empty icon={<Rss size={40} aria-hidden />} title={messages.sources.noSourcesYet}>
      {messages.sources.sourceFileOciArtifactDescriptions}
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
        {fill(messages.sources.readingName, { name: reading.name })}
      </span>
    )
  if (reading.error)
    return (
      <Notice tone="bad" title={fill(messages.sources.cannotBeRead, { name: reading.name })}>
        <p>{sentence(reading.error.message)}</p>
      </Notice>
    )
  return (
    <section className="stack tight" aria-label={fill(messages.sources.whatHoldsNow, { name: reading.name })}>
      <h2 className="flat">{fill(messages.sources.wasReadJustNow, { name: reading.name })}</h2>
      {reading.test && <Tested test={reading.test} />}
    </section>
  )
}

/** Since says since when the content of a source is known. A source is read whenever something is chosen from it. */
function Since({ source }: { source: Source }) {
  if (!source.checked) return <span className="dim">{messages.sources.never}</span>
  return (
    <span className={source.error ? 'dim' : undefined}>
      {source.error ? fillNodes(messages.sources.tried, { ago: <Ago at={source.checked} /> }) : <Ago at={source.checked} />}
      {source.error && source.read && <span className="small">{fillNodes(messages.sources.read, { ago: <Ago at={source.read} /> })}</span>}
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
        <div className="dim small mono anywhere">{source.url || messages.sources.inThisCluster}</div>
        {source.error && (
          <Notice tone="bad">
            <p>{sentence(source.error)}</p>
          </Notice>
        )}
      </td>
      <td data-label={messages.common.modules}>{source.checked ? source.modules : '–'}</td>
      <td data-label={messages.sources.trust}>
        {source.key ? (
          <Tag tone="strong" means={messages.sources.onlyKeySignedTaken}>
            {messages.common.byKey}
          </Tag>
        ) : source.digest ? (
          <Tag tone="strong" means={fill(messages.sources.onlyExactlyThisContentIsTaken, { digest: source.digest })}>
            {messages.common.byDigest}
          </Tag>
        ) : (
          <Tag tone="warn" means={messages.sources.whateverStandsAddressTaken}>
            {messages.common.addressOnly}
          </Tag>
        )}
      </td>
      <td data-label={messages.sources.lastRead}>
        <Since source={source} />
      </td>
      <td>
        <span className="row end">
          <Button size="compact-sm" variant="default" disabled={busy} onClick={read}>
            {messages.common.readAgain}
            <span className="hidden-text"> {source.name}</span>
          </Button>
          {source.kind !== 'cluster' && (
            <>
              <Action size="compact-sm" variant="light" to={`/add?source=${encodeURIComponent(source.name)}`}>
                {messages.common.chooseModules}
                <span className="hidden-text"> {fill(messages.sources.ofName, { name: source.name })}</span>
              </Action>
              <Button size="compact-sm" variant="default" onClick={remove}>
                {messages.sources.remove}
                <span className="hidden-text"> {source.name}</span>
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
      title={fill(messages.sources.removeName, { name: source.name })}
      verb={messages.sources.removeTheSource}
      text={source.name}
      close={close}
      act={() => remove('/sources/{name}', { name: source.name })}
    >
      <p className="flat">
        {n === 0
          ? messages.sources.noModuleStandsInIt
          : fill(messages.sources.noLongerAddedUpgradedHere, { modules: count(n, messages.nouns.module) })}
      </p>
    </TypedConfirm>
  )
}
