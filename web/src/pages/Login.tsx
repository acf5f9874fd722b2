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
          Kyma modules
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
  login_failed: 'The login did not work. Try again.',
  login_expired: 'The login took too long. Try again.',
  login_refused: 'The login was refused. Ask an administrator of the cluster for access.',
  provider_unreachable: 'The login service does not answer. Try again later, or use a token.',
}

/** failureOf says what went wrong with a login elsewhere; what is not known is not repeated. */
export function failureOf(search: string): string {
  const error = new URLSearchParams(search).get('error')
  if (!error) return ''
  return Object.hasOwn(failures, error) ? (failures[error] ?? '') : 'The login did not work. Try again.'
}

function Ways({ ways, cluster }: { ways: string[]; cluster: string }) {
  return (
    <div className="card pad stack">
      <div>
        <h2 className="flat">Log in{cluster ? ` to ${cluster}` : ''}</h2>
      </div>
      {ways.includes('code') && <ByCode />}
      {ways.includes('oidc') && (
        <Button component="a" href="/auth/login" size="md">
          Log in with your account
        </Button>
      )}
      {ways.includes('oidc') && ways.includes('token') && <p className="dim small flat">Or with a token:</p>}
      {ways.includes('token') && <ByToken />}
      {ways.length === 0 && (
        <Notice tone="warn">
          <p>No login method is configured for this dashboard. Ask its operator.</p>
        </Notice>
      )}
    </div>
  )
}

function ByCode() {
  return (
    <>
      <p className="flat">
        Open the link that <span className="mono">kyma dashboard</span> printed in the terminal: it ends with a code, and logs nobody in
        but you.
      </p>
      <p className="dim small flat">
        When the terminal is gone, so is this dashboard: start it again with <span className="mono">kyma dashboard --open</span>.
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
        label="Token"
        description="Of a ServiceAccount. The dashboard keeps it in memory until you log out, and does everything as you."
        value={token}
        autoComplete="off"
        onChange={(event) => setToken(event.currentTarget.value)}
        error={error && sentence(error.message)}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
      />
      <details>
        <summary className="small">Where do I get a token?</summary>
        <p className="dim small">
          Ask an administrator of the cluster for one, or create one:{' '}
          <span className="mono">kubectl create token NAME -n NAMESPACE --duration 8h</span>
        </p>
      </details>
      <Button type="submit" loading={busy} disabled={!token.trim()}>
        Log in
      </Button>
    </form>
  )
}
