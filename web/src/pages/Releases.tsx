// Page 10: which channel offers which version of each module, and how to change that.
import { Rocket } from 'lucide-react'
import { useState } from 'react'
import type { Release, Releases } from '../api'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Avatar, Empty, Header, hidden, Notice, NotRead, Tag, To, Unseen } from '../parts/basics'
import { Table } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { TextSearch } from '../parts/search'
import { Promotion, wishFor, type Wish } from '../rollouts/Promotion'
import { sentence } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

export function Page() {
  const answer = useLive(query('/releases'))
  const [search, setSearch] = useState('')
  return (
    <>
      <Header title={messages.common.releases} lead={messages.releases.everyChannelOffersOneVersion} />
      <TextSearch label={messages.releases.searchReleases} value={search} change={setSearch} />
      <Loaded answer={answer}>{(data) => <Body data={data} search={search.trim().toLowerCase()} />}</Loaded>
    </>
  )
}

const most = 200

function Body({ data, search }: { data: Releases; search: string }) {
  const [wish, setWish] = useState<Wish>()
  const channels = data.channels ?? []
  const items = (data.items ?? []).filter((release) => release.name.toLowerCase().includes(search))
  const columns = [
    { key: 'name', label: messages.common.module },
    ...channels.map((channel) => ({ key: 'c-' + channel, label: channel })),
    { key: 'edit', label: messages.common.change, hidden: true },
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
      <Table label={messages.common.releases} columns={columns}>
        {items.slice(0, most).map((release) => (
          <Row
            key={`${release.namespace}/${release.name}`}
            release={release}
            channels={channels}
            edit={() => setWish(wishFor(release, channels))}
          />
        ))}
      </Table>
      {items.length > most && <p className="dim flat">{fill(messages.releases.moreSearchOneMean, { count: items.length - most })}</p>}
      <Promotion wish={wish} channels={channels} change={setWish} />
    </>
  )
}

function NoRelease({ search }: { search: string }) {
  return (
    <Empty icon={<Rocket size={40} aria-hidden />} title={search ? messages.releases.noMatchingReleases : messages.releases.noReleasesYet}>
      {search ? '' : messages.releases.releaseSaysChannelOffersVersion}
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
            {release.mandatory && (
              <Tag means={messages.releases.everyKymaGetsVersionItself}>
                {fill(messages.releases.mandatoryVersion, { version: release.mandatory })}
              </Tag>
            )}
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
            {messages.common.change}
            <span className="hidden-text"> {release.name}</span>
          </Action>
        )}
      </td>
    </tr>
  )
}
