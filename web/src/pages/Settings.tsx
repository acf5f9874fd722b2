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

export function Page() {
  const answer = useLive(query('/settings'))
  const { session } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Header title="Settings" lead="Who you are here, what you may do, and how everything is." />
      <div className="grid grid-two">
        <section className="card pad stack" aria-label="You">
          <h2 className="flat">You</h2>
          <dl className="facts">
            <dt>Name</dt>
            <dd>{session?.user || 'unknown'}</dd>
            <dt>Groups</dt>
            <dd>{(session?.groups ?? []).join(', ') || 'none'}</dd>
            <dt>Cluster</dt>
            <dd>{session?.cluster}</dd>
            <dt>Dashboard</dt>
            <dd>{session?.mode === 'local' ? 'on this computer, with your own access' : 'in the cluster'}</dd>
          </dl>
        </section>
        <section className="card pad stack" aria-label="Colors">
          <h2 className="flat">Colors</h2>
          <SegmentedControl
            aria-label="Colors"
            value={colorScheme}
            onChange={(value) => setColorScheme(value as typeof colorScheme)}
            data={[
              { value: 'auto', label: 'As the system' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
          />
          <p className="dim small flat">
            Keys: / goes to the search, Ctrl-K finds everything, Tab goes to the next thing, Escape closes a dialog.
          </p>
        </section>
      </div>
      <Loaded answer={answer}>{(data) => <Body data={data} />}</Loaded>
    </>
  )
}

const rights = [
  { key: 'what', label: 'What' },
  { key: 'verb', label: 'To do' },
  { key: 'allowed', label: 'Allowed' },
]

function Body({ data }: { data: Settings }) {
  const { versions } = data
  return (
    <>
      <section className="stack tight" aria-label="How everything is">
        <h2 className="flat">How everything is</h2>
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
      <section className="stack tight" aria-label="What you may do">
        <h2 className="flat">What you may do</h2>
        <Table label="What you may do" columns={rights} cards={false}>
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
                  {right.allowed ? 'yes' : 'no'}
                </span>
              </td>
            </tr>
          ))}
        </Table>
      </section>
      <section className="stack tight" aria-label="Versions">
        <h2 className="flat">Versions</h2>
        <div className="card pad">
          <dl className="facts">
            <dt>Dashboard</dt>
            <dd className="mono">{versions.dashboard || 'unknown'}</dd>
            <dt>Lifecycle manager</dt>
            <dd className="mono">{versions.manager || 'unknown'}</dd>
            <dt>Kubernetes</dt>
            <dd className="mono">{versions.kubernetes || 'unknown'}</dd>
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
