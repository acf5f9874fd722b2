// Page 11, one operation, or those that were begun together. Its address is where every operation leads once it has begun.
import { useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { useLeft } from '../deeds/place'
import { OperationView, Progress } from '../deeds/Progress'
import { query, remove, type Refusal } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Header, Notice, To } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { sentence } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

export function Page() {
  const { id = '' } = useParams()
  const [parameters] = useSearchParams()
  const others = [...new Set(parameters.getAll('also'))].filter((other) => other !== id)
  const answer = useLive(query('/operations/{id}', { id }))
  const left = useLeft()
  const [error, setError] = useState<Refusal>()
  const navigate = useNavigate()
  const forget = () => {
    remove('/operations/{id}', { id }).then(
      () => navigate('/operations'),
      (refusal: Refusal) => setError(refusal),
    )
  }
  const over = answer.data && answer.data.state !== 'Running'
  return (
    <>
      <Header
        title={others.length === 0 ? messages.common.operation : messages.common.operations}
        lead={<To to="/operations">{messages.common.allOperations}</To>}
        actions={
          over &&
          others.length === 0 && (
            <Action variant="default" onClick={forget}>
              {messages.operation.removeFromTheList}
            </Action>
          )
        }
      />
      {answer.data?.state === 'Running' && <p className="dim flat">{messages.operation.leavePageGoesAddressShows}</p>}
      {left && (
        <Notice tone="bad" title={fill(messages.operation.notAdded, { names: left.names })}>
          <p>{fill(messages.operation.othersBeganGoAddMissing, { message: left.message })}</p>
        </Notice>
      )}
      {error && (
        <Notice tone="bad" title={messages.operation.itWasNotRemoved}>
          <p>{sentence(error.message)}</p>
        </Notice>
      )}
      <Loaded answer={answer}>{(operation) => <OperationView operation={operation} />}</Loaded>
      {others.map((other) => (
        <Progress key={other} id={other} />
      ))}
    </>
  )
}
