import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { show } from '../testpage'

it('says that the code of a link let nobody in, and why', async () => {
  window.history.replaceState(null, '', '/login#code=of-yesterday')
  const message = 'the code is not the one that kyma dashboard printed: open the link that it printed last'
  show('/login', 'data', (method, url) => {
    if (url.pathname !== '/api/v1/session') return undefined
    if (method === 'POST') return { status: 401, body: { error: { reason: 'Unauthorized', message } } }
    return { status: 200, body: { mode: 'local', cluster: 'playground', login: ['code'], groups: [], loggedIn: false } }
  })
  expect(await screen.findByText('The code is not the one', { exact: false })).toBeTruthy()
  expect(window.location.hash).toBe('')
})
