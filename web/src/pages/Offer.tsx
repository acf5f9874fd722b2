// Page 5, one module of the catalog: versions and channels, what each holds, where it is, and how to have it.
import { PackagePlus } from 'lucide-react'
import { useParams, useSearchParams } from 'react-router'
import type { Offer, OfferRow, OfferVersion } from '../api'
import { addLink } from '../catalog/links'
import { moduleLink } from '../deeds/Progress'
import { query } from '../live/http'
import { useLive, type Answer } from '../live/useLive'
import { Action, Avatar, Empty, Header, Notice, Outside, StateBadge, Tag, To, TypeTag } from '../parts/basics'
import { Table } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { types } from '../words'
import { Holdings } from './OfferVersion'
import { OfferMay } from './OfferMay'

export function Page() {
  const { name = '' } = useParams()
  const [parameters] = useSearchParams()
  const place = { namespace: parameters.get('namespace') ?? '', source: parameters.get('source') ?? '' }
  const answer = untilRead(useLive(query('/catalog/{name}', { name, ...place })))
  return (
    <>
      {!answer.data && <Header title={name} mark={<Avatar name={name} big />} />}
      <Loaded answer={answer}>{(offer) => <Body offer={offer} />}</Loaded>
    </>
  )
}

/** untilRead waits for a source that is being read: the answer comes by itself. */
function untilRead(answer: Answer<OfferRow>): Answer<OfferRow> {
  return answer.error?.reason === 'Reading' ? { loading: true, stale: false } : answer
}

function Body({ offer }: { offer: OfferRow }) {
  const versions = offer.versions ?? []
  const meaning = Object.hasOwn(types, offer.type) ? types[offer.type].means : ''
  return (
    <>
      <Header
        title={offer.name}
        mark={<Avatar name={offer.name} big />}
        badges={
          <>
            <TypeTag type={offer.type} />
            {offer.restricted && <Tag>Restricted</Tag>}
          </>
        }
        lead={offer.description ?? meaning}
        actions={
          !offer.mandatory && (
            <Action to={addLink(offer)} leftSection={<PackagePlus size={17} aria-hidden />}>
              Add it
            </Action>
          )
        }
      />
      {offer.mandatory && (
        <Notice tone="busy">
          <p>It is mandatory: every Kyma gets version {offer.mandatory} by itself.</p>
        </Notice>
      )}
      {(offer.channels ?? [])
        .filter((c) => c.missing)
        .map((c) => (
          <Notice key={c.channel} tone="warn">
            <p>
              Channel {c.channel} offers version {c.version}, but no ModuleTemplate describes it: it cannot be installed.
            </p>
          </Notice>
        ))}
      <div className="grid grid-two">
        <div className="stack">
          <h2 className="flat">Versions</h2>
          {versions.length === 0 ? (
            <div className="card">
              <Empty title="No version can be had" />
            </div>
          ) : (
            <Versions versions={versions} />
          )}
          {versions.length > 0 && <OfferMay offer={offer} />}
          {versions.length > 0 && <Holdings versions={versions} />}
          <Where offer={offer} />
        </div>
        <div className="stack">
          <section className="card pad stack tight" aria-label="Read more">
            <h2 className="flat">Read more</h2>
            {offer.documentation && (
              <p className="flat">
                <Outside to={offer.documentation}>Documentation</Outside>
              </p>
            )}
            {offer.repository && (
              <p className="flat">
                <Outside to={offer.repository}>Source code</Outside>
              </p>
            )}
            {!offer.documentation && !offer.repository && <p className="dim flat">Its makers gave no links.</p>}
          </section>
          <Origin offer={offer} />
        </div>
      </div>
    </>
  )
}

function Versions({ versions }: { versions: OfferVersion[] }) {
  return (
    <Table
      label="Versions"
      columns={[
        { key: 'version', label: 'Version' },
        { key: 'channels', label: 'Channels' },
        { key: 'notes', label: 'Notes' },
      ]}
    >
      {versions.map((v) => (
        <tr key={v.version + v.template.name}>
          <td className="lead">
            <strong className="mono">{v.version}</strong>
          </td>
          <td data-label="Channels">
            <span className="row">
              {(v.channels ?? []).map((c) => (
                <Tag key={c} tone="strong">
                  {c}
                </Tag>
              ))}
            </span>
          </td>
          <td data-label="Notes">
            <span className="row">
              {v.beta && (
                <Tag tone="warn" means="Not finished: no guarantees.">
                  Beta
                </Tag>
              )}
              {v.internal && <Tag>Internal</Tag>}
              {v.requiresDowntime && <Tag means="An upgrade to it stops the module for a moment.">Needs downtime</Tag>}
            </span>
          </td>
        </tr>
      ))}
    </Table>
  )
}

function Where({ offer }: { offer: Offer }) {
  const there = offer.installed ?? []
  if (there.length === 0) return null
  return (
    <section className="stack tight" aria-label="Where it is">
      <h2 className="flat">Where it is</h2>
      <Table
        label="Where it is installed"
        columns={[
          { key: 'kyma', label: 'Kyma' },
          { key: 'version', label: 'Version' },
          { key: 'state', label: 'State' },
        ]}
      >
        {there.slice(0, 50).map((one, i) => (
          <tr key={i}>
            <td className="lead">
              <To to={moduleLink(one.kyma, offer.name)}>{one.kyma || 'Installed directly'}</To>
            </td>
            <td data-label="Version" className="mono">
              {one.version || '–'}
            </td>
            <td data-label="State">
              <StateBadge state={one.state} />
            </td>
          </tr>
        ))}
      </Table>
      {there.length > 50 && (
        <p className="dim flat">
          <To to={`/modules?search=${encodeURIComponent(offer.name)}`}>All {there.length}</To>
        </p>
      )}
    </section>
  )
}

function Origin({ offer }: { offer: Offer }) {
  if (!offer.component && !offer.source) return null
  return (
    <section className="card pad stack tight" aria-label="Where it comes from">
      <h2 className="flat">Where it comes from</h2>
      <dl className="facts">
        {offer.component && (
          <>
            <dt>Component</dt>
            <dd className="mono small">{offer.component}</dd>
          </>
        )}
        {offer.source && (
          <>
            <dt>Source</dt>
            <dd>{offer.source}</dd>
          </>
        )}
      </dl>
    </section>
  )
}
