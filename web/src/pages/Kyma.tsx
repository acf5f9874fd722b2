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
            {kyma.copy && <Tag>From a hub</Tag>}
            {data.suspended && (
              <Tag tone="warn" means="The lifecycle manager leaves it as it is until it is resumed.">
                Suspended
              </Tag>
            )}
            {kyma.release && (
              <Tag means="Its modules have the versions of this KymaRelease, unless they name a channel or a version of their own.">
                Release {kyma.release}
                {kyma.onRelease !== kyma.release && ', not reached yet'}
              </Tag>
            )}
          </>
        }
        lead={`Kyma in namespace ${kyma.namespace}. Its modules are in ${kyma.local ? 'this' : 'another'} cluster.`}
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
          <p>You may not read the access Secret of this Kyma, so what lies in its cluster is not shown: only what the hub knows of it.</p>
        </Notice>
      )}
      <Tabs value={state.parameters.get('tab') ?? 'modules'} onChange={(tab) => state.set('tab', tab ?? undefined)} keepMounted={false}>
        <Tabs.List aria-label="About this Kyma">
          <Tabs.Tab value="modules">Modules ({modules.length})</Tabs.Tab>
          <Tabs.Tab value="status">Status</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
          <Tabs.Tab value="events">Events</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="modules" pt="md">
          {modules.length > 0 ? (
            <ModuleTable modules={modules} inKyma />
          ) : (
            <div className="card">
              <Empty
                title="No modules yet"
                action={
                  <Action to={`/add?kyma=${encodeURIComponent(id)}`} allowed={access.edit}>
                    Add modules
                  </Action>
                }
              >
                Choose what this cluster should have. The lifecycle manager does the rest.
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
        <h2 className="flat">Conditions</h2>
        <Conditions conditions={data.conditions ?? kyma.conditions ?? []} />
      </section>
      <section className="card pad stack">
        <h2 className="flat">Facts</h2>
        <dl className="facts">
          <dt>Channel</dt>
          <dd>{kyma.channel}</dd>
          <dt>Modules ready</dt>
          <dd>{kyma.modules}</dd>
          <dt>Upgrades</dt>
          <dd>{kyma.outdated === 0 ? 'none' : count(kyma.outdated, 'module')}</dd>
          <dt>Maintenance</dt>
          <dd>{spec.skipMaintenanceWindows ? 'upgrades start at once' : 'upgrades that stop a module wait for the window'}</dd>
          <dt>Created</dt>
          <dd>
            <Ago at={kyma.created} />
          </dd>
          {last && (
            <>
              <dt>Last operation</dt>
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
    <section className="stack" aria-label="Change the channel">
      <p className="dim flat">
        Every module without a channel or version of its own then comes in the version that this channel offers. Versions never go down by
        that.
      </p>
      <NativeSelect
        label="Channel"
        value={channel}
        data={channels}
        maw={300}
        data-autofocus
        onChange={(event) => setChannel(event.currentTarget.value)}
      />
      <div className="row">
        <Button disabled={channel === data.kyma.channel} onClick={() => setSure(true)}>
          See what would change
        </Button>
        <Button variant="default" onClick={end}>
          Cancel
        </Button>
      </div>
    </section>
  )
  return (
    <DeedModal
      title={sure ? `Channel ${channel} for ${data.kyma.name}` : `Which channel should ${data.kyma.name} follow?`}
      verb="Change the channel"
      deed={open && sure ? deed : null}
      ask={open && ask}
      close={end}
    />
  )
}
