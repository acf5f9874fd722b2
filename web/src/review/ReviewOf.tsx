// What one version may do and changes, behind a disclosure: it is asked for when a user opens it, since the server reads a registry for that.
import { useState } from 'react'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import type { Review } from './answers'
import { VersionMay } from './VersionMay'

interface Props {
  title: string
  /** path is that of the module or of the offer, below /api/v1. */
  path: string
  parameters: Record<string, string>
  open?: boolean
}

export function ReviewOf({ title, path, parameters, open = false }: Props) {
  const [opened, setOpened] = useState(open)
  return (
    <details
      className="card pad"
      open={open}
      onToggle={(event) => {
        if (event.currentTarget.open) setOpened(true) // what was read once stays
      }}
    >
      <summary>
        <strong>{title}</strong>
      </summary>
      <div className="after-summary">{opened && <Asked path={path} parameters={parameters} />}</div>
    </details>
  )
}

function Asked({ path, parameters }: Pick<Props, 'path' | 'parameters'>) {
  const answer = useLive<Review>(query(path + '/review', parameters))
  return <VersionMay answer={answer} />
}
