// A new Kyma: where, which versions, which modules, which cluster; see what would be made; then watch.
import { Button, Checkbox, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useCallback, useEffect, useState, type ReactNode } from 'react'
import { useLocation, useNavigate } from 'react-router'
import type { JsonObject } from '../api'
import { useDrafts } from '../app/drafts'
import { kept, useDirty } from '../app/leaving'
import { useFollow } from '../deeds/place'
import { ReviewPanel } from '../deeds/ReviewPanel'
import { Pairs } from '../form/Pairs'
import type { NewKyma, NewKymaPlace } from '../api'
import {
  begin,
  begun,
  deedOf,
  hinders,
  inPlace,
  lacking,
  plain,
  restored,
  settled,
  versionIn,
  wrongLabel,
  wrongName,
  type Form,
} from '../kymas/form'
import { Kubeconfig } from '../kymas/Kubeconfig'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Header, NotRead, Notice } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { sentence } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

/** Place is what an entry of the history says of the page: which draft, and whether it is looked at. */
interface Place {
  draft?: string
  review?: boolean
}

/** Page begins again when this address is opened again; the form and the look at it are entries of the history. */
export function Page() {
  const { key, state } = useLocation()
  const place = (state as Place | null) ?? {}
  const draft = place.draft ?? key
  const answer = useLive(query('/newkyma'), true)
  return (
    <>
      <Header title={messages.common.newKyma} lead={messages.common.nothingChangedBeforeLastStep} />
      <Loaded answer={answer} rows={6}>
        {(data) => <Allowed key={draft} data={data} draft={draft} review={Boolean(place.review)} />}
      </Loaded>
    </>
  )
}

function Allowed({ data, draft, review }: { data: NewKyma; draft: string; review: boolean }) {
  if (!data.allowed) {
    return (
      <Notice tone="warn" title={messages.newKyma.youCannotCreateAKymaHere}>
        <p>{sentence(data.why)}</p>
      </Notice>
    )
  }
  return (
    <>
      <NotRead unread={data.unread} />
      <Making places={data.namespaces ?? []} draft={'new-kyma ' + draft} id={draft} review={review} />
    </>
  )
}

function Making({ places, draft, id, review }: { places: NewKymaPlace[]; draft: string; id: string; review: boolean }) {
  const drafts = useDrafts()
  const navigate = useNavigate()
  const follow = useFollow()
  const [form, setForm] = useState<Form>(() => drafts.get<Form>(draft) ?? restored(drafts.stored(draft)) ?? begin(places))
  const place = places.find((one) => one.namespace === form.namespace)
  const hindered = hinders(form, place)
  const looking = review && hindered === ''
  useEffect(() => {
    if (begun(form)) drafts.keep(draft, form, plain(form))
    else drafts.forget(draft)
  }, [drafts, draft, form])
  useDirty(begun(form), kept)
  const change = useCallback((over: Partial<Form>) => setForm((now) => ({ ...now, ...over })), [])
  if (looking) {
    return (
      <section className="stack" aria-label={messages.newKyma.checkAndCreate}>
        <h2 className="flat">{messages.newKyma.checkAndCreate}</h2>
        <ReviewPanel
          deeds={[deedOf(form)]}
          verb={messages.newKyma.createTheKyma}
          started={(operations, refused) => {
            drafts.forget(draft)
            follow(operations, refused)
          }}
          back={
            <Button variant="default" onClick={() => void navigate(-1)}>
              {messages.common.back}
            </Button>
          }
        />
      </section>
    )
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (hindered === '') void navigate({ pathname: '/kymas/new' }, { state: { draft: id, review: true } satisfies Place })
      }}
    >
      <Which form={form} place={place} places={places} set={setForm} change={change} />
      <Versions form={form} place={place} set={setForm} />
      <Modules form={form} place={place} change={change} />
      <Cluster form={form} place={place} change={change} />
      <More form={form} change={change} />
      <div className="row">
        <Button type="submit" disabled={hindered !== ''}>
          {messages.newKyma.seeWhatWouldBeMade}
        </Button>
        {hindered && <span className="dim small">{hindered}</span>}
      </div>
    </form>
  )
}

interface Part {
  form: Form
  place: NewKymaPlace | undefined
  change(over: Partial<Form>): void
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card pad stack" aria-label={title}>
      <h2 className="flat">{title}</h2>
      {children}
    </section>
  )
}

function Which({ form, place, places, set, change }: Part & { places: NewKymaPlace[]; set(form: Form): void }) {
  const wrong = form.name === '' ? '' : wrongName(form, place)
  return (
    <Card title={messages.common.name}>
      <TextInput
        label={messages.common.name}
        required
        maw={420}
        autoComplete="off"
        spellCheck={false}
        value={form.name}
        error={wrong}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <NativeSelect
        label={messages.common.namespace}
        maw={420}
        value={form.namespace}
        data={places.map((one) => one.namespace)}
        onChange={(event) =>
          set(
            inPlace(
              form,
              places.find((one) => one.namespace === event.currentTarget.value),
            ),
          )
        }
      />
    </Card>
  )
}

function Versions({ form, place, set }: { form: Form; place: NewKymaPlace | undefined; set(form: Form): void }) {
  const channels = place?.channels ?? []
  const releases = place?.releases ?? []
  const choices = [
    ...(channels.length > 0 ? channels : [form.channel]).map((name) => ({
      value: 'channel ' + name,
      label: fill(messages.common.channelName, { name }),
    })),
    ...releases.map((name) => ({ value: 'release ' + name, label: fill(messages.newKyma.releaseName, { name }) })),
  ]
  const choose = (value: string) => {
    const [kind, name = ''] = value.split(' ')
    set(settled({ ...form, channel: kind === 'channel' ? name : '', release: kind === 'release' ? name : '' }, place))
  }
  return (
    <Card title={messages.common.versions}>
      <NativeSelect
        label={messages.newKyma.whereVersionsModulesCome}
        description={messages.newKyma.singleModulesFollowAnotherChannel}
        maw={420}
        value={form.release ? 'release ' + form.release : 'channel ' + form.channel}
        data={choices}
        onChange={(event) => choose(event.currentTarget.value)}
      />
    </Card>
  )
}

function Modules({ form, place, change }: Part) {
  const modules = place?.modules ?? []
  const toggle = (name: string, on: boolean) =>
    change({ modules: on ? [...form.modules, name] : form.modules.filter((one) => one !== name) })
  return (
    <Card title={messages.common.modules}>
      {modules.length === 0 && <p className="dim flat">{messages.newKyma.namespaceOffersNoModulesAdded}</p>}
      {modules.map((module) => {
        const why = lacking(form, module)
        return (
          <Checkbox
            key={module.name}
            label={module.name}
            description={
              why ||
              (form.release
                ? messages.newKyma.inTheVersionOfTheRelease
                : fill(messages.newKyma.inVersion, { version: versionIn(form, module) }))
            }
            checked={form.modules.includes(module.name)}
            disabled={why !== ''}
            onChange={(event) => toggle(module.name, event.currentTarget.checked)}
          />
        )
      })}
    </Card>
  )
}

function Cluster({ form, place, change }: Part) {
  return (
    <Card title={messages.common.cluster}>
      <Radio.Group
        label={messages.newKyma.whereItsModulesGo}
        description={messages.newKyma.thisCannotBeChangedLater}
        value={form.local ? 'here' : 'there'}
        onChange={(value) => change({ local: value === 'here' })}
      >
        <div className="stack tight">
          <Radio value="there" label={messages.newKyma.anotherCluster} description={messages.newKyma.lifecycleManagerReachesKubeconfig} />
          <Radio value="here" label={messages.common.thisCluster} description={messages.newKyma.modulesInstalledBesideLifecycleManager} />
        </div>
      </Radio.Group>
      {!form.local &&
        (place?.connect ? (
          <Kubeconfig
            value={form.kubeconfig}
            set={(kubeconfig) => change({ kubeconfig })}
            help={messages.newKyma.leaveEmptyConnectKymaLater}
          />
        ) : (
          <Notice>
            <p>{messages.newKyma.notWriteSecretsNamespaceAnother}</p>
          </Notice>
        ))}
    </Card>
  )
}

const labelsField = {
  name: 'labels',
  path: ['labels'],
  kind: 'map' as const,
  label: messages.common.labels,
  help: messages.newKyma.labelsKymasFoundRolloutsRestricted,
  required: false,
  schema: {},
}

function More({ form, change }: { form: Form; change(over: Partial<Form>): void }) {
  const wrong = wrongLabel(form)
  return (
    <Card title={messages.newKyma.labelsAndMaintenance}>
      <Pairs field={labelsField} value={form.labels} set={(labels) => change({ labels: (labels ?? {}) as JsonObject })} />
      {wrong && Object.keys(form.labels).some(Boolean) && <p className="small flat">{wrong}</p>}
      <Checkbox
        label={messages.newKyma.upgradesWithDowntimeBeginAtOnce}
        description={messages.newKyma.otherwiseWaitMaintenanceWindow}
        checked={form.now}
        onChange={(event) => change({ now: event.currentTarget.checked })}
      />
    </Card>
  )
}
