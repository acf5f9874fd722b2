// A page that breaks says so, and leaves the others as they are.
import { Button } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { Empty } from '../parts/basics'

export class Failsafe extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError() {
    return { broken: true }
  }

  override render() {
    if (!this.state.broken) return this.props.children
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
}
