// An address that nothing is at.
import { SearchX } from 'lucide-react'
import { Action, Empty, Header } from '../parts/basics'

export function Page() {
  return (
    <>
      <Header title="Not found" />
      <div className="card">
        <Empty icon={<SearchX size={40} aria-hidden />} title="There is no such page" action={<Action to="/">To the overview</Action>}>
          The address may have a mistake, or what it showed is gone.
        </Empty>
      </div>
    </>
  )
}
