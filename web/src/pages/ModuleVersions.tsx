// Which versions of a module there are, which channel offers which, and how to get another one.
import { useState } from 'react'
import type { Deed, ModuleDetail, OfferVersion } from '../api'
import { DeedModal } from '../deeds/DeedModal'
import { reviewQuery } from '../live/moduleQueries'
import { Action, Empty, Tag } from '../parts/basics'
import { Table } from '../parts/list'
import { ReviewOf } from '../review/ReviewOf'
import { StrategyLine } from './ModuleConsent'
import { fill } from '../fill'
import { messages } from '../messages'

const columns = [
  { key: 'version', label: messages.common.version },
  { key: 'channels', label: messages.common.channels },
  { key: 'notes', label: messages.common.notes },
  { key: 'action', label: messages.common.change, hidden: true },
]

/** lower returns the versions below the installed one, which cannot be chosen. Versions come newest first. */
export function lower(versions: OfferVersion[], installed: string | undefined): Set<string> {
  const at = versions.findIndex((v) => v.version === installed)
  return new Set(at < 0 ? [] : versions.slice(at + 1).map((v) => v.version))
}

/** Compared is what another version of a module without a Kyma changes. */
function Compared({ name, version }: { name: string; version: string }) {
  return <ReviewOf title={fill(messages.moduleVersions.whatMayDoAndChanges, { version })} of={reviewQuery('', name, version)} eager />
}

export function VersionsTab({ data }: { data: ModuleDetail }) {
  const [deed, setDeed] = useState<Deed | null>(null)
  const { module: m } = data
  const versions = data.versions ?? []
  const below = lower(versions, m.version.installed)
  if (versions.length === 0) {
    return (
      <div className="card">
        <Empty title={messages.moduleVersions.noVersions}>{messages.moduleVersions.nothingDescribesVersionsInstalledRuns}</Empty>
      </div>
    )
  }
  const change = (version: string, channel: string) => {
    const kyma = m.kyma ?? ''
    setDeed(
      kyma
        ? { kind: 'channel', kyma, module: m.name, ...(channel ? { channel } : { version }) }
        : { kind: 'upgrade', items: [{ kyma: '', module: m.name, version, channel: '' }] },
    )
  }
  return (
    <div className="stack tight">
      <p className="dim flat">{messages.moduleVersions.moduleFollowsChannelUpgradedItself}</p>
      <StrategyLine data={data} />
      <Table label={messages.common.versions} columns={columns}>
        {versions.map((v) => (
          <tr key={v.version}>
            <td className="lead">
              <strong className="mono">{v.version}</strong>
            </td>
            <td data-label={messages.common.channels}>
              <span className="row">
                {(v.channels ?? []).map((channel) => (
                  <Tag key={channel} tone={channel === m.channel ? 'strong' : undefined}>
                    {channel}
                  </Tag>
                ))}
              </span>
            </td>
            <td data-label={messages.common.notes}>
              <span className="row">
                {v.version === m.version.installed && <Tag tone="strong">{messages.moduleVersions.installed}</Tag>}
                {v.beta && <Tag tone="warn">{messages.common.beta}</Tag>}
                {v.requiresDowntime && (
                  <Tag means={messages.moduleVersions.moduleStopsMomentWaitsMaintenance}>{messages.common.needsDowntime}</Tag>
                )}
              </span>
            </td>
            <td>
              <span className="row end">
                {(v.channels ?? [])
                  .filter((channel) => m.kyma && channel !== m.channel && !below.has(v.version))
                  .map((channel) => (
                    <Action key={channel} size="compact-sm" variant="light" allowed={data.access.edit} onClick={() => change('', channel)}>
                      {fill(messages.moduleVersions.useChannel, { channel })}
                    </Action>
                  ))}
                {!below.has(v.version) && (v.version !== m.version.installed || (m.channel && m.kyma)) && (
                  <Action size="compact-sm" variant="default" allowed={data.access.edit} onClick={() => change(v.version, '')}>
                    {m.kyma ? messages.moduleVersions.pin : messages.moduleVersions.install} {v.version}
                  </Action>
                )}
              </span>
            </td>
          </tr>
        ))}
      </Table>
      <DeedModal
        title={fill(messages.moduleVersions.anotherVersionOf, { name: m.name })}
        verb={messages.moduleVersions.changeTheVersion}
        deed={deed}
        version={deed?.kind === 'channel' ? data.channels?.find(({ channel }) => channel === deed.channel)?.version : undefined}
        before={deed?.kind === 'upgrade' && <Compared name={m.name} version={deed.items[0]?.version ?? ''} />}
        close={() => setDeed(null)}
      />
    </div>
  )
}
