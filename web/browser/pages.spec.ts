// Every page, with what a playground has: it is there, says nothing wrong, asks nobody else, fits on a telephone, and axe finds nothing.
import { community, done } from './deeds'
import { look } from './look'
import { expect, settled, test } from './test'

const demo = '/modules/kcp-system/demo'

const pages: [name: string, path: string, heading: string | RegExp][] = [
  ['overview', '/', 'Overview'],
  ['kymas', '/kymas', 'Kymas'],
  ['kyma', '/kymas/kcp-system/demo', 'demo'],
  ['kyma-status', '/kymas/kcp-system/demo?tab=status', 'demo'],
  ['kyma-events', '/kymas/kcp-system/demo?tab=events', 'demo'],
  ['modules', '/modules', 'Modules'],
  ['module', `${demo}/greeter`, 'greeter'],
  ['module-configuration', `${demo}/greeter?tab=configuration`, 'greeter'],
  ['module-versions', `${demo}/greeter?tab=versions`, 'greeter'],
  ['module-events', `${demo}/greeter?tab=events`, 'greeter'],
  ['module-in-error', '/modules/kcp-system/workshop/charted', 'charted'],
  ['module-missing', `${demo}/nothing`, 'nothing'],
  ['delete', `${demo}/greeter/delete`, 'Delete greeter'],
  ['direct', '/direct/fountain', 'fountain'],
  ['direct-delete', '/direct/fountain/delete', 'Delete fountain'],
  ['catalog', '/catalog', 'Catalog'],
  ['offer', '/catalog/greeter', 'greeter'],
  ['offer-community', '/catalog/fountain', 'fountain'],
  ['add', '/add?kyma=kcp-system/demo', 'Add modules'],
  ['upgrade', '/upgrade', 'Upgrade'],
  ['sources', '/sources', 'Sources'],
  ['releases', '/releases', 'Releases'],
  ['operations', '/operations', 'Operations'],
  ['settings', '/settings', 'Settings'],
  ['not-found', '/nowhere', /./],
]

let operation = ''

test.beforeAll('a module that was installed directly, for which there is a newer version', async ({ request }) => {
  operation = (await done(request, community('fountain', '1.0.0'))).id
})

for (const [name, path, heading] of pages) {
  test(`page ${name}`, async ({ page, watch }) => {
    if (name === 'module-missing') watch.allow(/status of 404/)
    await page.goto(path)
    await settled(page)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading)
    await look(page, name)
  })
}

test('page operation', async ({ page }) => {
  await page.goto('/operations/' + operation)
  await settled(page)
  await expect(page.getByText('Done').first()).toBeVisible()
  await look(page, 'operation')
})

test('page login', async ({ browser, baseURL, watch }) => {
  const context = await browser.newContext({ baseURL, storageState: { cookies: [], origins: [] }, viewport: { width: 1280, height: 860 } })
  await watch.over(context)
  const page = await context.newPage()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto('/modules')
  await expect(page).toHaveURL(/\/login$/)
  await expect(page.getByRole('heading', { name: /Log in/ })).toBeVisible()
  await look(page, 'login')
  await context.close()
})
