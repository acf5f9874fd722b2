// Who is logged in, and how one gets in and out.
import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from 'react'
import type { Session } from '../api'
import { liveOfTab } from '../live/browser'
import { ask, post, query, Refusal, remove } from '../live/http'
import { forgetStored } from './drafts'
import { LiveContext } from '../live/useLive'

interface SessionState {
  session?: Session
  /** refused is why the code of the opened link was not accepted. */
  refused?: Refusal
  error?: Refusal
  login(with_: { code: string } | { token: string }): Promise<void>
  logout(): Promise<void>
  again(): void
}

const SessionContext = createContext<SessionState | null>(null)

/** useSession is who is logged in. */
export function useSession(): SessionState {
  const state = useContext(SessionContext)
  if (!state) throw new Error('useSession needs a SessionProvider')
  return state
}

/** codeIn is the login code of a link that `kyma dashboard` printed: it stands behind #, which no browser sends. */
export function codeIn(hash: string): string | undefined {
  const found = /^#code=([A-Za-z0-9_-]{1,200})$/.exec(hash)
  return found?.[1]
}

/** takeCode reads the code out of the address and clears it, so that it does not stay in the history. */
function takeCode(): string | undefined {
  const code = codeIn(window.location.hash)
  if (code) window.history.replaceState(null, '', window.location.pathname + window.location.search)
  return code
}

/** tabs is where a tab tells the others about a login: those on the login page continue, too. */
export const tabs = 'kyma-session'

/** logInByAddress logs in by the address's code, if it has one, and asks who is there. */
async function logInByAddress(tell: (refused?: Refusal) => void): Promise<Session> {
  const code = takeCode()
  if (code)
    await post('/session', { code }, {}).then(
      () => tell(),
      (refused: Refusal) => tell(refused),
    )
  return ask(query('/session'))
}

interface Props {
  /** page is there when the code of the first page is: until then no session is told, since the page would begin as a skeleton. */
  page?: Promise<void>
  children: ReactNode
}

export function SessionProvider({ page, children }: Props) {
  const [session, setSession] = useState<Session>()
  const [error, setError] = useState<Refusal>()
  const [live] = useState(() => liveOfTab(() => setSession((old) => old && { ...old, loggedIn: false })))
  const load = useCallback(async (asked: Promise<Session>) => {
    try {
      setSession(await asked)
      setError(undefined)
    } catch (refusal) {
      setError(refusal as Refusal)
    }
  }, [])
  const [refused, setRefused] = useState<Refusal>()
  const [first] = useState(() => Promise.all([logInByAddress(setRefused), page]).then(([who]) => who)) // once, however often React mounts
  useEffect(() => {
    void load(first)
  }, [load, first])
  useEffect(() => {
    live.enter()
    return () => live.leave()
  }, [live])
  useEffect(() => {
    const taken = () => {
      if (codeIn(window.location.hash)) void load(logInByAddress(setRefused))
    }
    window.addEventListener('hashchange', taken)
    return () => window.removeEventListener('hashchange', taken)
  }, [load])
  const loggedIn = session?.loggedIn ?? false
  useEffect(() => {
    const others = new BroadcastChannel(tabs)
    if (loggedIn) others.postMessage('in')
    else
      others.onmessage = () => {
        live.reset()
        void load(ask(query('/session')))
      }
    return () => others.close()
  }, [loggedIn, live, load])
  const state = useMemo<SessionState>(
    () => ({
      session,
      error,
      refused,
      login: async (with_) => {
        await post('/session', with_, {})
        live.reset()
        await load(ask(query('/session')))
      },
      logout: async () => {
        await remove('/session', {}).catch(() => undefined)
        forgetStored()
        live.reset()
        await load(ask(query('/session')))
      },
      again: () => void load(ask(query('/session'))),
    }),
    [session, error, refused, live, load],
  )
  return (
    <SessionContext.Provider value={state}>
      <LiveContext.Provider value={live}>{children}</LiveContext.Provider>
    </SessionContext.Provider>
  )
}
