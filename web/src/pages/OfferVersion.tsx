// Page 5: what one version of a module holds, and who answers for it, as far as its template tells.
import type { ReactNode } from 'react'
import type { OfferVersion, Vouched } from '../api'
import { Outside, Tag } from '../parts/basics'

/** vouchedIn says in words who answers for a version. Only what the template claims: nothing was verified for this page. */
export function vouchedIn(vouched: Vouched | undefined): { label: string; means: string; tone?: 'strong' | 'warn' } {
  switch (vouched?.state) {
    case 'Signed':
      return {
        label: `Says it is signed: ${(vouched.by ?? []).join(', ')}`,
        means: 'The name of the signature in its descriptor. Whether the key is trusted is checked when it is installed.',
        tone: 'strong',
      }
    case 'Pinned':
      return { label: 'Pinned by digest', means: `Only exactly this content is installed: ${vouched.digest ?? ''}`, tone: 'strong' }
    case 'Unsigned':
      return { label: 'Not signed', means: 'Its content is not signed.', tone: 'warn' }
  }
  return { label: 'Not told', means: 'The template does not say. kyma module verify asks the registry.' }
}

/** Holdings are the versions of an offer, each with what it holds. The first is open. */
export function Holdings({ versions }: { versions: OfferVersion[] }) {
  return (
    <section className="stack tight" aria-label="What each version holds">
      <h2 className="flat">What each version holds</h2>
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
      <Fact name="Configured by">
        {v.resource ? (
          <>
            <span className="mono small">{v.resource.kind}</span>{' '}
            <span className="dim small">
              {v.resource.apiVersion}
              {v.clusterScoped && ', one for the whole cluster'}
            </span>
          </>
        ) : (
          <span className="dim">Nothing: it has no resource of its own</span>
        )}
      </Fact>
      {v.manager && (
        <Fact name="Run by">
          <span className="mono small">{v.manager}</span>
        </Fact>
      )}
      {kinds.length > 0 && (
        <Fact name="People make">
          <span className="mono small">{kinds.map((kind) => kind.kind).join(', ')}</span>
        </Fact>
      )}
      <Fact name="Images">
        {images.length === 0 ? (
          <span className="dim">Its template names none</span>
        ) : (
          images.map((image) => (
            <div key={image} className="mono small">
              {image}
            </div>
          ))
        )}
      </Fact>
      <Fact name="Signature">
        <Tag tone={vouched.tone} means={vouched.means}>
          {vouched.label}
        </Tag>
      </Fact>
      {v.documentation && (
        <Fact name="Documentation">
          <Outside to={v.documentation}>Documentation of {v.version}</Outside>
        </Fact>
      )}
      {v.changelog && (
        <Fact name="What is new">
          <Outside to={v.changelog}>Changes in {v.version}</Outside>
        </Fact>
      )}
      {links.length > 0 && (
        <Fact name="Links">
          {links.map((link, i) => (
            <div key={i}>
              <Outside to={link.link}>{link.name}</Outside>
            </div>
          ))}
        </Fact>
      )}
      <Fact name="Described by">
        <span className="mono small">
          {v.template.namespace ? `${v.template.namespace}/` : ''}
          {v.template.name}
        </span>
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
