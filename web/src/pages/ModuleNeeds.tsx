// What a module needs, which modules need it, and adding what is missing.
import { useState } from 'react'
import type { Deed, ModuleDetail } from '../api'
import { DeedModal } from '../deeds/DeedModal'
import { moduleLink } from '../deeds/Progress'
import { Action, To } from '../parts/basics'
import { missing, NeedList } from '../review/Needs'
import { fill } from '../fill'
import { messages } from '../messages'

export function NeedsCard({ data }: { data: ModuleDetail }) {
  const [deed, setDeed] = useState<Deed | null>(null)
  const { module: m, access } = data
  const kyma = m.kyma ?? ''
  const needs = data.needs?.needs ?? []
  const neededBy = data.neededBy ?? []
  const lacks = kyma ? missing(needs) : []
  if (needs.length === 0 && neededBy.length === 0) return null
  return (
    <section className="card pad stack tight" aria-label={messages.common.requirements}>
      {needs.length > 0 && (
        <>
          <h2 className="flat">{fill(messages.common.whatNeeds, { version: data.needs?.version ?? messages.common.it })}</h2>
          <NeedList needs={needs} reason={data.needs?.reason} />
          {lacks.length > 0 && (
            <div>
              <Action
                variant="light"
                allowed={access.edit}
                onClick={() => setDeed({ kind: 'add', kyma, modules: lacks, direct: false, community: false })}
              >
                {messages.common.addWhatIsMissing}
              </Action>
            </div>
          )}
        </>
      )}
      {neededBy.length > 0 && (
        <p className="flat">
          <strong>{messages.moduleNeeds.neededBy}</strong>{' '}
          {neededBy.map((name, i) => (
            <span key={name}>
              {i > 0 && ', '}
              <To to={moduleLink(kyma, name)}>{name}</To>
            </span>
          ))}
        </p>
      )}
      <DeedModal
        title={fill(messages.moduleNeeds.addWhatNeeds, { name: m.name })}
        verb={messages.common.addWhatIsMissing}
        deed={deed}
        close={() => setDeed(null)}
      />
    </section>
  )
}
