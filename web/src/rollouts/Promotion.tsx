// Letting a channel offer another version: what is chosen, what would become of it, and the deed.
import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import type { Deed, Release } from '../api'
import { DeedModal } from '../deeds/DeedModal'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Notice } from '../parts/basics'
import { ForecastView } from '../review/Forecast'
import { lower } from '../versions'
import { count } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

/** Wish is what a channel of a release should offer. */
export interface Wish {
  release: Release
  channel: string
  version: string
}

/** wishFor is the choice to begin with. */
export function wishFor(release: Release, channels: string[]): Wish {
  return { release, channel: channels[0] ?? '', version: release.versions?.[0] ?? '' }
}

interface Props {
  /** wish is what was chosen so far; without one the dialog is closed. */
  wish?: Wish
  channels: string[]
  change: (wish: Wish | undefined) => void
}

/** Promotion is the dialog: it asks for channel and version, and then shows what would come of that before it is done. */
export function Promotion({ wish, channels, change }: Props) {
  const [sure, setSure] = useState(false)
  const deed: Deed | null =
    sure && wish
      ? { kind: 'promote', release: `${wish.release.namespace}/${wish.release.name}`, channel: wish.channel, version: wish.version }
      : null
  const close = () => {
    setSure(false)
    change(undefined)
  }
  return (
    <DeedModal
      title={wish ? titleOf(wish, sure) : ''}
      verb={messages.promotion.offerThisVersion}
      deed={deed}
      before={deed && wish && <Foretold wish={wish} />}
      ask={wish && <Promote wish={wish} channels={channels} change={change} close={close} go={() => setSure(true)} />}
      close={close}
    />
  )
}

/** titleOf is the head of the dialog: the question, and then what was chosen. */
function titleOf({ release, channel, version }: Wish, sure: boolean): string {
  if (sure) return fill(messages.promotion.letChannelOfOffer, { channel, name: release.name, version })
  return fill(messages.promotion.whichVersionShouldAChannelOffer, { name: release.name })
}

/** Foretold is what a promotion would do. It is worked out while the user reads on: nothing waits for it. */
function Foretold({ wish: { release, channel, version } }: { wish: Wish }) {
  const of = { ns: release.namespace, name: release.name, channel, version }
  return <ForecastView answer={useLive(query('/releases/{ns}/{name}/forecast', of))} />
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
    <section className="stack" aria-label={fill(messages.promotion.changeName, { name: wish.release.name })}>
      <div className="row top">
        <NativeSelect
          label={messages.common.channel}
          data-autofocus
          value={wish.channel}
          data={channels}
          onChange={(event) => change({ ...wish, channel: event.currentTarget.value })}
        />
        <NativeSelect
          label={messages.common.version}
          value={wish.version}
          data={wish.release.versions ?? []}
          onChange={(event) => change({ ...wish, version: event.currentTarget.value })}
        />
      </div>
      <Outcome release={wish.release} version={wish.version} now={now} />
      <div className="row">
        <Button disabled={!wish.version || wish.version === now} onClick={go}>
          {messages.common.seeWhatWouldChange}
        </Button>
        <Button variant="default" onClick={close}>
          {messages.common.cancel}
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
        {fill(messages.promotion.everyModuleFollows, {
          offer: now ? fill(messages.promotion.theChannelOffersNow, { now }) : messages.promotion.theChannelOffersNothingYet,
        })}
      </p>
    )
  }
  const keep = above(release.installed ?? {}, version)
  return (
    <Notice tone="warn" title={fill(messages.promotion.isLowerThan, { version, now })}>
      <p>
        {fill(messages.promotion.notDowngradeInstalledModuleKeeps, { name: release.name, version })}
        {keep > 0 && ' ' + fill(messages.promotion.aHigherVersionIsInstalledNow, { times: count(keep, messages.nouns.time) })}
      </p>
      <p>{fill(messages.promotion.rollBackEveryKymaPublish, { now })}</p>
    </Notice>
  )
}

/** above counts the installations of a higher version. */
export function above(installed: Record<string, number>, version: string): number {
  return Object.entries(installed).reduce((n, [has, of]) => (lower(version, has) ? n + of : n), 0)
}
