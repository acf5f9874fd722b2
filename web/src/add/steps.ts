// The steps of the wizard as entries of the browser's history: Back goes one step back, and discards nothing.
import { useCallback, useEffect } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { steps, type Step } from './wizard'

/** Place is what an entry of the history says of the wizard: which one, and at which step. */
interface Place {
  wizard: string
  step: Step
}

/** usePlace is that of this entry. A new address is a new wizard. */
export function usePlace(): Place {
  const { key, state } = useLocation()
  const place = state as Partial<Place> | null
  const step = steps.find((one) => one === place?.step)
  return { wizard: place?.wizard ?? key, step: step ?? 'choose' }
}

/**
 * useSteps says which step must be shown, and goes to another one. The entries of a wizard lie one after the other, so that its own
 * way back and the browser's are the same. Without a module, as after a reload, it is the first.
 */
export function useSteps(any: boolean): { step: Step; go: (to: Step) => void } {
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const { wizard, step: there } = usePlace()
  const step = any ? there : 'choose'
  useEffect(() => {
    if (step !== there) void navigate({ pathname, search }, { replace: true, state: { wizard, step } })
  }, [navigate, pathname, search, wizard, step, there])
  const go = useCallback(
    (to: Step) => {
      const by = steps.indexOf(to) - steps.indexOf(step)
      if (by < 0) void navigate(by)
      else void navigate({ pathname, search }, { state: { wizard, step: to } })
    },
    [navigate, pathname, search, wizard, step],
  )
  return { step, go }
}
