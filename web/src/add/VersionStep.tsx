// Step 2: which version of each, and the way past the lifecycle manager for those who know what they give up.
import { Checkbox, NativeSelect } from '@mantine/core'
import { Avatar, Notice, Tag, TypeTag } from '../parts/basics'
import { CommunityNotice } from './Community'
import { PickNeeds } from './PickMay'
import { choicesOf, detailOf, keyOf, type Move, type Pick, type Wizard } from './wizard'

export function VersionStep({ w, act }: { w: Wizard; act: (m: Move) => void }) {
  const manageable = w.picks.some((p) => p.offer.type !== 'community')
  return (
    <section className="stack" aria-label="Versions">
      {w.picks.map((pick) => (
        <One key={keyOf(pick.offer)} w={w} pick={pick} act={act} />
      ))}
      {w.picks.some((p) => p.offer.type === 'community') && <CommunityNotice />}
      {manageable && w.kyma !== '' && (
        <details className="card pad" open={w.direct}>
          <summary>
            <strong>Advanced: without the lifecycle manager</strong>
          </summary>
          <div className="stack after-summary">
            <p className="flat">
              The module is installed directly in this cluster, not in the Kyma. You upgrade and repair it yourself then, and full
              support is given up. You will have to type that you want it. A module that a Kyma has already is refused.
            </p>
            <Checkbox
              checked={w.direct}
              onChange={(event) => act({ do: 'direct', on: event.currentTarget.checked })}
              label="Install without the lifecycle manager"
            />
          </div>
        </details>
      )}
      {manageable && w.kyma === '' && (
        <Notice tone="warn" title="Without a Kyma">
          <p>No Kyma is chosen, so these modules are installed directly: you upgrade and repair them yourself.</p>
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
        label={`Version of ${pick.offer.name}`}
        value={pick.from}
        maw={460}
        data={choices}
        onChange={(event) => act({ do: 'from', name: pick.offer.name, from: event.currentTarget.value })}
      />
      <div className="row">
        {detail?.beta && (
          <Tag tone="warn" means="Not finished: no guarantees.">
            Beta
          </Tag>
        )}
        {detail?.requiresDowntime && <Tag means="An upgrade to it stops the module for a moment.">Needs downtime</Tag>}
        {pick.from.startsWith('version:') && pick.offer.type !== 'community' && (
          <span className="dim small">It stays there until you change it.</span>
        )}
      </div>
      <PickNeeds w={w} pick={pick} act={act} />
    </div>
  )
}
