// A page that breaks says so, and leaves the others as they are. So does a part of a page.
import { Button } from '@mantine/core'
import { CircleAlert, Unplug } from 'lucide-react'
import { Component, useContext, useEffect, type ReactNode } from 'react'
import { LiveContext } from '../live/useLive'
import { Empty, Notice } from '../parts/basics'

/** NotLoaded is the error of code that the browser could not load: the dashboard is away, or a newer version has other files. */
export class NotLoaded extends Error {}

interface Props {
  /** part says that this is only a part of a page: the rest is kept, and it can be tried again in its place. */
  part?: boolean
  children: ReactNode
}

export class Failsafe extends Component<Props, { error?: unknown; broken: boolean }> {
  override state = { broken: false, error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { broken: true, error }
  }

  private readonly again = () => this.setState({ broken: false, error: undefined })

  override render() {
    if (!this.state.broken) return this.props.children
    if (this.props.part) return <BrokenPart again={this.again} />
    return (this.state.error as unknown) instanceof NotLoaded ? <UnloadedPage again={this.again} /> : <BrokenPage />
  }
}

function BrokenPage() {
  return (
    <div className="card" role="alert">
      <Empty icon={<CircleAlert size={40} aria-hidden />} title="This page broke" action={<Reload />}>
        Nothing in the cluster was changed by that. Load the page again; when it happens once more, the command line shows the same.
      </Empty>
    </div>
  )
}

/** UnloadedPage is tried again as soon as the connection is back. */
function UnloadedPage({ again }: { again: () => void }) {
  const live = useContext(LiveContext)
  useEffect(() => live?.watch(() => live.connection === 'open' && again()), [live, again])
  return (
    <div className="card" role="alert">
      <Empty icon={<Unplug size={40} aria-hidden />} title="This page could not be loaded" action={<Reload />}>
        The dashboard does not answer, or is a newer version by now. The page is tried again when the connection is back.
      </Empty>
    </div>
  )
}

function Reload() {
  return (
    <Button variant="light" onClick={() => window.location.reload()}>
      Load it again
    </Button>
  )
}

function BrokenPart({ again }: { again: () => void }) {
  return (
    <Notice tone="bad" title="This part of the page could not be shown">
      <p>
        The rest of it is as it was.{' '}
        <button type="button" className="linklike" onClick={again}>
          Try again
        </button>{' '}
        When that does not help, only loading the whole page again does, and what was entered on it is lost.
      </p>
    </Notice>
  )
}
