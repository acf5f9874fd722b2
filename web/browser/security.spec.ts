// What others may try through somebody's browser: markup in modules, pages of other origins, a login that leaks.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { apply } from './cluster'
import { begin, community } from './deeds'
import { patience } from './hands'
import { hostile } from './hostile'
import { picture } from './look'
import { world } from './places'
import { expect, settled, test } from './test'

/** harmless says that the page took text for text. */
async function harmless(page: Page) {
  await settled(page)
  const found = await page.evaluate(() => ({
    hacked: (window as { hacked?: string }).hacked ?? '',
    foreign: [...document.images].map((image) => image.getAttribute('src') ?? '').filter((src) => src !== '/favicon.svg'),
    links: [...document.querySelectorAll('a')].map((a) => a.protocol).filter((protocol) => !/^https?:$/.test(protocol)),
    scripts: [...document.scripts].filter((script) => !script.src).length,
  }))
  expect(found).toEqual({ hacked: '', foreign: [], links: [], scripts: 0 })
}

test('texts of a module are texts: names, links, help, messages, values and events', async ({ page, request }) => {
  const { id } = await begin(request, community('trickster', '1.0.0')) // its resource says Error, and so it does not end
  await apply([
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'trick', namespace: 'kcp-system' },
      involvedObject: { apiVersion: 'operator.kyma-project.io/v1beta2', kind: 'Kyma', namespace: 'kcp-system', name: 'workshop' },
      type: 'Warning',
      reason: hostile('reason'),
      message: hostile('event'),
      lastTimestamp: new Date().toISOString(),
    },
  ])
  await page.goto('/kymas/kcp-system/workshop?tab=events')
  await expect(page.getByText(hostile('event'))).toBeVisible()
  await harmless(page)
  await page.goto('/direct/trickster')
  await expect(page.getByText(hostile('message')).first()).toBeVisible(patience)
  await picture(page, 'hostile-module')
  await harmless(page)
  for (const path of ['/', '/modules', '/catalog', '/catalog/trickster', '/operations', '/direct/trickster?tab=versions']) {
    await page.goto(path)
    await expect(page.getByText('trickster').first()).toBeVisible()
    await harmless(page)
  }
  await page.goto('/direct/trickster?tab=configuration')
  await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue(hostile('data'))
  await expect(page.getByText(hostile('help')).first()).toBeVisible()
  await harmless(page)
  await page.getByText('YAML', { exact: true }).click()
  await expect(page.getByLabel('The configuration as YAML')).toContainText('window.hacked')
  await harmless(page)
  await page.goto('/operations/' + id)
  await harmless(page)
  await page.getByRole('button', { name: 'Stop' }).click()
  await expect(page.getByText('Cancelled', { exact: true })).toBeVisible(patience)
})

test('an address of the page is text as well: names, searches and errors of a login', async ({ page, watch }) => {
  const name = encodeURIComponent(hostile('address'))
  watch.allow(/status of 4\d\d/)
  for (const path of [`/modules?search=${name}`, `/catalog/${name}`, `/modules/kcp-system/demo/${name}`, `/operations/${name}`]) {
    await page.goto(path)
    await harmless(page)
  }
  await page.goto(`/login?error=${name}`)
  await harmless(page)
})

test('the code leaves the address, and nothing that scripts can read holds a way in', async ({ browser, baseURL, watch }) => {
  const context = await browser.newContext({ baseURL, storageState: { cookies: [], origins: [] } })
  await watch.over(context)
  const page = await context.newPage()
  const answer = await page.goto(world().link)
  await settled(page)
  expect(page.url()).toBe(world().base + '/')
  const [cookie, ...others] = await context.cookies()
  expect(others).toEqual([])
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' })
  const readable = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, history.state]))
  expect(readable).not.toContain(new URL(world().link).hash.slice('#code='.length))
  expect(readable).not.toContain(cookie?.value)
  const policy = (await answer?.headerValue('content-security-policy')) ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')

  // Whoever goes back finds neither the code nor a page that asks for it.
  await page.goto('/settings')
  await settled(page)
  await page.goBack()
  await expect(page).toHaveURL(world().base + '/')
  await settled(page)
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible()
  await context.close()
})

test('a page of another port can neither post, nor read, nor frame', async ({ page, request, watch }) => {
  watch.allow(/CORS|status of 403|ERR_FAILED|frame-ancestors|ERR_BLOCKED_BY_RESPONSE/)
  const server = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<title>another</title><h1>another</h1>'))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  try {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const path = world().base + '/api/v1/operations'
    const deed = JSON.stringify({ kind: 'unmanage', kyma: 'kcp-system/demo', module: 'notes' })
    const count = async () => ((await (await request.get('/api/v1/operations')).json()) as { total: number }).total
    const before = await count()
    const tried = await page.evaluate(
      async ([to, body]) => {
        const said = (init: RequestInit) => fetch(to, { credentials: 'include', ...init }).then(String, () => 'refused')
        const json = { 'Content-Type': 'application/json' }
        return [
          await said({}),
          await said({ method: 'POST', headers: json, body }),
          await said({ method: 'POST', mode: 'no-cors', body }), // of which the browser asks nobody before
        ]
      },
      [path, deed] as const,
    )
    expect(tried).toEqual(['refused', 'refused', 'refused'])
    await page.evaluate((to) => document.body.append(Object.assign(document.createElement('iframe'), { src: to })), world().base)
    await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/)

    // A form needs no script, and the cookie goes along with it, since ports are of one site.
    const answered = page.waitForResponse((one) => one.url() === path && one.request().method() === 'POST')
    await page.evaluate(
      ([to, body]) => {
        const form = Object.assign(document.createElement('form'), { action: to, method: 'post', enctype: 'text/plain' })
        form.append(Object.assign(document.createElement('input'), { name: body, value: '' }))
        document.body.append(form)
        form.submit()
      },
      [path, deed] as const,
    )
    expect((await answered).status()).toBe(403)
    expect(await count()).toBe(before)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
