// The dialog that gives a Kyma access to its cluster.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { DeedModal } from '../deeds/DeedModal'
import { Kubeconfig } from './Kubeconfig'

export function ConnectModal({ kyma, open, close }: { kyma: string; open: boolean; close: () => void }) {
  const [text, setText] = useState('')
  const [sure, setSure] = useState(false)
  const end = () => {
    setText('') // nothing of it stays in the page
    setSure(false)
    close()
  }
  const ask = (
    <section className="stack" aria-label="Connect the Kyma">
      <p className="dim flat">The cluster is called before anything is stored. It must be the one that the Kyma has, if it has one.</p>
      <Kubeconfig value={text} set={setText} />
      <div className="row">
        <Button disabled={text.trim() === ''} onClick={() => setSure(true)}>
          See what would change
        </Button>
        <Button variant="default" onClick={end}>
          Cancel
        </Button>
      </div>
    </section>
  )
  return (
    <DeedModal
      title={`Connect ${kyma}`}
      verb="Connect"
      deed={open && sure ? { kind: 'connect', kyma, kubeconfig: text } : null}
      ask={open && ask}
      close={end}
    />
  )
}
