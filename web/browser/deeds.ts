// What tests need to be there before they begin, done by the API as the page would do it.
import { expect, type APIRequestContext } from '@playwright/test'
import type { Deed, Operation } from '../src/api'

/** begin starts an operation. */
export async function begin(request: APIRequestContext, deed: Deed): Promise<Operation> {
  const answer = await request.post('/api/v1/operations', { data: deed })
  expect(answer.ok(), await answer.text()).toBe(true)
  return (await answer.json()) as Operation
}

/** done starts an operation and waits until it has ended. */
export async function done(request: APIRequestContext, deed: Deed): Promise<Operation> {
  const { id } = await begin(request, deed)
  const path = '/api/v1/operations/' + encodeURIComponent(id)
  const now = async () => (await (await request.get(path)).json()) as Operation
  await expect.poll(async () => (await now()).state, { timeout: 90_000 }).toBe('Succeeded')
  return now()
}

/** community is the deed that installs a community module that the cluster describes. */
export function community(name: string, version: string): Deed {
  return { kind: 'add', kyma: '', modules: [{ name, version, policy: 'CreateAndDelete' }], direct: false, community: true }
}
