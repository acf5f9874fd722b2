// A question before something that cannot be undone: what it does, and a word to type.
import { Button, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { Refusal } from '../live/http'
import { sentence } from '../words'
import { Notice } from './basics'
import { FormModal } from './formmodal'
import { fillNodes } from '../fill'
import { messages } from '../messages'

interface Props {
  title: string
  verb: string
  text: string
  children: ReactNode
  act(): Promise<unknown>
  close(): void
}

export function TypedConfirm({ title, verb, text, children, act, close }: Props) {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Refusal>()
  const go = async () => {
    setBusy(true)
    try {
      await act()
      close()
    } catch (refusal) {
      setError(refusal as Refusal)
      setBusy(false)
    }
  }
  return (
    <FormModal opened close={close} title={title}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (typed.trim() === text) void go()
        }}
      >
        {children}
        <TextInput
          label={<>{fillNodes(messages.common.typeToConfirm, { text: <strong className="mono">{text}</strong> })}</>}
          value={typed}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {error && (
          <Notice tone="bad">
            <p>{sentence(error.message)}</p>
          </Notice>
        )}
        <div className="row">
          <Button type="submit" color="red.9" disabled={typed.trim() !== text} loading={busy}>
            {verb}
          </Button>
          <Button variant="default" onClick={close}>
            {messages.common.cancel}
          </Button>
        </div>
      </form>
    </FormModal>
  )
}
