// A deed in a dialog: first what it would do, then how it goes on.
import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import type { Deed } from '../api'
import { Progress } from './Progress'
import { ReviewPanel } from './ReviewPanel'

interface Props {
  title: string
  verb: string
  deed: Deed | null
  danger?: boolean
  close(): void
  started?: () => void
}

export function DeedModal({ title, verb, deed, danger, close, started }: Props) {
  return (
    <Modal opened={deed !== null} onClose={close} title={title} size="lg">
      {deed && <Inside key={JSON.stringify(deed)} verb={verb} deed={deed} danger={danger} close={close} started={started} />}
    </Modal>
  )
}

function Inside({ verb, deed, danger, close, started }: Omit<Props, 'deed' | 'title'> & { deed: Deed }) {
  const [ids, setIds] = useState<string[]>([])
  if (ids.length > 0) {
    return (
      <div className="stack">
        {ids.map((id) => (
          <Progress key={id} id={id} />
        ))}
        <p className="dim small">You may close this: it goes on, and is listed under Operations.</p>
        <div>
          <Button variant="default" onClick={close}>
            Close
          </Button>
        </div>
      </div>
    )
  }
  return (
    <ReviewPanel
      deeds={[deed]}
      verb={verb}
      danger={danger}
      started={(operations) => {
        setIds(operations.map((operation) => operation.id))
        started?.()
      }}
      back={
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
      }
    />
  )
}
