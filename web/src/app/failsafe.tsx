// A page that breaks says so, and leaves the others as they are. So does a part of a page.
import { Button } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { Empty, Notice } from '../parts/basics'

interface Props {
  /** part says that this is only a part of a page: the rest is kept, and it can be tried again in its place. */
  part?: boolean
  children: ReactNode
}

export class Failsafe extends Component<Props, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError() {
    return { broken: true }
  }

  override render() {
    if (!this.state.broken) return this.props.children
    return this.props.part ? <BrokenPart again={() => this.setState({ broken: false })} /> : <BrokenPage />
  }
}

function BrokenPage() {
  return (
    <div className="card" role="alert">
      <Empty
        icon={<CircleAlert size={40} aria-hidden />}
        title="This page broke"
        action={
          <Button variant="light" onClick={() => window.location.reload()}>
            Load it again
          </Button>
        }
      >
        Nothing in the cluster was changed by that. Load the page again; when it happens once more, the command line shows the same.
      </Empty>
    </div>
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
