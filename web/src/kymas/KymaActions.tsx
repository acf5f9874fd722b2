// What can be done with a Kyma as a whole.
import { PackagePlus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { DeedModal } from '../deeds/DeedModal'
import { Action } from '../parts/basics'
import type { KymaDeed, KymaDetail } from '../api'
import { ConnectModal } from './ConnectModal'
import { fill } from '../fill'
import { messages } from '../messages'

const copied = messages.kymaActions.comesHubHub
const unconnectable = messages.kymaActions.notWriteSecretsNamespaceAsk

export function KymaActions({ data, id, choose }: { data: KymaDetail; id: string; choose: () => void }) {
  const { kyma, access, suspended } = data
  const [deed, setDeed] = useState<KymaDeed | null>(null)
  const [connecting, setConnecting] = useState(false)
  const going = kyma.state === 'Deleting'
  const whyNot = kyma.copy ? copied : going ? messages.kymaActions.itIsBeingDeleted : undefined
  return (
    <>
      <Action
        variant="default"
        allowed={access.delete && !kyma.copy}
        why={kyma.copy ? copied : undefined}
        leftSection={<Trash2 size={16} aria-hidden />}
        onClick={() => setDeed({ kind: 'deleteKyma', kyma: id })}
      >
        {messages.common.delete}
      </Action>
      <Action
        variant="default"
        allowed={access.edit && !whyNot}
        why={whyNot}
        onClick={() => setDeed({ kind: suspended ? 'resume' : 'suspend', kyma: id })}
      >
        {suspended ? messages.common.resume : messages.kymaActions.suspend}
      </Action>
      {!kyma.local && (
        <Action
          variant="default"
          allowed={Boolean(access.connect) && !whyNot}
          why={whyNot ?? unconnectable}
          onClick={() => setConnecting(true)}
        >
          {messages.common.connect}
        </Action>
      )}
      <Action variant="default" allowed={access.edit && !going} why={going ? whyNot : undefined} onClick={choose}>
        {messages.kymaActions.changeChannel}
      </Action>
      <Action
        to={`/add?kyma=${encodeURIComponent(id)}`}
        allowed={access.edit && !going}
        why={going ? whyNot : undefined}
        leftSection={<PackagePlus size={17} aria-hidden />}
      >
        {messages.common.addModules}
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
      return fill(messages.kymaActions.deleteWithAllItsModules, { name })
    case 'resume':
      return fill(messages.kymaActions.resumeName, { name })
    default:
      return fill(messages.kymaActions.suspendModulesStay, { name })
  }
}

function verbOf(deed: KymaDeed | null): string {
  if (deed?.kind === 'deleteKyma') return messages.kymaActions.deleteTheKyma
  return deed?.kind === 'resume' ? messages.common.resume : messages.kymaActions.suspend
}
