// Page 5: what a version on offer may do and needs, before it is added.
import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import type { Offer } from '../api'
import { placeOf } from '../catalog/links'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Action } from '../parts/basics'
import { missing, NeedList } from '../review/Needs'
import { ReviewOf } from '../review/ReviewOf'
import { fill } from '../fill'
import { messages } from '../messages'

export function OfferMay({ offer }: { offer: Offer }) {
  const versions = (offer.versions ?? []).map((v) => v.version)
  const [version, setVersion] = useState(versions[0] ?? '')
  const parameters = { name: offer.name, version, ...placeOf(offer) }
  return (
    <section className="stack tight" aria-label={messages.offerMay.whatAVersionMayDo}>
      <div className="row between">
        <h2 className="flat">{messages.common.thisVersionMay}</h2>
        {versions.length > 1 && (
          <NativeSelect
            aria-label={messages.offerMay.versionToLookAt}
            value={version}
            data={versions}
            onChange={(event) => setVersion(event.currentTarget.value)}
          />
        )}
      </div>
      <ReviewOf key={version} title={fill(messages.offerMay.whatAsksFor, { version })} of={query('/catalog/{name}/review', parameters)} />
      <OfferNeeds offer={offer} version={version} />
    </section>
  )
}

/** OfferNeeds lists what a version needs. Where there is only one Kyma, it says whether that is there; the wizard does for any. */
function OfferNeeds({ offer, version }: { offer: Offer; version: string }) {
  const kymas = useLive(query('/kymas', { limit: 2 }))
  const only = kymas.data?.total === 1 ? kymas.data.items?.[0] : undefined
  const kyma = only && offer.type !== 'community' ? `${only.namespace}/${only.name}` : ''
  const asked = query('/catalog/{name}/requirements', { name: offer.name, version, ...placeOf(offer), kyma })
  const { data } = useLive(kymas.loading ? null : asked)
  const needs = data?.needs ?? []
  if (needs.length === 0) return null
  return (
    <section className="card pad stack tight" aria-label={messages.common.requirements}>
      <h3 className="flat">{fill(messages.common.whatNeeds, { version })}</h3>
      <NeedList needs={needs} plain={!kyma} reason={data?.reason} />
      {kyma && missing(needs).length > 0 && (
        <div>
          <Action variant="light" to={`/add?module=${encodeURIComponent(offer.name)}&kyma=${encodeURIComponent(kyma)}`}>
            {messages.offerMay.addItWithWhatIsMissing}
          </Action>
        </div>
      )}
    </section>
  )
}
