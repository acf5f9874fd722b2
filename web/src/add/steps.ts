// The steps of the wizard as entries of the browser's history, each with an address: Back goes one step back, and discards nothing.
import { useCallback, useEffect } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { steps, type Step } from './wizard'

/** parameter names the step in the address. */
const parameter = 'step'

/** stepOf is the step that an address names; the first without one. */
export function stepOf(search: string): Step {
  const named = new URLSearchParams(search).get(parameter)
  return steps.find((one) => one === named) ?? 'choose'
}

/** searchAt is the query of an address with a step. */
export function searchAt(search: string, step: Step): string {
  const next = new URLSearchParams(search)
  next.delete(parameter)
  if (step !== 'choose') next.set(parameter, step)
  const text = next.toString()
  return text && '?' + text
}

/** usePlace is which wizard this entry of the history is of, at which step, and where it began. A new address is a new wizard. */
export function usePlace(): { wizard: string; step: Step; address: string } {
  const { key, state, pathname, search } = useLocation()
  const wizard = (state as { wizard?: string } | null)?.wizard
  return { wizard: wizard ?? key, step: stepOf(search), address: pathname + searchAt(search, 'choose') }
}

/**
 * useSteps says which step must be shown, and goes to another one. The entries of a wizard lie one after the other, so that its own
 * way back and the browser's are the same. last is the last step that can be shown: without a module, it is the first.
 */
export function useSteps(last: Step): { step: Step; go: (to: Step) => void } {
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const { wizard, step: there } = usePlace()
  const step = steps.indexOf(there) > steps.indexOf(last) ? last : there
  useEffect(() => {
    if (step !== there) void navigate({ pathname, search: searchAt(search, step) }, { replace: true, state: { wizard } })
  }, [navigate, pathname, search, wizard, step, there])
  const go = useCallback(
    (to: Step) => {
      const by = steps.indexOf(to) - steps.indexOf(step)
      if (by < 0) void navigate(by)
      else void navigate({ pathname, search: searchAt(search, to) }, { state: { wizard } })
    },
    [navigate, pathname, search, wizard, step],
  )
  return { step, go }
}
