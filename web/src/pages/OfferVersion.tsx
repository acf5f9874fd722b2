// Page 5: what one version of a module holds, and who answers for it, as far as its template tells.
import type { ReactNode } from 'react'
import type { OfferVersion, Vouched } from '../api'
import { Outside, Tag } from '../parts/basics'
import { fill } from '../fill'
import { messages } from '../messages'

/** vouchedIn says in words who answers for a version. Only what the template claims: nothing was verified for this page. */
export function vouchedIn(vouched: Vouched | undefined): { label: string; means: string; tone?: 'strong' | 'warn' } {
  switch (vouched?.state) {
    case 'Signed':
      return {
        label: fill(messages.offerVersion.saysItIsSigned, { by: (vouched.by ?? []).join(', ') }),
        means: messages.offerVersion.nameSignatureDescriptorWhetherKey,
        tone: 'strong',
      }
    case 'Pinned':
      return {
        label: messages.offerVersion.pinnedByDigest,
        means: fill(messages.offerVersion.onlyExactlyThisContentIsInstalled, { digest: vouched.digest ?? '' }),
        tone: 'strong',
      }
    case 'Unsigned':
      return { label: messages.common.notSigned, means: messages.offerVersion.itsContentIsNotSigned, tone: 'warn' }
  }
  return { label: messages.offerVersion.notTold, means: messages.offerVersion.templateNotSayKymaModule }
}

/** Holdings are the versions of an offer, each with what it holds. The first is open. */
export function Holdings({ versions }: { versions: OfferVersion[] }) {
  return (
    <section className="stack tight" aria-label={messages.offerVersion.whatEachVersionHolds}>
      <h2 className="flat">{messages.offerVersion.whatEachVersionHolds}</h2>
      {versions.map((v, i) => (
        <details key={v.version + v.template.name} className="card pad" open={i === 0}>
          <summary>
            <strong className="mono">{v.version}</strong>
          </summary>
          <Facts v={v} />
        </details>
      ))}
    </section>
  )
}

function Facts({ v }: { v: OfferVersion }) {
  const vouched = vouchedIn(v.vouched)
  const images = v.images ?? []
  const kinds = v.associatedResources ?? []
  const links = (v.links ?? []).filter((link) => link.link !== v.changelog)
  return (
    <dl className="facts after-summary">
      <Fact label={messages.offerVersion.configuredBy}>
        {v.resource ? (
          <>
            <span className="mono small">{v.resource.kind}</span>{' '}
            <span className="dim small">
              {v.resource.apiVersion}
              {v.clusterScoped && messages.offerVersion.oneForTheWholeCluster}
            </span>
          </>
        ) : (
          <span className="dim">{messages.offerVersion.nothingNoResourceOwn}</span>
        )}
      </Fact>
      {v.manager && (
        <Fact label={messages.offerVersion.runBy}>
          <span className="mono small">{v.manager}</span>
        </Fact>
      )}
      {kinds.length > 0 && (
        <Fact label={messages.offerVersion.peopleMake}>
          <span className="mono small">{kinds.map((kind) => kind.kind).join(', ')}</span>
        </Fact>
      )}
      <Fact label={messages.offerVersion.images}>
        {images.length === 0 ? (
          <span className="dim">{messages.offerVersion.itsTemplateNamesNone}</span>
        ) : (
          images.map((image) => (
            <div key={image} className="mono small">
              {image}
            </div>
          ))
        )}
      </Fact>
      <Fact label={messages.offerVersion.signature}>
        <Tag tone={vouched.tone} means={vouched.means}>
          {vouched.label}
        </Tag>
      </Fact>
      {v.documentation && (
        <Fact label={messages.common.documentation}>
          <Outside to={v.documentation}>{fill(messages.offerVersion.documentationOf, { version: v.version })}</Outside>
        </Fact>
      )}
      {v.changelog && (
        <Fact label={messages.offerVersion.whatIsNew}>
          <Outside to={v.changelog}>{fill(messages.offerVersion.changesIn, { version: v.version })}</Outside>
        </Fact>
      )}
      {links.length > 0 && (
        <Fact label={messages.offerVersion.links}>
          {links.map((link, i) => (
            <div key={i}>
              <Outside to={link.link}>{link.name}</Outside>
            </div>
          ))}
        </Fact>
      )}
      <Fact label={messages.offerVersion.describedBy}>
        <span className="mono small">
          {v.template.namespace ? `${v.template.namespace}/` : ''}
          {v.template.name}
        </span>
      </Fact>
    </dl>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}
