// Step 2: which version of each, and the way past the lifecycle manager for those who know what they give up.
import { Checkbox, NativeSelect } from '@mantine/core'
import { Avatar, Notice, Tag, TypeTag } from '../parts/basics'
import { CommunityNotice } from './Community'
import { PickNeeds } from './PickMay'
import { choicesOf, detailOf, keyOf, type Move, type Pick, type Wizard } from './wizard'
import { fill } from '../fill'
import { messages } from '../messages'

export function VersionStep({ w, act }: { w: Wizard; act: (m: Move) => void }) {
  const manageable = w.picks.some((p) => p.offer.type !== 'community')
  return (
    <section className="stack" aria-label={messages.common.versions}>
      {w.picks.map((pick) => (
        <One key={keyOf(pick.offer)} w={w} pick={pick} act={act} />
      ))}
      {w.picks.some((p) => p.offer.type === 'community') && <CommunityNotice />}
      {manageable && w.kyma !== '' && (
        <details className="card pad" open={w.direct}>
          <summary>
            <strong>{messages.versionStep.advancedWithoutTheLifecycleManager}</strong>
          </summary>
          <div className="stack after-summary">
            <p className="flat">{messages.versionStep.moduleInstalledDirectlyClusterNot}</p>
            <Checkbox
              checked={w.direct}
              onChange={(event) => act({ do: 'direct', on: event.currentTarget.checked })}
              label={messages.versionStep.installWithoutTheLifecycleManager}
            />
          </div>
        </details>
      )}
      {manageable && w.kyma === '' && (
        <Notice tone="warn" title={messages.versionStep.withoutAKyma}>
          <p>{messages.versionStep.noKymaChosenModulesInstalled}</p>
        </Notice>
      )}
    </section>
  )
}

function One({ w, pick, act }: { w: Wizard; pick: Pick; act: (m: Move) => void }) {
  const detail = detailOf(w, pick)
  const choices = choicesOf(w, pick.offer)
  return (
    <div className="card pad stack tight">
      <div className="row">
        <Avatar name={pick.offer.name} />
        <strong>{pick.offer.name}</strong>
        <TypeTag type={pick.offer.type} />
      </div>
      <NativeSelect
        label={fill(messages.versionStep.versionOf, { name: pick.offer.name })}
        value={pick.from}
        maw={460}
        data={choices}
        onChange={(event) => act({ do: 'from', name: pick.offer.name, from: event.currentTarget.value })}
      />
      <div className="row">
        {detail?.beta && (
          <Tag tone="warn" means={messages.common.notFinishedNoGuarantees}>
            {messages.common.beta}
          </Tag>
        )}
        {detail?.requiresDowntime && <Tag means={messages.common.upgradeStopsModuleMoment}>{messages.common.needsDowntime}</Tag>}
        {pick.from.startsWith('version:') && pick.offer.type !== 'community' && (
          <span className="dim small">{messages.versionStep.staysUntilChange}</span>
        )}
      </div>
      <PickNeeds w={w} pick={pick} act={act} />
    </div>
  )
}
