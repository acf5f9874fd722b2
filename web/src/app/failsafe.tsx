// A page that breaks says so, and leaves the others as they are. So does a part of a page.
import { Button } from '@mantine/core'
import { CircleAlert, Unplug } from 'lucide-react'
import { Component, useContext, useEffect, type ReactNode } from 'react'
import { LiveContext } from '../live/useLive'
import { Empty, Notice } from '../parts/basics'
import { messages } from '../messages'

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
      <Empty icon={<CircleAlert size={40} aria-hidden />} title={messages.failsafe.thisPageBroke} action={<Reload />}>
        {messages.failsafe.nothingClusterChangedLoadPage}
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
      <Empty icon={<Unplug size={40} aria-hidden />} title={messages.failsafe.thisPageCouldNotBeLoaded} action={<Reload />}>
        {messages.failsafe.dashboardNotAnswerNewerVersion}
      </Empty>
    </div>
  )
}

function Reload() {
  return (
    <Button variant="light" onClick={() => window.location.reload()}>
      {messages.failsafe.loadItAgain}
    </Button>
  )
}

function BrokenPart({ again }: { again: () => void }) {
  return (
    <Notice tone="bad" title={messages.failsafe.partPageNotShown}>
      <p>
        {messages.failsafe.restAsItWas}{' '}
        <button type="button" className="linklike" onClick={again}>
          {messages.common.tryAgain}
        </button>{' '}
        {messages.failsafe.whenThatDoesNotHelp}
      </p>
    </Notice>
  )
}
