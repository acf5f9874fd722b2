// Page 2, one Kyma: its modules, its conditions, and what can be changed.
import { Button, NativeSelect, Tabs } from '@mantine/core'
import { useState } from 'react'
import { useParams } from 'react-router'
import type { Deed, KymaDetail } from '../api'
import { DeedModal } from '../deeds/DeedModal'
import { Timeline } from '../history/Timeline'
import { KymaFixes } from '../kymas/Fixes'
import { KymaActions } from '../kymas/KymaActions'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Empty, Header, Notice, StateBadge, Tag } from '../parts/basics'
import { Ago, Conditions, Events } from '../parts/details'
import { useListState } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { ModuleTable } from '../parts/modules'
import { count, sentence } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

export function Page() {
  const { ns = '', kyma = '' } = useParams()
  const answer = useLive(query('/kymas/{ns}/{name}', { ns, name: kyma }))
  return (
    <>
      {!answer.data && <Header title={kyma} lead={ns} />}
      <Loaded answer={answer}>{(data) => <Body data={data} id={`${ns}/${kyma}`} />}</Loaded>
    </>
  )
}

function Body({ data, id }: { data: KymaDetail; id: string }) {
  const { kyma, access } = data
  const state = useListState()
  const [choosing, setChoosing] = useState(false)
  const modules = data.modules ?? []
  return (
    <>
      <Header
        title={kyma.name}
        badges={
          <>
            <StateBadge state={kyma.state} message={kyma.message} />
            {kyma.copy && <Tag>{messages.common.fromAHub}</Tag>}
            {data.suspended && (
              <Tag tone="warn" means={messages.kyma.lifecycleManagerLeavesUntilResumed}>
                {messages.common.suspended}
              </Tag>
            )}
            {kyma.release && (
              <Tag means={messages.kyma.modulesVersionsKymaReleaseUnlessName}>
                {fill(kyma.onRelease === kyma.release ? messages.kyma.releaseRelease : messages.kyma.releaseNotReachedYet, {
                  release: kyma.release,
                })}
              </Tag>
            )}
          </>
        }
        lead={fill(kyma.local ? messages.kyma.modulesInThisCluster : messages.kyma.modulesInAnotherCluster, { namespace: kyma.namespace })}
        actions={<KymaActions data={data} id={id} choose={() => setChoosing(true)} />}
      />
      {kyma.state !== 'Ready' && kyma.message && (
        <Notice tone={kyma.state === 'Error' ? 'bad' : kyma.state === 'Warning' ? 'warn' : 'busy'}>
          <p>{sentence(kyma.message)}</p>
        </Notice>
      )}
      <KymaFixes fixes={data.fixes ?? []} kyma={id} modules={modules} />
      {!access.secret && !kyma.local && (
        <Notice>
          <p>{messages.kyma.notReadAccessSecretKyma}</p>
        </Notice>
      )}
      <Tabs value={state.parameters.get('tab') ?? 'modules'} onChange={(tab) => state.set('tab', tab ?? undefined)} keepMounted={false}>
        <Tabs.List aria-label={messages.kyma.aboutThisKyma}>
          <Tabs.Tab value="modules">{fill(messages.kyma.modulesCount, { count: modules.length })}</Tabs.Tab>
          <Tabs.Tab value="status">{messages.common.status}</Tabs.Tab>
          <Tabs.Tab value="history">{messages.common.history}</Tabs.Tab>
          <Tabs.Tab value="events">{messages.common.events}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="modules" pt="md">
          {modules.length > 0 ? (
            <ModuleTable modules={modules} inKyma />
          ) : (
            <div className="card">
              <Empty
                title={messages.common.noModulesYet}
                action={
                  <Action to={`/add?kyma=${encodeURIComponent(id)}`} allowed={access.edit}>
                    {messages.common.addModules}
                  </Action>
                }
              >
                {messages.kyma.chooseClusterShouldLifecycleManager}
              </Empty>
            </div>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="status" pt="md">
          <Status data={data} />
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="md">
          <Timeline kyma={id} />
        </Tabs.Panel>
        <Tabs.Panel value="events" pt="md">
          <Events events={data.events} />
        </Tabs.Panel>
      </Tabs>
      <Channel data={data} id={id} open={choosing} close={() => setChoosing(false)} />
    </>
  )
}

function Status({ data }: { data: KymaDetail }) {
  const { kyma, spec } = data
  const last = data.lastOperation
  return (
    <div className="grid grid-two">
      <section className="card pad stack">
        <h2 className="flat">{messages.common.conditions}</h2>
        <Conditions conditions={data.conditions ?? kyma.conditions ?? []} />
      </section>
      <section className="card pad stack">
        <h2 className="flat">{messages.kyma.details}</h2>
        <dl className="facts">
          <dt>{messages.common.channel}</dt>
          <dd>{kyma.channel}</dd>
          <dt>{messages.common.modulesReady}</dt>
          <dd>{kyma.modules}</dd>
          <dt>{messages.common.upgrades}</dt>
          <dd>{kyma.outdated === 0 ? messages.common.none : count(kyma.outdated, messages.nouns.module)}</dd>
          <dt>{messages.kyma.maintenance}</dt>
          <dd>{spec.skipMaintenanceWindows ? messages.kyma.upgradesStartAtOnce : messages.kyma.upgradesStopModuleWaitWindow}</dd>
          <dt>{messages.common.created}</dt>
          <dd>
            <Ago at={kyma.created} />
          </dd>
          {last && (
            <>
              <dt>{messages.kyma.lastOperation}</dt>
              <dd>
                {typeof last === 'string' ? (
                  last
                ) : (
                  <>
                    {sentence(last.operation)} <Ago at={last.lastUpdateTime} />
                  </>
                )}
              </dd>
            </>
          )}
        </dl>
      </section>
    </div>
  )
}

function Channel({ data, id, open, close }: { data: KymaDetail; id: string; open: boolean; close: () => void }) {
  const channels = [...new Set([data.kyma.channel, ...(data.channels ?? [])])]
  const [channel, setChannel] = useState(channels.find((c) => c !== data.kyma.channel) ?? data.kyma.channel)
  const deed: Deed = { kind: 'channel', kyma: id, module: '', channel }
  const [sure, setSure] = useState(false)
  const end = () => {
    setSure(false)
    close()
  }
  const ask = (
    <section className="stack" aria-label={messages.kyma.changeTheChannel}>
      <p className="dim flat">{messages.kyma.everyModuleWithoutChannelVersion}</p>
      <NativeSelect
        label={messages.common.channel}
        value={channel}
        data={channels}
        maw={300}
        data-autofocus
        onChange={(event) => setChannel(event.currentTarget.value)}
      />
      <div className="row">
        <Button disabled={channel === data.kyma.channel} onClick={() => setSure(true)}>
          {messages.common.seeWhatWouldChange}
        </Button>
        <Button variant="default" onClick={end}>
          {messages.common.cancel}
        </Button>
      </div>
    </section>
  )
  return (
    <DeedModal
      title={
        sure
          ? fill(messages.kyma.channelFor, { channel, name: data.kyma.name })
          : fill(messages.kyma.whichChannelShouldFollow, { name: data.kyma.name })
      }
      verb={messages.kyma.changeTheChannel}
      deed={open && sure ? deed : null}
      ask={open && ask}
      close={end}
    />
  )
}
