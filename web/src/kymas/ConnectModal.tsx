// The dialog that gives a Kyma access to its cluster.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { DeedModal } from '../deeds/DeedModal'
import { Kubeconfig } from './Kubeconfig'
import { fill } from '../fill'
import { messages } from '../messages'

export function ConnectModal({ kyma, open, close }: { kyma: string; open: boolean; close: () => void }) {
  const [text, setText] = useState('')
  const [sure, setSure] = useState(false)
  const end = () => {
    setText('') // nothing of it stays in the page
    setSure(false)
    close()
  }
  const ask = (
    <section className="stack" aria-label={messages.connectModal.connectTheKyma}>
      <p className="dim flat">{messages.connectModal.clusterCalledBeforeAnythingStored}</p>
      <Kubeconfig value={text} set={setText} />
      <div className="row">
        <Button disabled={text.trim() === ''} onClick={() => setSure(true)}>
          {messages.common.seeWhatWouldChange}
        </Button>
        <Button variant="default" onClick={end}>
          {messages.common.cancel}
        </Button>
      </div>
    </section>
  )
  return (
    <DeedModal
      title={fill(messages.connectModal.connectKyma, { kyma })}
      verb={messages.common.connect}
      deed={open && sure ? { kind: 'connect', kyma, kubeconfig: text } : null}
      ask={open && ask}
      close={end}
    />
  )
}
