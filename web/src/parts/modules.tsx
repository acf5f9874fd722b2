// The table of modules: managed, manageable and community ones in one, with the version that is desired, installed and available.
import { Tooltip } from '@mantine/core'
import { Link } from 'react-router'
import type { Module } from '../api'
import { moduleLink } from '../deeds/Progress'
import { sentence, stateWord, phaseWord } from '../words'
import { Avatar, PhaseBadge, StateBadge, Tag, To, TypeTag } from './basics'
import { Table, type Column, type ListState } from './list'

/** suspendedMeans says why nothing comes of an upgrade of a module that is suspended. */
export const suspendedMeans = 'It is suspended: the lifecycle manager leaves it as it is until the label that suspends it is removed.'

/** offeredMeans says why a newer version does not come at once. */
export const offeredMeans = 'A rollout decides when this Kyma gets that version. What is installed runs on until then.'

/** pendingMeans says why a version that waits for consent does not come at once. */
const pendingMeans = 'It waits until a person agrees to what it may do. What is installed runs on until then.'

/** Waiting says that a version waits for consent, and leads to what it asks for. */
function Waiting({ module: m }: { module: Module }) {
  if (!m.pending) return null
  const here = m.consentHere
  return (
    <Tooltip label={pendingMeans}>
      <Link to={moduleLink(m.kyma, m.name) + '?tab=permissions'} className={'tag tag-link' + (here ? ' tag-warn' : '')}>
        {m.pending.version} waits for {here ? 'your consent' : 'consent'}
      </Link>
    </Tooltip>
  )
}

/** Badges are what is special about a module. */
export function Badges({ module: m }: { module: Module }) {
  return (
    <>
      {m.beta && (
        <Tag tone="warn" means="Not finished: it may change in ways that break what you have, and has no guarantees.">
          Beta
        </Tag>
      )}
      {m.mandatory && <Tag means="It comes by itself, and cannot be taken away.">Mandatory</Tag>}
      {m.type === 'managed' && !m.managed && (
        <Tag tone="warn" means="It is neither upgraded nor repaired until it is managed again.">
          Unmanaged
        </Tag>
      )}
      {m.maintenance && (
        <Tag means="An upgrade waits for the maintenance window, since it stops the module for a moment.">Waits for maintenance</Tag>
      )}
      <Waiting module={m} />
      {m.offered && !m.pending && <Tag means={offeredMeans}>{m.offered} waits for its rollout</Tag>}
      {m.suspended && (
        <Tag tone="warn" means={suspendedMeans}>
          Suspended
        </Tag>
      )}
      {m.hasValues && <Tag means="The Kyma sets values for its chart, in place of those of the module.">Own values</Tag>}
      {m.channelOverridden && <Tag means="It follows another channel than the rest of its Kyma.">Own channel: {m.channel}</Tag>}
    </>
  )
}

/** Signature shows whether the installed content was signed. */
export function Signature({ module: m }: { module: Module }) {
  switch (m.signed.state) {
    case 'Verified':
      return (
        <Tag
          tone="strong"
          means={
            `Signatures cover everything that is installed${m.signed.digest ? ` (${m.signed.digest})` : ''}` +
            `${m.signed.at ? `, verified at ${m.signed.at}` : ''}.`
          }
        >
          Signed{m.signed.by ? ` by ${m.signed.by}` : ''}
        </Tag>
      )
    case 'Missing':
      return (
        <Tag tone="warn" means="The content is not signed.">
          Not signed
        </Tag>
      )
    case 'Invalid':
    case 'Untrusted':
    case 'Revoked':
    case 'Incomplete':
      return (
        <Tag tone="warn" means={m.signed.message || 'The signature is not accepted, or does not cover everything that is to be installed.'}>
          Signature {m.signed.state.toLowerCase()}
        </Tag>
      )
  }
  return null
}

/** reasonOf is the sentence that says why a module stands as it does. */
export function reasonOf(m: Module): string {
  const unready = m.installation.unready && m.state === 'Processing'
  const installation = phaseWord(m.installation.state).tone === stateWord(m.state).tone || m.installation.warning || unready
  const first = installation ? m.installation.message : m.module.message
  if (m.state === 'Ready') return ''
  return sentence(first || m.installation.message || m.module.message)
}

const columns: Column[] = [
  { key: 'name', label: 'Module', sort: true },
  { key: 'kyma', label: 'Kyma', sort: true },
  { key: 'state', label: 'State', sort: true },
  { key: 'installation', label: 'Installation' },
  { key: 'desired', label: 'Desired' },
  { key: 'installed', label: 'Installed' },
  { key: 'available', label: 'Available' },
]

export function ModuleTable(props: { modules: Module[]; state?: ListState; sorted?: string; inKyma?: boolean }) {
  const { modules, state, sorted, inKyma } = props
  const shown = columns.filter((column) => !(inKyma && column.key === 'kyma'))
  return (
    <Table label="Modules" columns={shown} state={state} sorted={sorted}>
      {modules.map((m) => (
        <Row key={`${m.kyma}/${m.name}/${m.mandatory}`} m={m} inKyma={inKyma} />
      ))}
    </Table>
  )
}

function Row({ m, inKyma }: { m: Module; inKyma?: boolean }) {
  const { desired, installed, available, outdated, mismatch } = m.version
  return (
    <tr>
      <td className="lead">
        <div className="name-cell">
          <Avatar name={m.name} />
          <div>
            <To to={moduleLink(m.kyma, m.name)}>
              <strong>{m.name}</strong>
            </To>
            <div className="row tags">
              <TypeTag type={m.type} />
              <Badges module={m} />
            </div>
            {m.state !== 'Ready' && <p className="dim small flat two-lines">{reasonOf(m)}</p>}
          </div>
        </div>
      </td>
      {!inKyma && (
        <td data-label="Kyma">
          <KymaCell kyma={m.kyma} />
        </td>
      )}
      <td data-label="State">
        <StateBadge state={m.state} message={reasonOf(m)} />
      </td>
      <td data-label="Installation" className={m.installation.state === 'Installed' ? 'dull' : ''}>
        <span className="row nowrap-row">
          <PhaseBadge state={m.installation.state} message={m.installation.message} />
          {m.installation.progress && <span className="dim small nowrap">{m.installation.progress}</span>}
        </span>
      </td>
      <td data-label="Desired" className="mono">
        {desired || '–'}
        {m.channel && <span className="channel dim">{m.channel}</span>}
      </td>
      <td data-label="Installed" className="mono">
        {mismatch ? <span className="differs">{installed || '–'}</span> : installed || '–'}
      </td>
      <td data-label="Available" className={outdated ? 'mono' : 'mono dull'}>
        {outdated ? <span className="newer">{available}</span> : available || '–'}
      </td>
    </tr>
  )
}

/** KymaCell is the name of a Kyma over its namespace, so that long names leave room. */
export function KymaCell({ kyma }: { kyma?: string }) {
  const [namespace, name] = (kyma ?? '').split('/')
  if (!kyma || !name) return <span className="dim">none</span>
  return (
    <span className="kyma-cell">
      <To to={'/kymas/' + kyma}>{name}</To>
      <span className="ns dim small">{namespace}</span>
    </span>
  )
}
