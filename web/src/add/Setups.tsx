// Step 3: how each module is set up.
import { Radio } from '@mantine/core'
import { codeOf, Part } from '../app/code'
import { placeOf } from '../catalog/links'
import { offeredResourceQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { Avatar, Notice } from '../parts/basics'
import { Loading } from '../parts/loaded'
import { sentence } from '../words'
import { detailOf, keyOf, versionOf, viaKyma, type Move, type Pick, type Setup, type Wizard } from './wizard'
import { fill } from '../fill'
import { messages } from '../messages'

const configure = codeOf(async () => ({ Page: (await import('../yaml/Configure')).Configure }))

export function Setups({ w, act }: { w: Wizard; act: (m: Move) => void }) {
  return (
    <section className="stack" aria-label={messages.common.configuration}>
      {w.picks.map((pick) => (
        <One key={keyOf(pick.offer)} w={w} pick={pick} act={act} />
      ))}
    </section>
  )
}

function One({ w, pick, act }: { w: Wizard; pick: Pick; act: (m: Move) => void }) {
  const detail = detailOf(w, pick)
  const name = pick.offer.name
  const set = (setup: string) => act({ do: 'setup', name, setup: setup as Setup })
  return (
    <div className="card pad stack">
      <div className="row">
        <Avatar name={name} />
        <strong>{name}</strong>
        <span className="dim mono small">{versionOf(w, pick)}</span>
      </div>
      {detail && !detail.resource ? (
        <p className="dim flat">{messages.setups.thereIsNothingToConfigure}</p>
      ) : (
        <Radio.Group value={pick.setup} onChange={set} label={fill(messages.setups.howShouldBeSetUp, { name })}>
          <div className="stack tight choices">
            <Radio value="suggested" label={messages.common.asTheModuleSuggests} description={messages.setups.goodStartChangeLater} />
            <Radio value="own" label={messages.setups.myOwnWay} description={messages.setups.fillFormWriteYourself} />
            <Radio value="none" label={messages.setups.notYet} description={messages.setups.installedButStaysInactiveUntil} />
          </div>
        </Radio.Group>
      )}
      {pick.setup === 'own' && <Own w={w} pick={pick} act={act} />}
    </div>
  )
}

function Own({ w, pick, act }: { w: Wizard; pick: Pick; act: (m: Move) => void }) {
  const name = pick.offer.name
  const where = { version: versionOf(w, pick), ...placeOf(pick.offer), kyma: viaKyma(w, pick.offer) ? w.kyma : '' }
  const answer = useLive(offeredResourceQuery(name, where))
  const detail = detailOf(w, pick)
  if (pick.resource) {
    return (
      <Notice tone="ok">
        <p>
          {messages.setups.yourConfigurationIsKept}{' '}
          <button type="button" className="linklike" onClick={() => act({ do: 'setup', name, setup: 'own' })}>
            {messages.setups.beginAnew}
          </button>
        </p>
      </Notice>
    )
  }
  if (answer.loading) return <Loading rows={3} />
  const ref = detail?.resource
  const start =
    answer.data?.default ??
    (ref
      ? {
          apiVersion: ref.apiVersion,
          kind: ref.kind,
          metadata: { name: ref.name, ...(ref.namespace ? { namespace: ref.namespace } : {}) },
          spec: {},
        }
      : null)
  if (!start)
    return (
      <Notice>
        <p>{messages.setups.nothingTellsHowVersionConfigured}</p>
      </Notice>
    )
  return (
    <>
      {!answer.data?.default && (
        <Notice>
          <p>{messages.setups.versionSuggestsNotKnownHere}</p>
        </Notice>
      )}
      {answer.data?.default && !answer.data.schema && (
        <Notice title={messages.setups.noFormYet}>
          <p>{fill(messages.setups.beginsModuleSuggests, { reason: sentence(answer.data.reason) })}</p>
        </Notice>
      )}
      <Part code={configure}>
        {(Configure) => (
          <Configure
            start={start}
            fallback={answer.data?.default}
            schema={answer.data?.schema ?? null}
            edit={pick.edit}
            changed={(edit) => act({ do: 'edit', name, edit })}
            verb={messages.setups.keepThisConfiguration}
            done={(resource) => act({ do: 'setup', name, setup: 'own', resource })}
          />
        )}
      </Part>
    </>
  )
}
