// An address that nothing is at.
import { SearchX } from 'lucide-react'
import { Action, Empty, Header } from '../parts/basics'
import { messages } from '../messages'

export function Page() {
  return (
    <>
      <Header title={messages.common.notFound} />
      <div className="card">
        <Empty
          icon={<SearchX size={40} aria-hidden />}
          title={messages.notFound.thereIsNoSuchPage}
          action={<Action to="/">{messages.notFound.toTheOverview}</Action>}
        >
          {messages.notFound.addressMistakeShowedGone}
        </Empty>
      </div>
    </>
  )
}
