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
import { fill } from '../fill'
import { messages } from '../messages'

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
            {offer.restricted && <Tag>{messages.common.restricted}</Tag>}
          </>
        }
        lead={offer.description ?? meaning}
        actions={
          !offer.mandatory && (
            <Action to={addLink(offer)} leftSection={<PackagePlus size={17} aria-hidden />}>
              {messages.offer.addIt}
            </Action>
          )
        }
      />
      {offer.mandatory && (
        <Notice tone="busy">
          <p>{fill(messages.offer.mandatoryVersion, { version: offer.mandatory })}</p>
        </Notice>
      )}
      {(offer.channels ?? [])
        .filter((c) => c.missing)
        .map((c) => (
          <Notice key={c.channel} tone="warn">
            <p>{fill(messages.offer.channelOffersVersionButNo, { channel: c.channel, version: c.version })}</p>
          </Notice>
        ))}
      <div className="grid grid-two">
        <div className="stack">
          <h2 className="flat">{messages.common.versions}</h2>
          {versions.length === 0 ? (
            <div className="card">
              <Empty title={messages.common.noVersionCanBeHad} />
            </div>
          ) : (
            <Versions versions={versions} />
          )}
          {versions.length > 0 && <OfferMay offer={offer} />}
          {versions.length > 0 && <Holdings versions={versions} />}
          <Where offer={offer} />
        </div>
        <div className="stack">
          <section className="card pad stack tight" aria-label={messages.common.readMore}>
            <h2 className="flat">{messages.common.readMore}</h2>
            {offer.documentation && (
              <p className="flat">
                <Outside to={offer.documentation}>{messages.common.documentation}</Outside>
              </p>
            )}
            {offer.repository && (
              <p className="flat">
                <Outside to={offer.repository}>{messages.offer.sourceCode}</Outside>
              </p>
            )}
            {!offer.documentation && !offer.repository && <p className="dim flat">{messages.common.itsMakersGaveNoLinks}</p>}
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
      label={messages.common.versions}
      columns={[
        { key: 'version', label: messages.common.version },
        { key: 'channels', label: messages.common.channels },
        { key: 'notes', label: messages.common.notes },
      ]}
    >
      {versions.map((v) => (
        <tr key={v.version + v.template.name}>
          <td className="lead">
            <strong className="mono">{v.version}</strong>
          </td>
          <td data-label={messages.common.channels}>
            <span className="row">
              {(v.channels ?? []).map((c) => (
                <Tag key={c} tone="strong">
                  {c}
                </Tag>
              ))}
            </span>
          </td>
          <td data-label={messages.common.notes}>
            <span className="row">
              {v.beta && (
                <Tag tone="warn" means={messages.common.notFinishedNoGuarantees}>
                  {messages.common.beta}
                </Tag>
              )}
              {v.internal && <Tag>{messages.offer.internal}</Tag>}
              {v.requiresDowntime && <Tag means={messages.common.upgradeStopsModuleMoment}>{messages.common.needsDowntime}</Tag>}
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
    <section className="stack tight" aria-label={messages.offer.whereItIs}>
      <h2 className="flat">{messages.offer.whereItIs}</h2>
      <Table
        label={messages.offer.whereItIsInstalled}
        columns={[
          { key: 'kyma', label: messages.common.kyma },
          { key: 'version', label: messages.common.version },
          { key: 'state', label: messages.common.state },
        ]}
      >
        {there.slice(0, 50).map((one, i) => (
          <tr key={i}>
            <td className="lead">
              <To to={moduleLink(one.kyma, offer.name)}>{one.kyma || messages.common.installedDirectly}</To>
            </td>
            <td data-label={messages.common.version} className="mono">
              {one.version || '–'}
            </td>
            <td data-label={messages.common.state}>
              <StateBadge state={one.state} />
            </td>
          </tr>
        ))}
      </Table>
      {there.length > 50 && (
        <p className="dim flat">
          <To to={`/modules?search=${encodeURIComponent(offer.name)}`}>{fill(messages.offer.allCount, { count: there.length })}</To>
        </p>
      )}
    </section>
  )
}

function Origin({ offer }: { offer: Offer }) {
  if (!offer.component && !offer.source) return null
  return (
    <section className="card pad stack tight" aria-label={messages.offer.whereItComesFrom}>
      <h2 className="flat">{messages.offer.whereItComesFrom}</h2>
      <dl className="facts">
        {offer.component && (
          <>
            <dt>{messages.offer.component}</dt>
            <dd className="mono small">{offer.component}</dd>
          </>
        )}
        {offer.source && (
          <>
            <dt>{messages.common.source}</dt>
            <dd>{offer.source}</dd>
          </>
        )}
      </dl>
    </section>
  )
}
