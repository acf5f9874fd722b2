// What can be done with a Kyma as a whole.
import { PackagePlus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { DeedModal } from '../deeds/DeedModal'
import { Action } from '../parts/basics'
import type { KymaDeed, KymaDetail } from '../api'
import { ConnectModal } from './ConnectModal'

const copied = 'It comes from a hub: do this on the hub.'
const unconnectable = 'You may not write Secrets in its namespace. Ask an administrator of the cluster for permission.'

export function KymaActions({ data, id, choose }: { data: KymaDetail; id: string; choose: () => void }) {
  const { kyma, access, suspended } = data
  const [deed, setDeed] = useState<KymaDeed | null>(null)
  const [connecting, setConnecting] = useState(false)
  const going = kyma.state === 'Deleting'
  const whyNot = kyma.copy ? copied : going ? 'It is being deleted.' : undefined
  return (
    <>
      <Action
        variant="default"
        allowed={access.delete && !kyma.copy}
        why={kyma.copy ? copied : undefined}
        leftSection={<Trash2 size={16} aria-hidden />}
        onClick={() => setDeed({ kind: 'deleteKyma', kyma: id })}
      >
        Delete
      </Action>
      <Action
        variant="default"
        allowed={access.edit && !whyNot}
        why={whyNot}
        onClick={() => setDeed({ kind: suspended ? 'resume' : 'suspend', kyma: id })}
      >
        {suspended ? 'Resume' : 'Suspend'}
      </Action>
      {!kyma.local && (
        <Action
          variant="default"
          allowed={Boolean(access.connect) && !whyNot}
          why={whyNot ?? unconnectable}
          onClick={() => setConnecting(true)}
        >
          Connect
        </Action>
      )}
      <Action variant="default" allowed={access.edit && !going} why={going ? whyNot : undefined} onClick={choose}>
        Change channel
      </Action>
      <Action
        to={`/add?kyma=${encodeURIComponent(id)}`}
        allowed={access.edit && !going}
        why={going ? whyNot : undefined}
        leftSection={<PackagePlus size={17} aria-hidden />}
      >
        Add modules
      </Action>
      <DeedModal
        title={titleOf(deed, kyma.name)}
        verb={verbOf(deed)}
        danger={deed?.kind === 'deleteKyma'}
        deed={deed}
        close={() => setDeed(null)}
      />
      <ConnectModal kyma={id} open={connecting} close={() => setConnecting(false)} />
    </>
  )
}

function titleOf(deed: KymaDeed | null, name: string): string {
  switch (deed?.kind) {
    case 'deleteKyma':
      return `Delete ${name} with all its modules?`
    case 'resume':
      return `Resume ${name}`
    default:
      return `Suspend ${name}? Its modules stay as they are.`
  }
}

function verbOf(deed: KymaDeed | null): string {
  if (deed?.kind === 'deleteKyma') return 'Delete the Kyma'
  return deed?.kind === 'resume' ? 'Resume' : 'Suspend'
}
