// Live joined to this browser's window.
import { ask, query } from './http'
import { Live, type Source } from './live'

/** liveOfTab is the connection of this tab. ended is called when the session has ended. */
export function liveOfTab(ended: () => void): Live {
  const live = new Live({
    open: (url) => new EventSource(url) as unknown as Source,
    later: (what, ms) => window.setTimeout(what, ms),
    forget: (timer) => window.clearTimeout(timer),
    now: () => performance.now(),
    random: Math.random,
    hidden: () => document.visibilityState === 'hidden',
    loggedIn: async () => (await ask(query('/session'))).loggedIn,
    ended,
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') live.pause()
    else live.retry()
  })
  window.addEventListener('online', () => live.retry())
  window.addEventListener('pagehide', () => live.pause())
  return live
}
