// Which versions of a module there are, which channel offers which, and how to get another one.
import { useState } from 'react'
import type { Deed, ModuleDetail, OfferVersion } from '../api'
import { DeedModal } from '../deeds/DeedModal'
import { reviewQuery } from '../live/moduleQueries'
import { Action, Empty, Tag } from '../parts/basics'
import { Table } from '../parts/list'
import { ReviewOf } from '../review/ReviewOf'
import { StrategyLine } from './ModuleConsent'

const columns = [
  { key: 'version', label: 'Version' },
  { key: 'channels', label: 'Channels' },
  { key: 'notes', label: 'Notes' },
  { key: 'action', label: 'Change', hidden: true },
]

/** lower returns the versions below the installed one, which cannot be chosen. Versions come newest first. */
export function lower(versions: OfferVersion[], installed: string | undefined): Set<string> {
  const at = versions.findIndex((v) => v.version === installed)
  return new Set(at < 0 ? [] : versions.slice(at + 1).map((v) => v.version))
}

/** Compared is what another version of a module without a Kyma changes. */
function Compared({ name, version }: { name: string; version: string }) {
  return <ReviewOf title={`What ${version} may do and changes`} of={reviewQuery('', name, version)} eager />
}

export function VersionsTab({ data }: { data: ModuleDetail }) {
  const [deed, setDeed] = useState<Deed | null>(null)
  const { module: m } = data
  const versions = data.versions ?? []
  const below = lower(versions, m.version.installed)
  if (versions.length === 0) {
    return (
      <div className="card">
        <Empty title="No versions">Nothing describes which versions there are. What is installed runs on.</Empty>
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
      <p className="dim flat">
        A module that follows a channel is upgraded by itself. One with a fixed version stays there. Versions never go down: delete and
        add the module for that.
      </p>
      <StrategyLine data={data} />
      <Table label="Versions" columns={columns}>
        {versions.map((v) => (
          <tr key={v.version}>
            <td className="lead">
              <strong className="mono">{v.version}</strong>
            </td>
            <td data-label="Channels">
              <span className="row">
                {(v.channels ?? []).map((channel) => (
                  <Tag key={channel} tone={channel === m.channel ? 'strong' : undefined}>
                    {channel}
                  </Tag>
                ))}
              </span>
            </td>
            <td data-label="Notes">
              <span className="row">
                {v.version === m.version.installed && <Tag tone="strong">installed</Tag>}
                {v.beta && <Tag tone="warn">Beta</Tag>}
                {v.requiresDowntime && (
                  <Tag means="The module stops for a moment: it waits for the maintenance window.">Needs downtime</Tag>
                )}
              </span>
            </td>
            <td>
              <span className="row end">
                {(v.channels ?? [])
                  .filter((channel) => m.kyma && channel !== m.channel && !below.has(v.version))
                  .map((channel) => (
                    <Action
                      key={channel}
                      size="compact-sm"
                      variant="light"
                      allowed={data.access.edit}
                      onClick={() => change('', channel)}
                    >
                      Use channel {channel}
                    </Action>
                  ))}
                {!below.has(v.version) && (v.version !== m.version.installed || (m.channel && m.kyma)) && (
                  <Action size="compact-sm" variant="default" allowed={data.access.edit} onClick={() => change(v.version, '')}>
                    {m.kyma ? 'Pin' : 'Install'} {v.version}
                  </Action>
                )}
              </span>
            </td>
          </tr>
        ))}
      </Table>
      <DeedModal
        title={`Another version of ${m.name}`}
        verb="Change the version"
        deed={deed}
        version={deed?.kind === 'channel' ? data.channels?.find(({ channel }) => channel === deed.channel)?.version : undefined}
        before={deed?.kind === 'upgrade' && <Compared name={m.name} version={deed.items[0]?.version ?? ''} />}
        close={() => setDeed(null)}
      />
    </div>
  )
}
