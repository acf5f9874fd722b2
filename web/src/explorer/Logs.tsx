// The log of a container: read once, or followed as one stream while it is looked at.
import type { Container, ObjectDetail } from '../api'
import { Button, Checkbox, NativeSelect } from '@mantine/core'
import { Download, RotateCw } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { logsAddress } from '../live/moduleQueries'
import { Empty, Notice } from '../parts/basics'
import { count, sentence } from '../words'
import { Copy } from './Copy'
import { harmless } from './harmless'
import { logsCommand } from './kubectl'
import { endWords } from './log'
import { sinces, tails, type ExplorerState } from './state'
import { useLog, type Log } from './useLog'
import { fill } from '../fill'
import { messages } from '../messages'

const sinceWords: Record<string, string> = {
  '': messages.logs.anyTime,
  '300': messages.logs.theLast5Minutes,
  '3600': messages.logs.theLastHour,
  '86400': messages.logs.theLastDay,
}

/** containerOf is the one that is shown: the one of the address, else the first that is not ready, else the first of the pod itself. */
export function containerOf(containers: Container[], asked: string): Container | undefined {
  const main = containers.filter((one) => one.kind === 'container')
  return containers.find((one) => one.name === asked) ?? main.find((one) => !one.ready) ?? main[0] ?? containers[0]
}

export function Logs({ detail, path, state }: { detail: ObjectDetail; path: string; state: ExplorerState }) {
  const one = containerOf(detail.containers ?? [], state.container)
  const { previous } = state
  const follow = state.follow && !previous
  const asked = {
    namespace: detail.ref.namespace,
    pod: detail.ref.name,
    container: one?.name,
    previous,
    tail: state.tail,
    since: state.since,
  }
  const address = one ? logsAddress(path, { ...asked, follow }) : null
  const log = useLog(address, follow)
  if (!one) return <Empty title={messages.logs.noContainers}>{messages.logs.noneNotKnownYet}</Empty>
  return (
    <div className="stack tight">
      <Choices containers={detail.containers ?? []} one={one} state={state} />
      <div className="row">
        <Button size="compact-sm" variant="default" onClick={log.again} leftSection={<RotateCw size={14} aria-hidden />}>
          {messages.common.readAgain}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          component="a"
          href={logsAddress(path, { ...asked, tail: '5000', download: true })}
          download
          leftSection={<Download size={14} aria-hidden />}
        >
          {messages.logs.download}
        </Button>
        <Copy text={logsCommand({ namespace: detail.ref.namespace ?? '', pod: detail.ref.name, container: one.name, previous, follow })}>
          {messages.logs.copyAsKubectl}
        </Copy>
      </div>
      <Lines log={log} follow={follow} times={state.times} name={one.name} />
    </div>
  )
}

const kinds = { init: messages.logs.init, sidecar: messages.logs.sidecar, container: '', ephemeral: messages.logs.ephemeral }

function Choices({ containers, one, state }: { containers: Container[]; one: Container; state: ExplorerState }) {
  const tick = (name: string) => (event: { currentTarget: { checked: boolean } }) =>
    state.set({ [name]: event.currentTarget.checked ? 'true' : undefined })
  return (
    <div className="row">
      <NativeSelect
        size="xs"
        aria-label={messages.logs.container}
        value={one.name}
        data={containers.map((c) => ({ value: c.name, label: harmless(c.name) + (kinds[c.kind] ?? '') }))}
        onChange={(event) => state.set({ container: event.currentTarget.value, previous: undefined })}
      />
      <NativeSelect
        size="xs"
        aria-label={messages.logs.lines}
        value={state.tail}
        data={tails.map((n) => ({ value: n, label: fill(messages.logs.lastLines, { n }) }))}
        onChange={(event) => state.set({ tail: event.currentTarget.value })}
      />
      <NativeSelect
        size="xs"
        aria-label={messages.common.since}
        value={state.since}
        data={sinces.map((n) => ({ value: n, label: sinceWords[n] ?? n }))}
        onChange={(event) => state.set({ since: event.currentTarget.value || undefined })}
      />
      <Checkbox
        size="xs"
        label={messages.logs.follow}
        checked={state.follow && !state.previous}
        disabled={state.previous}
        onChange={tick('follow')}
      />
      <Checkbox
        size="xs"
        label={messages.logs.beforeTheLastRestart}
        checked={state.previous}
        disabled={!one.previous && !state.previous}
        onChange={tick('previous')}
      />
      <Checkbox size="xs" label={messages.logs.times} checked={state.times} onChange={tick('times')} />
    </div>
  )
}

function Lines({ log, follow, times, name }: { log: Log; follow: boolean; times: boolean; name: string }) {
  const box = useRef<HTMLPreElement>(null)
  const atEnd = useRef(true)
  useEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [log.lines])
  if (log.error)
    return (
      <Notice tone="warn" title={messages.logs.theLogCannotBeRead}>
        <p>{sentence(harmless(log.error.message))}</p>
      </Notice>
    )
  const text = log.lines.map((line) => (times && line.at ? line.at + ' ' : '') + harmless(line.text)).join('\n')
  return (
    <>
      {log.dropped > 0 && (
        <p className="dim small flat">{fill(messages.logs.areNotShownAnyMore, { lines: count(log.dropped, messages.nouns.olderLine) })}</p>
      )}
      <pre
        ref={box}
        className="log"
        role="log"
        aria-live="off"
        aria-label={fill(messages.logs.logOf, { name: harmless(name) })}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keys
        tabIndex={0}
        onScroll={({ currentTarget: at }) => void (atEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 40)}
      >
        {text || (log.reading ? '' : messages.logs.nothingWasPrinted)}
      </pre>
      <p role="status" className="dim small flat">
        {log.reading ? (follow ? messages.logs.followingNewLinesShowUpHere : messages.logs.reading) : log.end ? endWords[log.end] : ''}
      </p>
    </>
  )
}
