// Page 11, one operation.
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import type { Operation } from '../api'
import { OperationView } from '../deeds/Progress'
import { at, query, send, type Refusal } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Header, Notice, To } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { sentence } from '../words'

export function Page() {
  const { id = '' } = useParams()
  const answer = useLive<Operation>(query('/operations' + at(id)))
  const [error, setError] = useState<Refusal>()
  const navigate = useNavigate()
  const forget = () => {
    send('DELETE', '/api/v1/operations' + at(id)).then(
      () => navigate('/operations'),
      (refusal: Refusal) => setError(refusal),
    )
  }
  const over = answer.data && answer.data.state !== 'Running'
  return (
    <>
      <Header
        title="Operation"
        lead={<To to="/operations">All operations</To>}
        actions={
          over && (
            <Action variant="default" onClick={forget}>
              Remove from the list
            </Action>
          )
        }
      />
      {error && (
        <Notice tone="bad" title="It was not removed">
          <p>{sentence(error.message)}</p>
        </Notice>
      )}
      <Loaded answer={answer}>{(operation) => <OperationView operation={operation} />}</Loaded>
    </>
  )
}
