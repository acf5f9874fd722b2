// One log of a page. It is read while the page shows it and its tab is visible, and by one request: nothing is polled.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Refusal } from '../live/http'
import { nothingRead, readLog, taken, type Reading } from './log'
import { messages } from '../messages'

const visible = {
  subscribe(listen: () => void) {
    document.addEventListener('visibilitychange', listen)
    return () => document.removeEventListener('visibilitychange', listen)
  },
  now: () => !document.hidden,
}

export interface Log extends Reading {
  reading: boolean
  error?: Refusal
  again(): void
}

/** useLog reads a log; null reads none. A log that is followed is left when the tab is hidden, and read anew when it is shown again. */
export function useLog(address: string | null, follow: boolean): Log {
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<{ of: string; read: Reading; reading: boolean; error?: Refusal }>()
  const shown = useSyncExternalStore(visible.subscribe, visible.now)
  const active = !follow || shown
  const pending = useRef<Reading>(nothingRead)
  useEffect(() => {
    if (address === null || !active) return
    const stop = new AbortController()
    pending.current = nothingRead
    setState({ of: address, read: nothingRead, reading: true })
    let frame: ReturnType<typeof setTimeout> | undefined
    const show = (reading: boolean, error?: Refusal) => {
      clearTimeout(frame)
      frame = undefined
      if (!stop.signal.aborted) setState({ of: address, read: pending.current, reading, error })
    }
    readLog(address, stop.signal, (message) => {
      pending.current = taken(pending.current, message)
      frame ??= setTimeout(() => show(true), 100) // a container may print faster than a page can draw
    }).then(
      () => show(false),
      (error: unknown) => {
        const gone = new Refusal(0, { reason: 'Unreachable', message: messages.common.dashboardNotAnswerStillRunning })
        show(false, error instanceof Refusal ? error : gone)
      },
    )
    return () => {
      stop.abort()
      clearTimeout(frame)
    }
  }, [address, active, turn])
  const again = useCallback(() => setTurn((n) => n + 1), [])
  const current = state && state.of === address ? state : undefined
  return { ...(current?.read ?? nothingRead), reading: current?.reading ?? (address !== null && active), error: current?.error, again }
}
