// The table of modules: managed, manageable and community ones in one, with the version that is desired, installed and available.
import { Checkbox, Tooltip } from '@mantine/core'
import { Link } from 'react-router'
import type { Module, ModuleRow as ListedModule } from '../api'
import { moduleLink } from '../deeds/Progress'
import { selectable } from '../deeds/upgrading'
import { sentence, stateWord, phaseWord, moduleText } from '../words'
import { Avatar, PhaseBadge, StateBadge, Tag, To, TypeTag } from './basics'
import { DataTable, type CellColumn } from '../table/DataTable'
import { Ago } from './details'
import type { ListState } from './list'
import { fill } from '../fill'
import { messages } from '../messages'

/** suspendedMeans says why nothing comes of an upgrade of a module that is suspended. */
export const suspendedMeans = messages.partsModules.suspendedLifecycleManagerLeavesUntil

/** offeredMeans says why a newer version does not come at once. */
export const offeredMeans = messages.partsModules.rolloutDecidesWhenKymaGets

/** pendingMeans says why a version that waits for consent does not come at once. */
const pendingMeans = messages.partsModules.waitsUntilPersonAgreesInstalled

/** Waiting says that a version waits for consent, and leads to what it asks for. */
function Waiting({ module: m }: { module: Module }) {
  if (!m.pending) return null
  const here = m.consentHere
  return (
    <Tooltip label={pendingMeans}>
      <Link to={moduleLink(m.kyma, m.name) + '?tab=permissions'} className={'tag tag-link' + (here ? ' tag-warn' : '')}>
        {fill(here ? messages.partsModules.waitsForYourConsent : messages.partsModules.waitsForConsent, { version: m.pending.version })}
      </Link>
    </Tooltip>
  )
}

/** Badges are what is special about a module. */
export function Badges({ module: m }: { module: Module }) {
  return (
    <>
      {m.beta && (
        <Tag tone="warn" means={messages.partsModules.notFinishedChangeWaysBreak}>
          {messages.common.beta}
        </Tag>
      )}
      {m.mandatory && <Tag means={messages.partsModules.comesItselfCannotTakenAway}>{messages.common.mandatory}</Tag>}
      {m.type === 'managed' && !m.managed && (
        <Tag tone="warn" means={messages.partsModules.neitherUpgradedNorRepairedUntil}>
          {messages.partsModules.unmanaged}
        </Tag>
      )}
      {m.maintenance && (
        <Tag means={messages.partsModules.upgradeWaitsMaintenanceWindowSince}>{messages.partsModules.waitsForMaintenance}</Tag>
      )}
      <Waiting module={m} />
      {m.offered && !m.pending && <Tag means={offeredMeans}>{fill(messages.partsModules.waitsForItsRollout, { offered: m.offered })}</Tag>}
      {m.suspended && (
        <Tag tone="warn" means={suspendedMeans}>
          {messages.common.suspended}
        </Tag>
      )}
      {m.hasValues && <Tag means={messages.partsModules.kymaSetsValuesChartPlace}>{messages.partsModules.ownValues}</Tag>}
      {m.channelOverridden && (
        <Tag means={messages.partsModules.followsAnotherChannelRestKyma}>
          {messages.partsModules.ownChannel} {m.channel}
        </Tag>
      )}
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
          means={fill(messages.partsModules.signaturesCoverEverythingThatIsInstalled, {
            digest: m.signed.digest ? ` (${m.signed.digest})` : '',
            when: m.signed.at ? fill(messages.partsModules.verifiedAt, { at: m.signed.at }) : '',
          })}
        >
          {m.signed.by ? fill(messages.partsModules.signedBy, { by: m.signed.by }) : messages.partsModules.signed}
        </Tag>
      )
    case 'Missing':
      return (
        <Tag tone="warn" means={messages.partsModules.theContentIsNotSigned}>
          {messages.common.notSigned}
        </Tag>
      )
    case 'Invalid':
    case 'Untrusted':
    case 'Revoked':
    case 'Incomplete':
      return (
        <Tag tone="warn" means={m.signed.message || messages.partsModules.signatureNotAcceptedNotCover}>
          {fill(messages.partsModules.signatureState, { state: m.signed.state.toLowerCase() })}
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

/** slowMeans says why a module that is in progress needs attention. */
const slowMeans = messages.partsModules.progressMoreTwoMinutesLook

/** ModuleRow is a module in a table; only lists of the server say whether it needs attention. */
export type ModuleRow = Module & Partial<ListedModule>

/** moduleColumns are those of every table of modules. */
export const moduleColumns: CellColumn<ModuleRow>[] = [
  { key: 'name', label: messages.common.module, sort: true, cell: (m) => <Name m={m} /> },
  { key: 'kyma', label: messages.common.kyma, sort: true, cell: (m) => <KymaCell kyma={m.kyma} /> },
  {
    key: 'state',
    label: messages.common.state,
    sort: true,
    cell: (m) => (
      <span className="row">
        <StateBadge state={m.state} message={reasonOf(m)} />
        {m.attention && m.state === 'Processing' && (
          <Tag tone="warn" means={slowMeans}>
            {messages.partsModules.takesLong}
          </Tag>
        )}
      </span>
    ),
  },
  {
    key: 'installation',
    label: messages.common.installation,
    className: (m) => (m.installation.state === 'Installed' ? 'dull' : ''),
    cell: (m) => (
      <span className="row nowrap-row">
        <PhaseBadge state={m.installation.state} message={m.installation.message} />
        {m.installation.progress && <span className="dim small nowrap">{m.installation.progress}</span>}
      </span>
    ),
  },
  {
    key: 'desired',
    label: messages.common.desired,
    className: () => 'mono',
    cell: (m) => (
      <>
        {m.version.desired || '–'}
        {(m.channel || m.release) && (
          <span className="channel dim">{m.channel || fill(messages.common.releaseRelease, { release: m.release })}</span>
        )}
      </>
    ),
  },
  {
    key: 'installed',
    label: messages.common.installed,
    sort: true,
    className: () => 'mono',
    cell: ({ version: { installed, mismatch } }) => (mismatch ? <span className="differs">{installed || '–'}</span> : installed || '–'),
  },
  {
    key: 'available',
    label: messages.common.available,
    className: (m) => (m.version.outdated ? 'mono' : 'mono dull'),
    cell: ({ version: { available, outdated } }) => (outdated ? <span className="newer">{available}</span> : available || '–'),
  },
  { key: 'reason', label: messages.common.reason, off: true, cell: (m) => reasonWord(m) || '–' },
  { key: 'since', label: messages.common.notReadySince, off: true, cell: (m) => <Ago at={m.since ?? undefined} /> },
]

/** reasonWord is the reason of a module that is not ready, in one word: the one that the server filters by. */
export function reasonWord({ state, installation, module }: Module): string {
  if (state === 'Ready') return ''
  const bad = module.state === 'Error' || module.state === 'Warning'
  const resource = bad && !installation.warning && installation.state === 'Installed'
  return (!installation.message || resource ? module.reason : installation.reason) ?? ''
}

interface ModuleTableProps {
  modules: ModuleRow[]
  /** name of the table whose columns are chosen. */
  name?: string
  state?: ListState
  sorted?: string
  inKyma?: boolean
  /** select lets rows be chosen to be upgraded. */
  select?: Select
}

/** Select is what of a table is chosen. */
export interface Select {
  has: (m: Module) => boolean
  flip: (m: Module) => void
}

export function ModuleTable({ modules, name, state, sorted, inKyma, select }: ModuleTableProps) {
  const columns = inKyma ? withoutKyma : moduleColumns
  return (
    <DataTable
      label={messages.common.modules}
      name={name}
      columns={select ? selecting(columns, select) : columns}
      rows={modules}
      keyOf={moduleKey}
      state={state}
      sorted={sorted}
    />
  )
}

/** selecting puts a box before the name of each module that can be chosen. */
function selecting(columns: CellColumn<ModuleRow>[], select: Select): CellColumn<ModuleRow>[] {
  return columns.map((column) =>
    column.key !== 'name'
      ? column
      : {
          ...column,
          cell: (m) => (
            <div className="name-cell">
              {selectable(m) && (
                <Checkbox
                  checked={select.has(m)}
                  onChange={() => select.flip(m)}
                  aria-label={fill(messages.partsModules.chooseModule, { module: moduleText(m) })}
                  mt={7}
                />
              )}
              {column.cell(m)}
            </div>
          ),
        },
  )
}

const withoutKyma = moduleColumns.filter(({ key }) => key !== 'kyma')

/** moduleKey tells modules of a list apart: one that is requested may be mandatory, too. */
export const moduleKey = (m: Module) => `${m.kyma ?? ''}/${m.name}/${m.mandatory}/${m.manifest?.name ?? ''}/${m.record?.name ?? ''}`

function Name({ m }: { m: Module }) {
  return (
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
  )
}

/** KymaCell is the name of a Kyma over its namespace, so that long names leave room. */
export function KymaCell({ kyma }: { kyma?: string }) {
  const [namespace, name] = (kyma ?? '').split('/')
  if (!kyma || !name) return <span className="dim">{messages.common.none}</span>
  return (
    <span className="kyma-cell">
      <To to={'/kymas/' + kyma}>{name}</To>
      <span className="ns dim small">{namespace}</span>
    </span>
  )
}
