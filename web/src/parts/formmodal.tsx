// A dialog with a form: it has the focus while it is open, and asks before Escape, a click outside or its cross discards what was typed.
import { Modal } from '@mantine/core'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Asks, lost, useDirty } from '../app/leaving'
import { messages } from '../messages'

interface Props {
  opened: boolean
  title: string
  size?: 'md' | 'lg' | 'xl'
  /** saved says that nothing of what was typed can be lost any more. */
  saved?: boolean
  close(): void
  children: ReactNode
}

export function FormModal({ opened, title, size = 'md', saved = false, close, children }: Props) {
  const [touched, setTouched] = useState(false)
  const [asking, setAsking] = useState(false)
  const last = useRef<HTMLElement>(null) // a click outside takes the focus away before the question is asked
  const dirty = opened && touched && !saved
  useDirty(dirty)
  useEffect(() => {
    if (opened) return
    setTouched(false)
    setAsking(false)
  }, [opened])
  return (
    <>
      <Modal opened={opened} onClose={() => (dirty ? setAsking(true) : close())} title={title} size={size} closeOnEscape={!asking}>
        <div role="presentation" onInput={() => setTouched(true)} onFocus={(event) => (last.current = event.target)}>
          {children}
        </div>
      </Modal>
      <Asks
        opened={opened && asking}
        title={messages.formmodal.discardWhatYouTyped}
        text={lost}
        verb={messages.formmodal.discard}
        returnFocus={false}
        stay={() => {
          setAsking(false)
          setTimeout(() => last.current?.focus()) // when the question is gone
        }}
        go={() => {
          setAsking(false)
          close()
        }}
      />
    </>
  )
}
