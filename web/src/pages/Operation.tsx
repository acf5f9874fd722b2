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
        title={others.length === 0 ? 'Operation' : 'Operations'}
        lead={<To to="/operations">All operations</To>}
        actions={
          over &&
          others.length === 0 && (
            <Action variant="default" onClick={forget}>
              Remove from the list
            </Action>
          )
        }
      />
      {answer.data?.state === 'Running' && <p className="dim flat">You may leave this page: it goes on, and this address shows how.</p>}
      {left && (
        <Notice tone="bad" title={`Not added: ${left.names}`}>
          <p>{left.message} The others began, and go on. Add what is missing again once that is put right.</p>
        </Notice>
      )}
      {error && (
        <Notice tone="bad" title="It was not removed">
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
