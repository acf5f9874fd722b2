// What is asked once, for parts of a page that need not change by themselves: a page may have few live queries.
import { useEffect, useState } from 'react'
import { ask, type Query, type Refusal } from './http'

/** useAsked asks a query whenever it is another one; null asks nothing. What was asked before is not shown for the next one. */
export function useAsked<T>(query: Query<T> | null): { data?: T; error?: Refusal } {
  const [answer, setAnswer] = useState<{ query: string; data?: T; error?: Refusal }>()
  useEffect(() => {
    if (query === null) return
    let current = true
    ask(query).then(
      (data) => {
        if (current) setAnswer({ query, data })
      },
      (error: Refusal) => {
        if (current) setAnswer({ query, error })
      },
    )
    return () => {
      current = false
    }
  }, [query])
  return answer && answer.query === query ? answer : {}
}
