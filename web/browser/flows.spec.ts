// Every address, and every flow that has one: a reload and Back in the middle lose nothing, a form asks before it is left, and rows stay
// chosen across pages. The pages are those that the dashboard serves; the mock answers for the server, so that there can be many rows and
// users without rights.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, type Page } from '@playwright/test'
import { artifacts, root } from './places'
import { start, type Running } from './processes'

let server: Running
let base = ''

test.use({ storageState: { cookies: [], origins: [] } })

test.beforeAll(async () => {
  server = await start({
    program: join(root, 'web', 'node_modules', '.bin', 'vite'),
    args: ['preview', '--host', '127.0.0.1', '--port', '0'],
    cwd: join(root, 'web'),
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    log: artifacts('mock.log'),
    until: /Local:\s+(http:\/\/127\.0\.0\.1:\d+)/,
  })
  base = server.found[1] ?? ''
})
test.afterAll(() => server.stop())

/** wrong is what pages did that they must not. */
let wrong: string[] = []
test.beforeEach(({ page }) => {
  wrong = []
  page.on('pageerror', (error) => wrong.push(error.message))
})
test.afterEach(() => expect(wrong).toEqual([]))

/** world chooses what the mock answers; everything that was done in it before is undone. */
const world = (page: Page, scenario: string) => page.goto(`${base}/__mock?scenario=${scenario}`)

/** settled waits until a page shows what it is about. */
async function settled(page: Page) {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByLabel('Loading')).toHaveCount(0)
}

/** patterns are the addresses that there are, as the front end names them. */
const patterns = [...readFileSync(join(root, 'web', 'src', 'app', 'routes.tsx'), 'utf8').matchAll(/^ {2}'?([\w:/*-]+)'?: codeOf\(/gm)].map(
  ([, pattern]) => pattern ?? '',
)

const demo = '/modules/kcp-system/demo'

/** addresses are examples of each pattern, with the steps, tabs and dialogs that stand in the address. A new pattern needs one. */
const addresses: Record<string, string[]> = {
  kymas: ['/kymas', '/kymas?state=Error&sort=-name'],
  'kymas/new': ['/kymas/new'],
  'kymas/:ns/:kyma': ['', '?tab=history', '?operation=run'].map((rest) => `/kymas/kcp-system/demo${rest}`),
  modules: ['/modules', '/modules?type=community&outdated=true'],
  'modules/:name': ['/modules/keda'],
  'modules/:name/delete': ['/modules/greeter/delete'],
  'modules/:ns/:kyma/:name': ['', '?tab=configuration', '?tab=versions', '?tab=permissions', '?tab=history', '?tab=events'].map(
    (tab) => `${demo}/greeter${tab}`,
  ),
  'modules/:ns/:kyma/:name/delete': [`${demo}/greeter/delete`],
  'direct/:name': ['/direct/docker-registry', '/direct/docker-registry?tab=versions'],
  'direct/:name/delete': ['/direct/docker-registry/delete'],
  catalog: ['/catalog', '/catalog?source=our-own&sort=-name', '/catalog?type=community&installed=true&search=registry'],
  'catalog/:name': ['/catalog/greeter', '/catalog/billing?source=our-own'],
  add: ['/add', '/add?kyma=kcp-system%2Fdemo&module=notes', '/add?module=billing&source=our-own'],
  upgrade: ['/upgrade', '/upgrade?search=registry'],
  sources: ['/sources'],
  rollouts: ['/rollouts'],
  'rollouts/:ns/:name': ['/rollouts/kcp-system/greeter'],
  fleet: ['/fleet'],
  releases: ['/releases'],
  operations: ['/operations', '/operations?state=Failed'],
  'operations/:id': ['/operations/run', '/operations/bad'],
  settings: ['/settings'],
  '*': ['/nowhere'],
}

/** redirects are addresses that lead to another one, which is the one that must stay. */
const redirects = ['/modules/keda']

test('every address of the front end is among these', () => {
  expect(patterns.length).toBeGreaterThan(15)
  expect(patterns.filter((pattern) => !addresses[pattern]?.length)).toEqual([])
})

test('every address shows the same after a reload, and after Back from another page', async ({ page }) => {
  await world(page, 'data')
  for (const address of Object.values(addresses).flat()) await test.step(address, () => staysAt(page, address))
})

/** staysAt goes to an address, reloads it, goes to another page, and back. */
async function staysAt(page: Page, address: string) {
  await page.goto(base + address)
  await settled(page)
  const shown = async () => ({ at: page.url(), head: await page.getByRole('heading', { level: 1 }).first().textContent() })
  if (redirects.includes(address)) await expect(page).not.toHaveURL(base + address)
  const first = await shown()
  await page.reload()
  await settled(page)
  expect(await shown(), address).toEqual(first)
  if (first.at.includes('operation=')) return // its dialog is above the links of the page
  const [elsewhere, there] = address === '/settings' ? ['Fleet', '/fleet'] : ['Settings', '/settings']
  await page.getByRole('link', { name: elsewhere, exact: true }).click()
  await expect(page).toHaveURL(base + there)
  await page.goBack()
  await settled(page)
  await expect.poll(shown, { message: address }).toEqual(first)
}

test.describe('the wizard', () => {
  const next = (page: Page, step: string) => page.getByRole('button', { name: `Next: ${step}` }).click()
  const heading = (page: Page, name: string) => expect(page.getByRole('heading', { name, exact: true })).toBeVisible()

  test('keeps every step over a reload, and Back goes one step', async ({ page }) => {
    await world(page, 'data')
    await page.goto(base + '/add?kyma=kcp-system%2Fdemo')
    await page.getByRole('checkbox', { name: 'notes' }).check()
    for (const [step, parameter, name] of [
      ['Version', 'version', 'Versions'],
      ['Configure', 'configure', 'Configuration'],
      ['Check and add', 'review', 'Check and add'],
    ] as const) {
      await next(page, step)
      await heading(page, name)
      await expect(page).toHaveURL(new RegExp(`step=${parameter}`))
      await page.reload()
      await heading(page, name)
    }
    await expect(page.getByRole('button', { name: 'Add notes' })).toBeEnabled()
    await page.goBack()
    await heading(page, 'Configuration')
    await page.goBack()
    await heading(page, 'Versions')
    await page.goBack()
    await expect(page.getByRole('checkbox', { name: 'notes' })).toBeChecked()
    await page.goForward()
    await heading(page, 'Versions')
  })

  test('a step without what leads there is the first one', async ({ page }) => {
    await world(page, 'data')
    await page.goto(base + '/add?step=review')
    await heading(page, 'Choose modules')
    await expect(page).toHaveURL(base + '/add')
  })

  test('asks before a configuration is discarded by a reload, stores none, and takes up where it is missing', async ({ page }) => {
    await world(page, 'data')
    await page.goto(base + '/add?kyma=kcp-system%2Fdemo')
    await page.getByRole('checkbox', { name: 'notes' }).check()
    await next(page, 'Version')
    await next(page, 'Configure')
    await page.getByRole('radio', { name: 'My own way' }).check()
    await page.getByRole('textbox', { name: 'Greeting' }).fill('very secret')
    await page.getByRole('button', { name: 'Keep this configuration' }).click()
    await next(page, 'Check and add')
    await heading(page, 'Check and add')
    const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }) + JSON.stringify({ ...localStorage }))
    expect(stored).toContain('notes')
    expect(stored).not.toContain('very secret')
    const asked = page.waitForEvent('dialog')
    const reloaded = page.reload()
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.accept()
    await reloaded
    await heading(page, 'Configuration')
    await expect(page.getByText(/Finish the configuration of notes first/)).toBeVisible()
  })
})

test.describe('forms', () => {
  test('a configuration asks before another page is shown by a link and by Back, and is kept', async ({ page }) => {
    await world(page, 'data')
    await page.goto(base + '/modules')
    await page.goto(base + `${demo}/greeter?tab=configuration`)
    const greeting = page.getByRole('textbox', { name: 'Greeting' })
    await greeting.fill('Good evening')
    const asks = page.getByRole('dialog', { name: 'Leave this page?' })
    await page.getByRole('link', { name: 'Overview' }).click()
    await expect(asks).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(asks).toHaveCount(0)
    await expect(greeting).toHaveValue('Good evening')
    await page.getByRole('link', { name: 'Overview' }).click()
    await asks.getByRole('button', { name: 'Leave' }).click()
    await expect(page).toHaveURL(base + '/')
    await page.goBack()
    await expect(greeting).toHaveValue('Good evening')
    await page.getByRole('button', { name: 'Discard them' }).click()
    await page.getByRole('link', { name: 'Overview' }).click()
    await expect(page).toHaveURL(base + '/')
  })

  test('a dialog has the focus, asks before it discards, and gives the focus back', async ({ page }) => {
    await world(page, 'data')
    await page.goto(base + '/sources')
    const button = page.getByRole('button', { name: 'Add a source' })
    await button.click()
    const name = page.getByRole('textbox', { name: 'Name' })
    await expect(name).toBeFocused()
    await name.fill('ours')
    const asks = page.getByRole('dialog', { name: 'Discard what you typed?' })
    await page.mouse.click(5, 500) // outside
    await expect(asks).toBeVisible()
    await asks.getByRole('button', { name: 'Stay' }).click()
    await expect(name).toHaveValue('ours')
    await expect(name).toBeFocused()
    await page.keyboard.press('Escape')
    await asks.getByRole('button', { name: 'Discard' }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(button).toBeFocused()
  })
})

test.describe('rows that are chosen', () => {
  const status = (page: Page) => page.locator('.sticky').getByRole('status')

  for (const width of [1280, 768]) {
    test(`stay chosen across pages, orders, filters and a reload, at ${width} px`, async ({ page }) => {
      await page.setViewportSize({ width, height: 860 })
      await world(page, 'many')
      await page.goto(base + '/modules?outdated=true')
      await settled(page)
      await page.getByRole('checkbox', { name: /^Choose / }).first().check()
      await expect(status(page)).toHaveText('1 module chosen')
      await page.getByRole('button', { name: 'Page 2', exact: true }).click()
      await expect(status(page)).toHaveText('1 module chosen, 1 of them not on this page')
      await page.getByRole('checkbox', { name: /^Choose / }).nth(3).check()
      await page.goto(base + '/modules?outdated=true&sort=-name')
      await expect(status(page)).toContainText('2 modules chosen')
      await page.goto(base + '/modules?outdated=true&state=Error')
      await expect(status(page)).toContainText('2 modules chosen')
      await page.reload()
      await expect(status(page)).toContainText('2 modules chosen')
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      expect(wide).toBeLessThanOrEqual(1)
      await page.getByRole('button', { name: 'See what an upgrade would change' }).click()
      await expect(page).toHaveURL(base + '/upgrade?step=check')
      await expect(page.getByRole('button', { name: 'Upgrade 2 modules' })).toBeEnabled()
      await page.reload()
      await expect(page.getByRole('button', { name: 'Upgrade 2 modules' })).toBeEnabled()
      await page.getByRole('button', { name: 'Upgrade 2 modules' }).click()
      await expect(page).toHaveURL(/\/operations\/op-/)
      await page.goto(base + '/upgrade')
      await settled(page)
      await expect(status(page)).toHaveText('Choose what to upgrade.')
    })
  }

  test('are at most as many as one operation takes, which one sentence says', async ({ page }) => {
    await world(page, 'many')
    await page.goto(base + '/upgrade')
    await page.getByRole('button', { name: /^Choose all that match/ }).click()
    await expect(page.getByText('500 are chosen, as many as one operation takes: more match, for the next one.')).toBeVisible()
    await expect(status(page)).toContainText('500 modules chosen, 450 of them not on this page')
    await page.getByRole('button', { name: 'Choose none' }).click()
    await expect(status(page)).toHaveText('Choose what to upgrade.')
  })
})

test('one row for each Kyma and module', async ({ page }) => {
  await world(page, 'data')
  await page.goto(base + '/modules?module=greeter')
  await settled(page)
  const rows = page.getByRole('table', { name: 'Modules' }).getByRole('row')
  await expect(rows).toHaveCount(3)
  const kymas = await rows.locator('.kyma-cell a').allTextContents()
  expect(new Set(kymas).size).toBe(2)
})

for (const scenario of ['blind', 'forbidden', 'error']) {
  test(`who sees nothing (${scenario}) is told so on every page, and nothing breaks`, async ({ page }) => {
    await world(page, scenario)
    for (const address of ['/catalog', '/catalog/billing?source=our-own', '/upgrade', '/modules', '/sources', '/add?step=version']) {
      await page.goto(base + address)
      await settled(page)
      await expect(page.getByRole('button', { name: /^Upgrade \d/ })).toHaveCount(0)
    }
  })
}
