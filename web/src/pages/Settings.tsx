// Page 12: what may I do, how is everything, which versions are these.
import { SegmentedControl, useMantineColorScheme } from '@mantine/core'
import { Check, X } from 'lucide-react'
import { useSession } from '../app/session'
import type { Settings } from '../api'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Header, StateBadge } from '../parts/basics'
import { Table } from '../parts/list'
import { Loaded } from '../parts/loaded'
import { capital, sentence } from '../words'
import { messages } from '../messages'

export function Page() {
  const answer = useLive(query('/settings'))
  const { session } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Header title={messages.common.settings} lead={messages.settings.hereHowEverything} />
      <div className="grid grid-two">
        <section className="card pad stack" aria-label={messages.settings.you}>
          <h2 className="flat">{messages.settings.you}</h2>
          <dl className="facts">
            <dt>{messages.common.name}</dt>
            <dd>{session?.user || messages.common.unknown}</dd>
            <dt>{messages.settings.groups}</dt>
            <dd>{(session?.groups ?? []).join(', ') || messages.common.none}</dd>
            <dt>{messages.common.cluster}</dt>
            <dd>{session?.cluster}</dd>
            <dt>{messages.settings.dashboard}</dt>
            <dd>{session?.mode === 'local' ? messages.settings.computerOwnAccess : messages.settings.inTheCluster}</dd>
          </dl>
        </section>
        <section className="card pad stack" aria-label={messages.settings.colors}>
          <h2 className="flat">{messages.settings.colors}</h2>
          <SegmentedControl
            aria-label={messages.settings.colors}
            value={colorScheme}
            onChange={(value) => setColorScheme(value as typeof colorScheme)}
            data={[
              { value: 'auto', label: messages.settings.asTheSystem },
              { value: 'light', label: messages.settings.light },
              { value: 'dark', label: messages.settings.dark },
            ]}
          />
          <p className="dim small flat">{messages.settings.keysGoesSearchCtrlK}</p>
        </section>
      </div>
      <Loaded answer={answer}>{(data) => <Body data={data} />}</Loaded>
    </>
  )
}

const rights = [
  { key: 'what', label: messages.settings.resource },
  { key: 'verb', label: messages.settings.verb },
  { key: 'allowed', label: messages.settings.allowed },
]

function Body({ data }: { data: Settings }) {
  const { versions } = data
  return (
    <>
      <section className="stack tight" aria-label={messages.settings.howEverythingIs}>
        <h2 className="flat">{messages.settings.howEverythingIs}</h2>
        <div className="card pad">
          <ul className="chain plain-chain">
            {(data.health ?? []).map((one, i) => (
              <li key={i}>
                <div className="row">
                  <strong>{capital(one.what)}</strong>
                  <StateBadge state={one.state} />
                </div>
                {one.message && <p className="dim small">{sentence(one.message)}</p>}
              </li>
            ))}
          </ul>
        </div>
      </section>
      <section className="stack tight" aria-label={messages.settings.whatYouMayDo}>
        <h2 className="flat">{messages.settings.whatYouMayDo}</h2>
        <Table label={messages.settings.whatYouMayDo} columns={rights} cards={false}>
          {(data.access ?? []).map((right, i) => (
            <tr key={i}>
              <td>{capital(right.what)}</td>
              <td>{right.verb}</td>
              <td>
                <span className="row nowrap-row">
                  {right.allowed ? (
                    <Check size={16} aria-hidden color="var(--ok-line)" />
                  ) : (
                    <X size={16} aria-hidden color="var(--bad-line)" />
                  )}
                  {right.allowed ? messages.common.yes : messages.common.no}
                </span>
              </td>
            </tr>
          ))}
        </Table>
      </section>
      <section className="stack tight" aria-label={messages.common.versions}>
        <h2 className="flat">{messages.common.versions}</h2>
        <div className="card pad">
          <dl className="facts">
            <dt>{messages.settings.dashboard}</dt>
            <dd className="mono">{versions.dashboard || messages.common.unknown}</dd>
            <dt>{messages.settings.lifecycleManager}</dt>
            <dd className="mono">{versions.manager || messages.common.unknown}</dd>
            <dt>{messages.settings.kubernetes}</dt>
            <dd className="mono">{versions.kubernetes || messages.common.unknown}</dd>
            {Object.entries(versions.crds ?? {}).map(([kind, served]) => (
              <Pair key={kind} name={kind} value={(served ?? []).join(', ')} />
            ))}
          </dl>
        </div>
      </section>
    </>
  )
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="mono">{value}</dd>
    </>
  )
}
