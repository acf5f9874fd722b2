// /login: by the link that the command printed, by a pasted token, or by the company's login.
import { Button, PasswordInput } from '@mantine/core'
import { useState } from 'react'
import { Navigate, useLocation } from 'react-router'
import { useSession } from '../app/session'
import { Logo, Scheme } from '../app/shell'
import type { Refusal } from '../live/http'
import { Notice } from '../parts/basics'
import { Loading, Trouble } from '../parts/loaded'
import { sentence } from '../words'
import { fill, fillNodes } from '../fill'
import { messages } from '../messages'

/** wayBack returns the requested address, if it belongs to this dashboard. */
export function wayBack(state: unknown): string {
  const from = (state as { from?: unknown } | null)?.from
  return typeof from === 'string' && /^\/(?![/\\])/.test(from) && !from.startsWith('/login') ? from : '/'
}

export function Page() {
  const { session, error, refused, again } = useSession()
  const { state, search } = useLocation()
  if (session?.loggedIn) return <Navigate to={wayBack(state)} replace />
  return (
    <main className="page alone">
      <div className="row between">
        <h1 className="brand login-title">
          <Logo />
          {messages.common.kymaModules}
        </h1>
        <Scheme />
      </div>
      {refused && session && (
        <Notice tone="bad">
          <p>{sentence(refused.message)}</p>
        </Notice>
      )}
      {failureOf(search) && (
        <Notice tone="bad">
          <p>{failureOf(search)}</p>
        </Notice>
      )}
      {error ? (
        <Trouble error={error} again={again} />
      ) : session ? (
        <Ways ways={session.login ?? []} cluster={session.cluster} />
      ) : (
        <Loading rows={3} />
      )}
    </main>
  )
}

const failures: Record<string, string> = {
  login_failed: messages.login.loginNotWorkTryAgain,
  login_expired: messages.login.loginTookTooLongTry,
  login_refused: messages.login.loginRefusedAskAdministratorCluster,
  provider_unreachable: messages.login.loginServiceNotAnswerTry,
}

/** failureOf says what went wrong with a login elsewhere; what is not known is not repeated. */
export function failureOf(search: string): string {
  const error = new URLSearchParams(search).get('error')
  if (!error) return ''
  return Object.hasOwn(failures, error) ? (failures[error] ?? '') : messages.login.loginNotWorkTryAgain
}

function Ways({ ways, cluster }: { ways: string[]; cluster: string }) {
  return (
    <div className="card pad stack">
      <div>
        <h2 className="flat">{cluster ? fill(messages.login.logInTo, { cluster }) : messages.login.logIn}</h2>
      </div>
      {ways.includes('code') && <ByCode />}
      {ways.includes('oidc') && (
        <Button component="a" href="/auth/login" size="md">
          {messages.login.logInWithYourAccount}
        </Button>
      )}
      {ways.includes('oidc') && ways.includes('token') && <p className="dim small flat">{messages.login.orWithAToken}</p>}
      {ways.includes('token') && <ByToken />}
      {ways.length === 0 && (
        <Notice tone="warn">
          <p>{messages.login.noLoginMethodConfiguredDashboard}</p>
        </Notice>
      )}
    </div>
  )
}

function ByCode() {
  return (
    <>
      <p className="flat">
        {fillNodes(messages.login.openLinkPrintedTerminalEnds, { command: <span className="mono">{messages.commands.dashboard}</span> })}
      </p>
      <p className="dim small flat">
        {fillNodes(messages.login.whenTerminalGoneDashboardStart, {
          command: <span className="mono">{messages.commands.openDashboard}</span>,
        })}
      </p>
    </>
  )
}

function ByToken() {
  const { login } = useSession()
  const [token, setToken] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Refusal>()
  const go = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await login({ token: token.trim() })
    } catch (refusal) {
      setError(refusal as Refusal)
    }
    setBusy(false)
  }
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (token.trim()) void go()
      }}
    >
      <PasswordInput
        label={messages.login.token}
        description={messages.login.serviceAccountDashboardKeepsMemoryUntil}
        value={token}
        autoComplete="off"
        onChange={(event) => setToken(event.currentTarget.value)}
        error={error && sentence(error.message)}
        visibilityToggleButtonProps={{ 'aria-label': messages.login.showTheToken }}
      />
      <details>
        <summary className="small">{messages.login.whereDoIGetAToken}</summary>
        <p className="dim small">
          {messages.login.askAdministratorClusterOneCreate} <span className="mono">{messages.commands.createToken}</span>
        </p>
      </details>
      <Button type="submit" loading={busy} disabled={!token.trim()}>
        {messages.login.logIn}
      </Button>
    </form>
  )
}
