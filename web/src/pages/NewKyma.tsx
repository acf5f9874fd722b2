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
      <Header title="New Kyma" lead="Nothing is changed before the last step." />
      <Loaded answer={answer} rows={6}>
        {(data) => <Allowed key={draft} data={data} draft={draft} review={Boolean(place.review)} />}
      </Loaded>
    </>
  )
}

function Allowed({ data, draft, review }: { data: NewKyma; draft: string; review: boolean }) {
  if (!data.allowed) {
    return (
      <Notice tone="warn" title="You cannot create a Kyma here">
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
      <section className="stack" aria-label="Check and create">
        <h2 className="flat">Check and create</h2>
        <ReviewPanel
          deeds={[deedOf(form)]}
          verb="Create the Kyma"
          started={(operations, refused) => {
            drafts.forget(draft)
            follow(operations, refused)
          }}
          back={
            <Button variant="default" onClick={() => void navigate(-1)}>
              Back
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
          See what would be made
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
    <Card title="Name">
      <TextInput
        label="Name"
        required
        maw={420}
        autoComplete="off"
        spellCheck={false}
        value={form.name}
        error={wrong}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <NativeSelect
        label="Namespace"
        maw={420}
        value={form.namespace}
        data={places.map((one) => one.namespace)}
        onChange={(event) => set(inPlace(form, places.find((one) => one.namespace === event.currentTarget.value)))}
      />
    </Card>
  )
}

function Versions({ form, place, set }: { form: Form; place: NewKymaPlace | undefined; set(form: Form): void }) {
  const channels = place?.channels ?? []
  const releases = place?.releases ?? []
  const choices = [
    ...(channels.length > 0 ? channels : [form.channel]).map((name) => ({ value: 'channel ' + name, label: `Channel ${name}` })),
    ...releases.map((name) => ({ value: 'release ' + name, label: `Release ${name}` })),
  ]
  const choose = (value: string) => {
    const [kind, name = ''] = value.split(' ')
    set(settled({ ...form, channel: kind === 'channel' ? name : '', release: kind === 'release' ? name : '' }, place))
  }
  return (
    <Card title="Versions">
      <NativeSelect
        label="Where the versions of its modules come from"
        description="Single modules can follow another channel, or stay at a version, later."
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
    <Card title="Modules">
      {modules.length === 0 && <p className="dim flat">This namespace offers no modules. They can be added later.</p>}
      {modules.map((module) => {
        const why = lacking(form, module)
        return (
          <Checkbox
            key={module.name}
            label={module.name}
            description={why || (form.release ? 'in the version of the release' : `version ${versionIn(form, module)}`)}
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
    <Card title="Cluster">
      <Radio.Group
        label="Where its modules go"
        description="This cannot be changed later."
        value={form.local ? 'here' : 'there'}
        onChange={(value) => change({ local: value === 'here' })}
      >
        <div className="stack tight">
          <Radio value="there" label="Another cluster" description="The lifecycle manager reaches it with a kubeconfig." />
          <Radio
            value="here"
            label="This cluster"
            description="The modules are installed beside the lifecycle manager, as its administrator."
          />
        </div>
      </Radio.Group>
      {!form.local &&
        (place?.connect ? (
          <Kubeconfig
            value={form.kubeconfig}
            set={(kubeconfig) => change({ kubeconfig })}
            help="Leave it empty to connect the Kyma later: nothing is installed until then."
          />
        ) : (
          <Notice>
            <p>You may not write Secrets in this namespace, so that another user connects the Kyma: nothing is installed until then.</p>
          </Notice>
        ))}
    </Card>
  )
}

const labelsField = {
  name: 'labels',
  path: ['labels'],
  kind: 'map' as const,
  label: 'Labels',
  help: 'By labels, Kymas are found, and rollouts and restricted modules choose theirs.',
  required: false,
  schema: {},
}

function More({ form, change }: { form: Form; change(over: Partial<Form>): void }) {
  const wrong = wrongLabel(form)
  return (
    <Card title="Labels and maintenance">
      <Pairs field={labelsField} value={form.labels} set={(labels) => change({ labels: (labels ?? {}) as JsonObject })} />
      {wrong && Object.keys(form.labels).some(Boolean) && <p className="small flat">{wrong}</p>}
      <Checkbox
        label="Upgrades with downtime begin at once"
        description="Otherwise they wait for a maintenance window."
        checked={form.now}
        onChange={(event) => change({ now: event.currentTarget.checked })}
      />
    </Card>
  )
}
