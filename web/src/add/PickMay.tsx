// What a chosen version needs and may do, before it is added.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { placeOf } from '../catalog/links'
import { ask, query, type Refusal } from '../live/http'
import { useAsked } from '../live/useAsked'
import { Notice } from '../parts/basics'
import { missing, NeedList } from '../review/Needs'
import { eagerly, ReviewOf } from '../review/ReviewOf'
import { sentence } from '../words'
import { versionOf, viaKyma, type Move, type Pick, type Wizard } from './wizard'
import { fill } from '../fill'
import { messages } from '../messages'

const askedFor = (pick: Pick, version: string) => ({ name: pick.offer.name, version, ...placeOf(pick.offer) })

/** PickNeeds lists what a version needs in the chosen Kyma, and adds what is missing there to what was chosen. */
export function PickNeeds({ w, pick, act }: { w: Wizard; pick: Pick; act: (m: Move) => void }) {
  const version = versionOf(w, pick)
  const through = viaKyma(w, pick.offer)
  const { data } = useAsked(through && version ? query('/catalog/{name}/requirements', { ...askedFor(pick, version), kyma: w.kyma }) : null)
  const [error, setError] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const needs = data?.needs ?? []
  if (needs.length === 0) return null
  const chosen = w.picks.map((p) => p.offer.name)
  const lacks = missing(needs).filter(({ name }) => !chosen.includes(name))
  const add = async () => {
    setBusy(true)
    setError(undefined)
    try {
      for (const { name, channel } of lacks) {
        const offer = await ask(query('/catalog/{name}', { name, namespace: pick.offer.namespace ?? '' }))
        act({ do: 'toggle', offer })
        if (channel) act({ do: 'from', name, from: 'channel:' + channel })
      }
    } catch (refusal) {
      setError(refusal as Refusal)
    }
    setBusy(false)
  }
  return (
    <section className="stack tight" aria-label={fill(messages.pickMay.whatNeeds, { name: pick.offer.name })}>
      <p className="flat small">
        <strong>{messages.pickMay.itNeeds}</strong>
      </p>
      <NeedList needs={needs} chosen={chosen} reason={data?.reason} />
      {lacks.length > 0 && (
        <div>
          <Button size="compact-md" variant="light" loading={busy} onClick={() => void add()}>
            {messages.common.addWhatIsMissing}
          </Button>
        </div>
      )}
      {error && (
        <Notice tone="bad">
          <p>{sentence(error.message)}</p>
        </Notice>
      )}
    </section>
  )
}

/** PicksMay says what each chosen version may do, and which objects it consists of. */
export function PicksMay({ w }: { w: Wizard }) {
  const picks = w.picks.filter((pick) => versionOf(w, pick) !== '')
  if (picks.length === 0) return null
  return (
    <section className="stack tight" aria-label={messages.pickMay.whatTheseVersionsMayDo}>
      <h3 className="flat">{picks.length === 1 ? messages.common.thisVersionMay : messages.pickMay.theseVersionsMay}</h3>
      {picks.map((pick, i) => (
        <ReviewOf
          key={pick.offer.name}
          title={fill(messages.pickMay.whatMayDo, { name: pick.offer.name, version: versionOf(w, pick) })}
          of={query('/catalog/{name}/review', askedFor(pick, versionOf(w, pick)))}
          eager={i < eagerly}
          open={picks.length === 1}
        />
      ))}
    </section>
  )
}
