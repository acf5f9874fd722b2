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

const configure = codeOf(async () => ({ Page: (await import('../yaml/Configure')).Configure }))

export function Setups({ w, act }: { w: Wizard; act: (m: Move) => void }) {
  return (
    <section className="stack" aria-label="Configuration">
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
        <p className="dim flat">There is nothing to configure.</p>
      ) : (
        <Radio.Group value={pick.setup} onChange={set} label={`How should ${name} be set up?`}>
          <div className="stack tight choices">
            <Radio value="suggested" label="As the module suggests" description="Good for a start. You can change it later." />
            <Radio value="own" label="My own way" description="Fill in a form, or write it yourself." />
            <Radio value="none" label="Not yet" description="It is installed, but stays inactive until it is configured." />
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
          Your configuration is kept.{' '}
          <button type="button" className="linklike" onClick={() => act({ do: 'setup', name, setup: 'own' })}>
            Begin anew
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
        <p>Nothing tells how this version is configured. Take the suggested way, and change it later.</p>
      </Notice>
    )
  return (
    <>
      {!answer.data?.default && (
        <Notice>
          <p>What this version suggests is not known here, so this begins empty. The cluster checks it when the module is there.</p>
        </Notice>
      )}
      {answer.data?.default && !answer.data.schema && (
        <Notice title="There is no form for it yet">
          <p>This begins with what the module suggests. {sentence(answer.data.reason)}</p>
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
            verb="Keep this configuration"
            done={(resource) => act({ do: 'setup', name, setup: 'own', resource })}
          />
        )}
      </Part>
    </>
  )
}
