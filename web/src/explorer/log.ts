// A log that is read as one stream: lines of JSON, of which each has some lines of the log or says why there is no more.
import type { LogEnd, LogLine, LogMessage } from '../api'
import { problemOf, Refusal } from '../live/http'
import { messages } from '../messages'

/** mostLines is how many lines a page keeps: older ones are dropped, and that is told. */
export const mostLines = 5000

export interface Reading {
  lines: LogLine[]
  /** dropped counts the lines that were too many. */
  dropped: number
  end?: LogEnd
}

export const nothingRead: Reading = { lines: [], dropped: 0 }

/** taken is what was read, and one message more. */
export function taken(before: Reading, message: LogMessage, most = mostLines): Reading {
  const lines = [...before.lines, ...(message.lines ?? [])]
  const over = Math.max(0, lines.length - most)
  return { lines: over > 0 ? lines.slice(over) : lines, dropped: before.dropped + over, end: message.end ?? before.end }
}

/** messagesIn splits a text into messages; rest is a line that is not complete yet. What cannot be read is left out. */
export function messagesIn(text: string): { messages: LogMessage[]; rest: string } {
  const lines = text.split('\n')
  const rest = lines.pop() ?? ''
  const messages: LogMessage[] = []
  for (const line of lines) {
    if (line.trim() === '') continue
    try {
      const message = JSON.parse(line) as LogMessage | null
      if (message && typeof message === 'object') messages.push(message)
    } catch {
      // a line that was cut, as when the server went away
    }
  }
  return { messages, rest }
}

/** readLog reads a log until it ends or the signal says so. It throws a Refusal when there is none. */
export async function readLog(address: string, signal: AbortSignal, take: (message: LogMessage) => void): Promise<void> {
  const answer = await fetch(address, { credentials: 'same-origin', redirect: 'error', signal })
  if (!answer.ok || !answer.body) throw new Refusal(answer.status, problemOf(answer.status, await answer.text()))
  const reader = answer.body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let ended = false
  for (;;) {
    const { done, value } = await reader.read()
    const found = messagesIn(rest + (value ? decoder.decode(value, { stream: true }) : '') + (done ? '\n' : ''))
    rest = found.rest
    for (const message of found.messages) {
      ended ||= message.end !== undefined
      take(message)
    }
    if (done) break
  }
  if (!ended) take({ end: 'Broken' })
}

export const endWords: Record<LogEnd, string> = {
  Complete: '',
  Bytes: messages.log.morePrintedShownOnceDownload,
  Time: messages.log.logNotFollowedAnyLonger,
  Broken: messages.log.theConnectionToTheContainerEnded,
  Session: messages.log.theSessionHasEnded,
  Server: messages.log.theDashboardStops,
}
