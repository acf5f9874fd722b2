// The saved views, as a component sees them.
import { useSyncExternalStore } from 'react'
import { savedViews, type View } from './views'

export function useViews(): View[] {
  return useSyncExternalStore(savedViews.subscribe, savedViews.get)
}
