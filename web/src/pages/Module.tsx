// Page 4, one module: why it is not ready, its resources, its configuration, events and versions.
import { Tabs } from '@mantine/core'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useParams } from 'react-router'
import type { Deed, Module, ModuleDetail } from '../api'
import { codeOf, Part } from '../app/code'
import { DeedModal } from '../deeds/DeedModal'
import { moduleLink } from '../deeds/Progress'
import { factLink, objectLink } from '../explorer/evidence'
import { FixButtons } from '../kymas/Fixes'
import { at } from '../live/http'
import { moduleQuery, reviewQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { Action, Avatar, Header, Notice, Outside, PhaseBadge, StateBadge, To, TypeTag } from '../parts/basics'
import { CauseOf } from '../parts/cause'
import { Events, Reasons } from '../parts/details'
import { useListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { Badges, offeredMeans, Signature, suspendedMeans } from '../parts/modules'
import { ReviewOf } from '../review/ReviewOf'
import { refText } from '../words'
import { ConfigurationTab } from './ModuleConfiguration'
import { ConsentCard } from './ModuleConsent'
import { HistoryTab, Waits } from './ModuleHistory'
import { NeedsCard } from './ModuleNeeds'
import { PermissionsTab } from './ModulePermissions'
import { VersionsTab } from './ModuleVersions'
import { fill, fillNodes } from '../fill'
import { messages } from '../messages'

const explorer = codeOf(() => import('../explorer/Explorer'))

/** useModulePath is which module the address means: one of a Kyma, or one that was installed directly. */
export function useModulePath(): { id: string; name: string; path: string } {
  const { ns, kyma, name = '' } = useParams()
  if (ns && kyma) return { id: `${ns}/${kyma}`, name, path: '/modules' + at(ns, kyma, name) }
  return { id: '', name, path: '/direct' + at(name) }
}

export function Page() {
  const { id, name, path } = useModulePath()
  const answer = useLive(moduleQuery(id, name))
  return (
    <>
      {!answer.data && (
        <Header
          title={name}
          mark={<Avatar name={name} big />}
          lead={id ? fill(messages.common.inKyma, { kyma: id }) : messages.common.installedDirectlyWord}
        />
      )}
      <Loaded answer={answer}>{(data) => <Body data={data} path={path} />}</Loaded>
    </>
  )
}

function Body({ data, path }: { data: ModuleDetail; path: string }) {
  const { module: m } = data
  const state = useListState()
  const tab = state.parameters.get('tab') ?? 'parts'
  const why = data.why ?? []
  const [opened, setOpened] = useState(false)
  if (tab === 'configuration' && !opened) setOpened(true)
  return (
    <>
      <Header
        title={m.name}
        mark={<Avatar name={m.name} big />}
        badges={
          <>
            <StateBadge state={m.state} />
            <TypeTag type={m.type} />
            <Badges module={m} />
            <Signature module={m} />
          </>
        }
        lead={
          m.kyma ? (
            <>{fillNodes(messages.common.inKyma, { kyma: <To to={'/kymas/' + m.kyma}>{m.kyma}</To> })}</>
          ) : (
            messages.module.installedDirectlyWithoutAKyma
          )
        }
        actions={<Buttons data={data} />}
      />
      {m.state !== 'Ready' && (m.cause || why.length > 0) && (
        <section className="card pad stack" aria-label={messages.common.why}>
          <h2 className="flat">{heading(m.state)}</h2>
          {m.cause ? (
            <CauseOf cause={m.cause} linkOf={objectLink} linkOfFact={factLink}>
              <p className="flat">{messages.module.fromTheKymaToWhatFails}</p>
              <Reasons why={why} />
            </CauseOf>
          ) : (
            <Reasons why={why} />
          )}
          <FixButtons fixes={data.fixes ?? []} kyma={m.kyma ?? ''} />
        </section>
      )}
      <ConsentCard data={data} />
      <Waits data={data} />
      <Facts data={data} />
      <NeedsCard data={data} />
      <Tabs value={tab} onChange={(to) => state.set('tab', to ?? undefined)} keepMounted={false} keepMountedMode="display-none">
        <Tabs.List aria-label={messages.module.aboutThisModule}>
          <Tabs.Tab value="parts">{messages.module.resources}</Tabs.Tab>
          <Tabs.Tab value="configuration">{messages.common.configuration}</Tabs.Tab>
          <Tabs.Tab value="versions">{messages.common.versions}</Tabs.Tab>
          <Tabs.Tab value="permissions">{messages.module.permissions}</Tabs.Tab>
          {data.module.kyma && <Tabs.Tab value="history">{messages.common.history}</Tabs.Tab>}
          <Tabs.Tab value="events">{messages.common.events}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="parts" pt="md">
          <Parts data={data} path={path} />
        </Tabs.Panel>
        {/* An edit that has begun stays while another tab is shown. */}
        <Tabs.Panel value="configuration" pt="md" keepMounted={opened}>
          <ConfigurationTab data={data} path={path} />
        </Tabs.Panel>
        <Tabs.Panel value="versions" pt="md">
          <VersionsTab data={data} />
        </Tabs.Panel>
        <Tabs.Panel value="permissions" pt="md">
          <PermissionsTab data={data} />
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="md">
          {m.kyma && <HistoryTab data={data} />}
        </Tabs.Panel>
        <Tabs.Panel value="events" pt="md">
          <Events events={data.events} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function heading(state: string): string {
  switch (state) {
    case 'Processing':
      return messages.module.whatItIsWaitingFor
    case 'Deleting':
      return messages.module.whatTheDeletionIsWaitingFor
    case 'Unmanaged':
    case 'NotConfigured':
      return messages.module.whyItIsNotInUse
    default:
      return messages.module.whyItIsNotReady
  }
}

function Parts({ data, path }: { data: ModuleDetail; path: string }) {
  return (
    <div className="stack">
      {!data.access.runtime && (
        <Notice>
          <p>{messages.module.notReadAccessSecretKyma}</p>
        </Notice>
      )}
      <Part code={explorer}>{(Explorer) => <Explorer path={path} />}</Part>
    </div>
  )
}

function Facts({ data }: { data: ModuleDetail }) {
  const { module: m } = data
  return (
    <div className="grid grid-two">
      <section className="card pad" aria-label={messages.module.versionsAndState}>
        <dl className="facts">
          <dt>{messages.module.desiredVersion}</dt>
          <dd>
            <span className="mono">{m.version.desired || messages.common.none}</span>
            {m.channel ? ' ' + fill(messages.module.fromChannel, { channel: m.channel }) : ''}
          </dd>
          <dt>{messages.common.installedVersion}</dt>
          <dd>
            <span className={'mono' + (m.version.mismatch ? ' differs' : '')}>{m.version.installed || messages.module.noneYet}</span>
          </dd>
          {m.version.running && (
            <>
              <dt>{messages.module.runningVersion}</dt>
              <dd>
                <span className="mono differs">{m.version.running}</span>
                <span className="dim small"> {messages.module.operatorsImageLabelSays}</span>
              </dd>
            </>
          )}
          <dt>{messages.module.availableVersion}</dt>
          <dd>
            <span className={'mono' + (m.version.outdated ? ' newer' : '')}>{m.version.available || messages.common.none}</span>
          </dd>
          <dt>{messages.common.installation}</dt>
          <dd>
            <span className="row">
              <PhaseBadge state={m.installation.state} message={m.installation.message} />
              {m.installation.progress}{' '}
            </span>
          </dd>
          <dt>{messages.module.ownResource}</dt>
          <dd>
            <span className="row">
              <StateBadge state={m.module.state} message={m.module.message} />
              <span className="mono small">{m.resource ? refText(m.resource) : ''}</span>
            </span>
          </dd>
        </dl>
      </section>
      <section className="card pad stack tight" aria-label={messages.common.documentation}>
        <h2 className="flat">{messages.common.readMore}</h2>
        {data.documentation && (
          <p className="flat">
            <Outside to={data.documentation}>{messages.common.documentation}</Outside>
          </p>
        )}
        {(data.links ?? []).map((link, i) => (
          <p key={i} className="flat">
            <Outside to={link.link}>{link.name}</Outside>
          </p>
        ))}
        {!data.documentation && (data.links ?? []).length === 0 && <p className="dim flat">{messages.common.itsMakersGaveNoLinks}</p>}
        <p className="flat">
          <To to={`/catalog/${encodeURIComponent(m.name)}`}>{messages.common.inTheCatalog}</To>
        </p>
      </section>
    </div>
  )
}

function Buttons({ data }: { data: ModuleDetail }) {
  const { module: m, access } = data
  const [deed, setDeed] = useState<Deed | null>(null)
  const kyma = m.kyma ?? ''
  return (
    <>
      {isUpgradable(m) && (
        <UpgradeButton
          module={m}
          allowed={access.edit}
          onClick={() => setDeed({ kind: 'upgrade', items: [{ kyma, module: m.name, version: m.version.available, channel: '' }] })}
        />
      )}
      {m.type === 'managed' && kyma && !m.mandatory && (
        <ManageButton
          module={m}
          allowed={access.edit}
          onClick={() => setDeed({ kind: m.managed ? 'unmanage' : 'manage', kyma, module: m.name })}
        />
      )}
      <Action
        variant="default"
        to={moduleLink(kyma, m.name, '/delete')}
        allowed={access.delete && !m.mandatory}
        why={m.mandatory ? messages.module.mandatoryComesItselfCannotTaken : undefined}
        leftSection={<Trash2 size={16} aria-hidden />}
      >
        {messages.common.delete}
      </Action>
      <DeedModal
        title={titleOf(deed, m.name)}
        deed={deed}
        before={deed?.kind === 'upgrade' && <NextVersion module={m} />}
        close={() => setDeed(null)}
        danger={deed?.kind === 'unmanage'}
        verb={verbOf(deed)}
      />
    </>
  )
}

function ManageButton({ module: m, allowed, onClick }: { module: Module; allowed: boolean; onClick(): void }) {
  const going = m.state === 'Deleting'
  return (
    <Action variant="default" allowed={allowed && !going} why={going ? messages.module.itIsBeingRemoved : undefined} onClick={onClick}>
      {m.managed ? messages.module.stopManaging : messages.module.manage}
    </Action>
  )
}

/** NextVersion is what the version that is available may do and changes, before an upgrade. */
function NextVersion({ module: m }: { module: Module }) {
  const available = m.version.available ?? ''
  return (
    <ReviewOf title={fill(messages.module.whatMayDoAndChanges, { available })} of={reviewQuery(m.kyma ?? '', m.name, available)} eager />
  )
}

function UpgradeButton({ module: m, allowed, onClick }: { module: Module; allowed: boolean; onClick(): void }) {
  return (
    <Action
      allowed={allowed && !m.suspended && !m.offered}
      why={m.suspended ? suspendedMeans : m.offered ? offeredMeans : undefined}
      onClick={onClick}
    >
      {fill(messages.module.upgradeTo, { version: m.version.available ?? '' })}
    </Action>
  )
}

/** isUpgradable says that there is something to upgrade to; what waits for consent has a button of its own. */
const isUpgradable = (m: Module) => m.version.outdated && m.state !== 'Deleting' && !m.pending

function verbOf(deed: Deed | null): string {
  if (deed?.kind === 'unmanage') return messages.module.stopManaging
  return deed?.kind === 'manage' ? messages.module.manage : messages.common.upgrade
}

function titleOf(deed: Deed | null, name: string): string {
  switch (deed?.kind) {
    case 'unmanage':
      return fill(messages.module.stopManagingObjectsRunNo, { name })
    case 'manage':
      return fill(messages.module.manageName, { name })
    default:
      return fill(messages.module.upgradeName, { name })
  }
}
