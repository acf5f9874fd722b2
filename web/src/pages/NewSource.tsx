// A new source: where it is, whether it can be read, and what stands in it.
import { Button, Loader, Textarea, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import type { SourceTest } from '../api'
import { post, type Refusal } from '../live/http'
import { Notice } from '../parts/basics'
import { count, sentence } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

interface SourceBody {
  name: string
  url: string
  digest: string
  key: string
}
type Set = (name: keyof SourceBody) => (event: { currentTarget: { value: string } }) => void

/** NewSource asks for a source, tests it, and keeps it. */
export function NewSource({ close }: { close: () => void }) {
  const [body, setBody] = useState<SourceBody>({ name: '', url: '', digest: '', key: '' })
  const [test, setTest] = useState<SourceTest>()
  const [error, setError] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const latest = useRef(body) // what the form holds by now: the result of another one says nothing about it
  const set: Set = (name) => (event) => {
    const { value } = event.currentTarget
    latest.current = { ...body, [name]: name === 'key' ? value : value.trim() }
    setBody(latest.current)
    if (!sameContent(latest.current, body)) setTest(undefined)
    setError(undefined)
  }
  const run = async (what: () => Promise<void>) => {
    setBusy(true)
    setError(undefined)
    await what().catch((refusal: Refusal) => {
      if (latest.current === body) setError(refusal)
    })
    setBusy(false)
  }
  const { url, digest, key } = body
  const look = () =>
    run(async () => {
      const found = await tested({ url, digest, key })
      if (!sameContent(latest.current, body)) return
      setTest(found.test)
      setError(found.error)
    })
  const keep = () => run(() => post('/sources', body, {}).then(close))
  const good = test && (test.problems ?? []).length === 0
  return (
    <form
      className="stack"
      aria-label={messages.newSource.newSource}
      onSubmit={(event) => {
        event.preventDefault()
        void (good ? keep() : look())
      }}
    >
      <TextInput
        label={messages.common.name}
        description={messages.newSource.howCatalogCallsSmallLetters}
        data-autofocus
        value={body.name}
        onChange={set('name')}
        required
        maw={420}
      />
      <TextInput
        label={messages.newSource.address}
        description={messages.newSource.addressMeans}
        value={url}
        onChange={set('url')}
        required
        maw={620}
        spellCheck={false}
      />
      <Trust body={body} set={set} />
      <div role="status" aria-live="polite">
        {busy && (
          <span className="row">
            <Loader size="xs" />
            {messages.newSource.readingIt}
          </span>
        )}
        {test && <Tested test={test} />}
      </div>
      {error && (
        <Notice tone="bad" title={messages.newSource.itCannotBeUsed}>
          <p>{sentence(error.message)}</p>
        </Notice>
      )}
      <div className="row">
        <Button type="submit" disabled={busy || !body.name || !url}>
          {good ? messages.newSource.keepThisSource : messages.newSource.testIt}
        </Button>
        {test && !good && (
          <Button variant="default" disabled={busy} onClick={() => void keep()}>
            {messages.newSource.keepItAnyway}
          </Button>
        )}
        <Button variant="default" onClick={close}>
          {messages.common.cancel}
        </Button>
      </div>
    </form>
  )
}

/** sameContent says that two mean the same content: what a test found does not depend on the name. */
function sameContent(a: SourceBody, b: SourceBody): boolean {
  return a.url === b.url && a.digest === b.digest && a.key === b.key
}

/** tested reads a source without keeping it. */
function tested(body: Omit<SourceBody, 'name'>): Promise<{ test?: SourceTest; error?: Refusal }> {
  return post('/sources/test', body, {}).then(
    (test) => ({ test }),
    (error: Refusal) => ({ error }),
  )
}

function Trust({ body, set }: { body: SourceBody; set: Set }) {
  return (
    <details>
      <summary>{messages.newSource.trustOnlyCertainContent}</summary>
      <div className="stack after-summary">
        <TextInput
          label={messages.newSource.digest}
          description={messages.newSource.sha256FileNothingElseEver}
          value={body.digest}
          onChange={set('digest')}
          maw={620}
          spellCheck={false}
        />
        <Textarea
          label={messages.newSource.publicKey}
          description={messages.newSource.pemOnlySignedTaken}
          value={body.key}
          autosize
          minRows={2}
          maxRows={8}
          maw={620}
          spellCheck={false}
          onChange={set('key')}
        />
      </div>
    </details>
  )
}

/** Tested is what reading a source gave. */
export function Tested({ test }: { test: SourceTest }) {
  const modules = test.modules ?? []
  const problems = test.problems ?? []
  return (
    <div className="stack tight">
      <Notice
        tone={problems.length > 0 ? 'warn' : 'ok'}
        title={fill(messages.newSource.modulesFound, { modules: count(modules.length, messages.nouns.module) })}
      >
        {modules.length > 0 && (
          <p>
            {modules
              .slice(0, 20)
              .map((m) => `${m.name} (${(m.versions ?? []).join(', ')})${m.new ? ', new' : ''}`)
              .join('; ')}
          </p>
        )}
        <p className="mono small">{test.digest}</p>
      </Notice>
      {problems.length > 0 && (
        <Notice tone="warn" title={fill(messages.newSource.problemsInIt, { problems: count(problems.length, messages.nouns.problem) })}>
          <ul>
            {problems.slice(0, 10).map((p, i) => (
              <li key={i}>
                <strong>{p.where}</strong>: {sentence(p.message)} <span className="mono">({p.rule})</span>
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </div>
  )
}
