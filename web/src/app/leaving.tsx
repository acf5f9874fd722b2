// Leaving a form with unsaved changes: the dashboard asks before another page is shown, and the browser before the tab is closed.
import { Button, Modal } from '@mantine/core'
import { createContext, useContext, useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { useBlocker } from 'react-router'
import { messages } from '../messages'

/** Unsaved are the forms with unsaved changes, by a name of each, with what becomes of the changes. */
type Unsaved = Map<string, string>

const UnsavedContext = createContext<Unsaved>(new Map())

/** lost is what becomes of changes that are kept nowhere. */
export const lost: string = messages.leaving.typedNotSavedDiscardedWhen
/** kept is what becomes of changes that are kept in memory, since they may hold secrets. */
export const kept: string = messages.leaving.typedNotSavedStaysUntil

/** useDirty says that a form has unsaved changes, and what becomes of them. */
export function useDirty(dirty: boolean, means = lost): void {
  const all = useContext(UnsavedContext)
  const id = useId()
  useEffect(() => {
    if (!dirty) return
    all.set(id, means)
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => {
      all.delete(id)
      window.removeEventListener('beforeunload', ask)
    }
  }, [all, id, dirty, means])
}

/** LeaveGuard asks before another page takes the place of one with unsaved changes. Tabs and filters of the same page are free. */
export function LeaveGuard({ children }: { children: ReactNode }) {
  const [all] = useState<Unsaved>(() => new Map())
  const blocker = useBlocker(
    ({ currentLocation: now, nextLocation: next }) => all.size > 0 && now.pathname !== next.pathname && !isBegun(next.state),
  )
  const means = useRef(lost)
  if (blocker.state === 'blocked') means.current = [...all.values()].includes(lost) ? lost : kept
  return (
    <UnsavedContext value={all}>
      {children}
      <Asks
        opened={blocker.state === 'blocked'}
        title={messages.leaving.leaveThisPage}
        text={means.current}
        verb={messages.leaving.leave}
        stay={() => blocker.reset?.()}
        go={() => blocker.proceed?.()}
      />
    </UnsavedContext>
  )
}

/** isBegun says that a page is shown since what was typed has begun: nothing is lost then. */
const isBegun = (state: unknown) => (state as { begun?: boolean } | null)?.begun === true

interface AsksProps {
  opened: boolean
  title: string
  text: string
  verb: string
  stay: () => void
  go: () => void
  /** returnFocus is false where the caller itself gives the focus back. */
  returnFocus?: boolean
}

/**
 * Asks is the question before unsaved changes are left. Escape stays: it is taken here, and not by the dialog, which would close by the
 * very key that opens it.
 */
export function Asks({ opened, title, text, verb, stay, go, returnFocus = true }: AsksProps) {
  return (
    <Modal
      opened={opened}
      onClose={stay}
      closeOnEscape={false}
      onKeyDown={(event) => event.key === 'Escape' && stay()}
      returnFocus={returnFocus}
      title={title}
      size="sm"
      zIndex={400}
    >
      <div className="stack">
        <p className="flat">{text}</p>
        <div className="row">
          <Button data-autofocus onClick={stay}>
            {messages.leaving.stay}
          </Button>
          <Button variant="default" onClick={go}>
            {verb}
          </Button>
        </div>
      </div>
    </Modal>
  )
}
