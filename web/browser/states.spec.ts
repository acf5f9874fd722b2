// Pages without data: nothing there, not yet there, not to be had, not for everybody.
import type { Page, Route } from '@playwright/test'
import { dashboardOf } from './boards'
import { apply, kubeconfigOf, kyma } from './cluster'
import { picture, look } from './look'
import type { Running } from './processes'
import { expect, settled, test } from './test'

test.describe('empty', () => {
  test('a Kyma without modules says what to do', async ({ page }) => {
    await apply([kyma('beginner')])
    await page.goto('/kymas/kcp-system/beginner')
    await expect(page.getByRole('heading', { name: 'No modules yet' })).toBeVisible()
    await expect(page.getByRole('link', { name: 'Add modules' }).last()).toHaveAttribute('href', '/add?kyma=kcp-system%2Fbeginner')
    await look(page, 'empty-kyma')
  })

  const searches = [
    ['/kymas', 'No matching Kymas'],
    ['/modules', 'No matching modules'],
    ['/catalog', 'No matching modules'],
  ] as const
  for (const [path, title] of searches) {
    test(`a search without a hit on ${path} offers to show all`, async ({ page }) => {
      await page.goto(path + '?search=nobody-has-this')
      await expect(page.getByRole('heading', { name: title })).toBeVisible()
      await picture(page, 'empty' + path.replace('/', '-'))
      await page.getByRole('button', { name: 'Show all' }).click()
      await settled(page)
      await expect(page.getByRole('heading', { name: title })).toHaveCount(0)
    })
  }
})

test.describe('loading and error', () => {
  const lists = ['/', '/kymas', '/modules', '/catalog', '/upgrade', '/releases', '/operations', '/sources', '/settings']
  const single = ['/kymas/kcp-system/demo', '/modules/kcp-system/demo/greeter', '/catalog/greeter']
  const all = [...lists, ...single]

  test('while nothing was answered yet, the shape of it is there', async ({ page }) => {
    await page.route('**/api/v1/stream?*', () => undefined) // the answer never comes
    for (const path of all) {
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.getByRole('status', { name: 'Loading' })).toBeVisible()
    }
    // The frame has a heading and a shape of its own until the code of the page is there.
    await expect(page.getByRole('heading', { level: 1, name: 'greeter' })).toBeVisible()
    await expect(page.getByRole('status', { name: 'Loading' })).toBeVisible()
    await look(page, 'loading')
  })

  test('what failed is told, and can be tried again', async ({ page }) => {
    let asked = 0
    const failing = (route: Route) => {
      asked++
      const questions = new URL(route.request().url()).searchParams.getAll('q')
      const error = { reason: 'Unavailable', message: 'the API server does not answer' }
      const results = questions.map((_, q) => `event: result\ndata: ${JSON.stringify({ q, status: 503, body: { error } })}\n\n`)
      return route.fulfill({ contentType: 'text/event-stream', body: results.join('') })
    }
    for (const path of all) {
      await page.route('**/api/v1/stream?*', failing)
      await page.goto(path)
      await expect(page.getByRole('alert').getByRole('heading', { name: 'The cluster does not answer' })).toBeVisible()
      if (path === '/') {
        await look(page, 'error')
        // By itself the page asks again as well: after five tries, at least 4 s later. What comes sooner after one comes of the click.
        await expect.poll(() => asked, { intervals: [50], timeout: 30_000 }).toBeGreaterThan(Math.max(asked, 4))
        asked = 0
        await page.getByRole('button', { name: 'Try again' }).click()
        await expect.poll(() => asked, { intervals: [50], timeout: 3_000 }).toBeGreaterThan(0)
      }
      await page.getByRole('button', { name: 'Try again' }).click() // while it fails: a real answer takes the button away
      await page.unrouteAll()
      await settled(page)
      await expect(page.getByRole('alert')).toHaveCount(0)
    }
  })

  test('a server that is away is told, and what was seen stays', async ({ page, watch }) => {
    watch.allow(/ERR_FAILED|ERR_CONNECTION|ERR_INTERNET_DISCONNECTED/)
    // Both pages are there before the server goes: neither their code nor what they showed can be obtained after that.
    await page.goto('/kymas')
    await settled(page)
    await page.getByRole('link', { name: 'Modules', exact: true }).click()
    await expect(page.getByRole('link', { name: 'notes' }).first()).toBeVisible()
    await settled(page)
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Kymas', exact: true }).click()
    await expect(page.getByText('The connection is lost')).toBeVisible()
    await page.getByRole('link', { name: 'Modules', exact: true }).click()
    await expect(page.getByRole('link', { name: 'notes' }).first()).toBeVisible()
    await picture(page, 'offline')
    await page.context().setOffline(false)
    await expect(page.getByText('The connection is lost')).toHaveCount(0)
  })
})

test.describe('forbidden: somebody who may look and do nothing', () => {
  test.describe.configure({ mode: 'serial' })
  test.use({ storageState: { cookies: [], origins: [] } })
  let board: Running

  test.beforeAll(async () => {
    const look = ['get', 'list', 'watch']
    board = await dashboardOf(
      'viewer',
      await kubeconfigOf('viewer', [
        { apiGroups: ['operator.kyma-project.io'], resources: ['*'], verbs: look },
        { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: look },
        { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: look },
        { apiGroups: [''], resources: ['namespaces', 'configmaps', 'events'], verbs: look },
      ]),
    )
  })
  test.afterAll(() => board.stop())

  /** refused says that nothing with these names can be pressed. */
  async function refused(page: Page, names: RegExp) {
    const main = page.locator('main')
    await settled(page)
    for (const one of await main.getByRole('button', { name: names }).all()) await expect(one).toBeDisabled()
    await expect(main.getByRole('link', { name: names })).toHaveCount(0)
  }

  test('what changes something cannot be pressed, and settings say why', async ({ page }) => {
    await page.goto(board.found[0])
    await settled(page)
    const base = board.found[1] ?? ''
    await page.goto(base + '/modules/kcp-system/demo/greeter')
    await refused(page, /^(Stop managing|Delete)$/)
    await expect(page.getByText('You may not read the access Secret of its Kyma')).toBeVisible()
    await look(page, 'viewer-module')
    await page.goto(base + '/modules/kcp-system/demo/greeter?tab=versions')
    await refused(page, /^(Use channel|Pin)/)
    await page.goto(base + '/kymas/kcp-system/demo')
    await refused(page, /^(Change channel|Add modules|Suspend|Connect|Delete)$/)
    await page.goto(base + '/kymas')
    await refused(page, /^New Kyma$/)
    await page.goto(base + '/releases')
    await refused(page, /^Change/)
    await page.goto(base + '/settings')
    await settled(page)
    await expect(page.getByRole('row', { name: /no$/ }).first()).toBeVisible()
    await picture(page, 'viewer-settings')
  })

  test('who comes to the end of the wizard or of a deletion is refused there, with the right that is missing', async ({ page, watch }) => {
    watch.allow(/status of 403/)
    await page.goto(board.found[0])
    await settled(page)
    await page.goto(board.found[1] + '/modules/kcp-system/local-demo/greeter/delete')
    await settled(page)
    await expect(page.getByRole('alert').first()).toContainText(/may not|forbidden|cannot/i)
    await expect(page.getByRole('button', { name: 'Delete greeter' })).toBeDisabled()
    await picture(page, 'viewer-delete')
  })
})

test.describe('forbidden: somebody who may see nothing', () => {
  test.use({ storageState: { cookies: [], origins: [] } })
  let board: Running

  test.beforeAll(async () => {
    board = await dashboardOf('nobody', await kubeconfigOf('nobody', []))
  })
  test.afterAll(() => board.stop())

  test('pages say what may not be seen, and never that there is nothing', async ({ page }) => {
    await page.goto(board.found[0])
    await settled(page) // the login has ended
    const base = board.found[1] ?? ''
    for (const path of ['/', '/kymas', '/modules', '/fleet', '/releases', '/rollouts', '/catalog', '/upgrade']) {
      await page.goto(base + path)
      await settled(page)
      await expect(page.getByText(/You may not see this|Not everything could be read/).first()).toBeVisible()
      await expect(page.getByText('Nothing that you may see')).toBeVisible()
      await picture(page, `nobody${path.replace('/', '-')}`)
    }
    await page.goto(base + '/kymas')
    await settled(page)
    await look(page, 'nobody')
  })
})
