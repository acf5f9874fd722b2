// Page 10: which channel offers which version of each module, and how to change that.
import { Button, NativeSelect } from '@mantine/core'
import { Rocket } from 'lucide-react'
import { useState } from 'react'
import type { Deed, Release, Releases } from '../api'
import { DeedModal } from '../deeds/DeedModal'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Avatar, Empty, Header, hidden, Notice, NotRead, Tag, To, Unseen } from '../parts/basics'
import { Table } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { TextSearch } from '../parts/search'
import { ForecastView } from '../review/Forecast'
import { lower } from '../versions'
import { count, sentence } from '../words'

export function Page() {
  const answer = useLive(query('/releases'))
  const [search, setSearch] = useState('')
  return (
    <>
      <Header title="Releases" lead="Every channel offers one version of a module. Its Kymas are upgraded automatically." />
      <TextSearch label="Search releases" value={search} change={setSearch} />
      <Loaded answer={answer}>{(data) => <Body data={data} search={search.trim().toLowerCase()} />}</Loaded>
    </>
  )
}

interface Wish {
  release: Release
  channel: string
  version: string
}

const most = 200

function Body({ data, search }: { data: Releases; search: string }) {
  const [wish, setWish] = useState<Wish>()
  const [sure, setSure] = useState(false)
  const channels = data.channels ?? []
  const items = (data.items ?? []).filter((release) => release.name.toLowerCase().includes(search))
  const deed: Deed | null =
    sure && wish
      ? { kind: 'promote', release: `${wish.release.namespace}/${wish.release.name}`, channel: wish.channel, version: wish.version }
      : null
  const close = () => {
    setSure(false)
    setWish(undefined)
  }
  const columns = [
    { key: 'name', label: 'Module' },
    ...channels.map((channel) => ({ key: 'c-' + channel, label: channel })),
    { key: 'edit', label: 'Change', hidden: true },
  ]
  if (items.length === 0) {
    return (
      <>
        <NotRead unread={data.unread} />
        <div className="card">
          {!search && hidden(data.unread, 'ModuleReleaseMeta', 'ModuleTemplate') ? <Unseen /> : <NoRelease search={search} />}
        </div>
      </>
    )
  }
  return (
    <>
      <NotRead unread={data.unread} />
      <Table label="Releases" columns={columns}>
        {items.slice(0, most).map((release) => (
          <Row
            key={`${release.namespace}/${release.name}`}
            release={release}
            channels={channels}
            edit={() => setWish({ release, channel: channels[0] ?? '', version: release.versions?.[0] ?? '' })}
          />
        ))}
      </Table>
      {items.length > most && <p className="dim flat">And {items.length - most} more: search for the one that you mean.</p>}
      <DeedModal
        title={wish ? titleOf(wish, sure) : ''}
        verb="Offer this version"
        deed={deed}
        before={deed && wish && <Foretold wish={wish} />}
        ask={wish && <Promote wish={wish} channels={channels} change={setWish} close={close} go={() => setSure(true)} />}
        close={close}
      />
    </>
  )
}

/** titleOf is the head of the dialog: the question, and then what was chosen. */
function titleOf({ release, channel, version }: Wish, sure: boolean): string {
  if (sure) return `Let channel ${channel} of ${release.name} offer ${version}?`
  return `${release.name}: which version should a channel offer?`
}

/** Foretold is what a promotion would do. It is worked out while the user reads on: nothing waits for it. */
function Foretold({ wish: { release, channel, version } }: { wish: Wish }) {
  const of = { ns: release.namespace, name: release.name, channel, version }
  return <ForecastView answer={useLive(query('/releases/{ns}/{name}/forecast', of))} />
}

function NoRelease({ search }: { search: string }) {
  return (
    <Empty icon={<Rocket size={40} aria-hidden />} title={search ? 'No matching releases' : 'No releases yet'}>
      {search
        ? ''
        : 'A release says which channel offers which version of a module. Authors of modules publish one with kyma release set.'}
    </Empty>
  )
}

function Row({ release, channels, edit }: { release: Release; channels: string[]; edit: () => void }) {
  return (
    <tr>
      <td className="lead">
        <div className="name-cell">
          <Avatar name={release.name} />
          <div>
            <To to={`/catalog/${encodeURIComponent(release.name)}`}>
              <strong>{release.name}</strong>
            </To>
            <div className="dim small">{release.namespace}</div>
            {release.mandatory && <Tag means="Every Kyma gets this version by itself.">Mandatory {release.mandatory}</Tag>}
            {(release.problems ?? []).map((problem, i) => (
              <Notice key={i} tone="warn">
                <p>{sentence(problem)}</p>
              </Notice>
            ))}
          </div>
        </div>
      </td>
      {channels.map((channel) => {
        const version = release.channels && Object.hasOwn(release.channels, channel) ? release.channels[channel] : ''
        return (
          <td key={channel} data-label={channel} className="mono">
            {version || <span className="dim">–</span>}
          </td>
        )
      })}
      <td>
        {!release.mandatory && (
          <Action size="compact-sm" variant="default" allowed={release.access.edit} onClick={edit}>
            Change<span className="hidden-text"> {release.name}</span>
          </Action>
        )}
      </td>
    </tr>
  )
}

interface PromoteProps {
  wish: Wish
  channels: string[]
  change: (wish: Wish) => void
  close: () => void
  go: () => void
}

function Promote({ wish, channels, change, close, go }: PromoteProps) {
  const now = wish.release.channels?.[wish.channel]
  return (
    <section className="stack" aria-label={`Change ${wish.release.name}`}>
      <div className="row top">
        <NativeSelect
          label="Channel"
          data-autofocus
          value={wish.channel}
          data={channels}
          onChange={(event) => change({ ...wish, channel: event.currentTarget.value })}
        />
        <NativeSelect
          label="Version"
          value={wish.version}
          data={wish.release.versions ?? []}
          onChange={(event) => change({ ...wish, version: event.currentTarget.value })}
        />
      </div>
      <Outcome release={wish.release} version={wish.version} now={now} />
      <div className="row">
        <Button disabled={!wish.version || wish.version === now} onClick={go}>
          See what would change
        </Button>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
      </div>
    </section>
  )
}

/** Outcome shows the effect of the choice before it is requested. */
function Outcome({ release, version, now }: { release: Release; version: string; now?: string }) {
  if (!now || !lower(version, now)) {
    return (
      <p className="dim flat">
        {now ? `The channel offers ${now} now.` : 'The channel offers nothing yet.'} Every module that follows it is upgraded soon after.
      </p>
    )
  }
  const keep = above(release.installed ?? {}, version)
  return (
    <Notice tone="warn" title={`${version} is lower than ${now}`}>
      <p>
        This does not downgrade. An installed module keeps its version, and its Kyma is in state Warning as long as the channel
        that it follows offers a lower one. Only who does not have {release.name} yet would get {version}.
        {keep > 0 && ` A higher version is installed ${count(keep, 'time')} now.`}
      </p>
      <p>To roll back every Kyma, publish the good content as a version higher than {now}, and assign it to the channel.</p>
    </Notice>
  )
}

/** above counts the installations of a higher version. */
export function above(installed: Record<string, number>, version: string): number {
  return Object.entries(installed).reduce((n, [has, of]) => (lower(version, has) ? n + of : n), 0)
}
