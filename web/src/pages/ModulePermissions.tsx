// What a version of an installed module may do: the one that waits or is newer, against the one that runs; or any other one.
import { NativeSelect } from '@mantine/core'
import type { ModuleDetail } from '../api'
import { reviewQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { Empty } from '../parts/basics'
import { useListState } from '../parts/list'
import { VersionMay } from '../review/VersionMay'
import { fill } from '../fill'
import { messages } from '../messages'

/** versionsOf are the versions to choose from: those that are known, with the one that waits and the one that runs. */
export function versionsOf(data: ModuleDetail): string[] {
  const { installed, available } = data.module.version
  const known = (data.versions ?? []).map((v) => v.version)
  const all = [data.consent?.pending.version, available, ...known, installed].filter((v): v is string => Boolean(v))
  return [...new Set(all)]
}

/** firstOf is the version that a user most likely asks about: the one that waits, else a newer one, else the one that runs. */
export function firstOf(data: ModuleDetail): string {
  const { installed = '', available = '', outdated } = data.module.version
  return data.consent?.pending.version ?? (outdated ? available : installed || available)
}

export function PermissionsTab({ data }: { data: ModuleDetail }) {
  const state = useListState()
  const versions = versionsOf(data)
  const asked = state.parameters.get('version') ?? ''
  const version = versions.includes(asked) ? asked : firstOf(data)
  const answer = useLive(version ? reviewQuery(data.module.kyma ?? '', data.module.name, version) : null)
  const installed = data.module.version.installed
  if (!version) {
    return (
      <div className="card">
        <Empty title={messages.modulePermissions.noVersionYet}>{messages.modulePermissions.shownSoonVersionKnown}</Empty>
      </div>
    )
  }
  return (
    <section className="card pad stack" aria-label={messages.modulePermissions.thisVersionMay}>
      <div className="row between top">
        <h2 className="flat">
          {version === installed ? messages.modulePermissions.theInstalledVersionMay : messages.common.thisVersionMay}
        </h2>
        {versions.length > 1 && (
          <NativeSelect
            aria-label={messages.common.version}
            value={version}
            data={versions.map((v) => ({
              value: v,
              label: v === installed ? fill(messages.modulePermissions.installed, { version: v }) : v,
            }))}
            onChange={(event) => state.set('version', event.currentTarget.value)}
          />
        )}
      </div>
      <VersionMay answer={answer} pending={data.consent?.pending} installed={installed} />
    </section>
  )
}
