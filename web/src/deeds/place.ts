// Where operations are found again: each has an address, so that a reload shows how it is going.
import { useCallback } from 'react'
import { useLocation, useNavigate } from 'react-router'
import type { Operation } from '../api'
import { at } from '../live/http'
import { sentence } from '../words'
import type { Refused } from './review'

/** Left is what was refused while the rest began. */
export interface Left {
  names: string
  message: string
}

/** pageOf is the address of the page that follows operations. */
export function pageOf(ids: string[]): string {
  const [first = '', ...others] = ids
  return '/operations' + at(first) + others.map((id, i) => `${i === 0 ? '?' : '&'}also=${encodeURIComponent(id)}`).join('')
}

/** leftOf names what did not begin. */
export function leftOf(refused: Refused | undefined): Left | undefined {
  if (!refused) return undefined
  const names = refused.deeds.flatMap((deed) => (deed.kind === 'add' ? deed.modules.map((m) => m.name) : []))
  return { names: names.join(', '), message: sentence(refused.error.message) }
}

/**
 * useFollow goes to the page of what began. It takes the place of the page that asked for it: neither Back nor a reload leads to a button
 * that would begin it again.
 */
export function useFollow(): (operations: Operation[], refused?: Refused) => void {
  const navigate = useNavigate()
  return useCallback(
    (operations, refused) => {
      const state = { left: leftOf(refused), begun: true }
      void navigate(pageOf(operations.map(({ id }) => id)), { replace: true, state })
    },
    [navigate],
  )
}

/** useLeft is what was refused beside the operations of this page. */
export function useLeft(): Left | undefined {
  return (useLocation().state as { left?: Left } | null)?.left
}

/** parameter names the operations of a dialog in the address of the page below it. */
const parameter = 'operation'

/** dialogOf are the operations that an address shows in a dialog. */
export function dialogOf(search: string): string[] {
  return new URLSearchParams(search).getAll(parameter)
}

/** searchWith is the query of an address with these operations in a dialog. */
export function searchWith(search: string, ids: string[]): string {
  const next = new URLSearchParams(search)
  next.delete(parameter)
  for (const id of ids) next.append(parameter, id)
  const text = next.toString()
  return text && '?' + text
}
