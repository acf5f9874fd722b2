// A hub with 1,000 Kymas and 5,000 modules: the first rows are there within a second, scrolling is smooth, and the server stays small.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { fleetOf, type Fleet } from './boards'
import { look } from './look'
import { within } from './quick'
import { expect, settled, test } from './test'

test.describe.configure({ mode: 'serial', timeout: 600_000 })
test.use({ storageState: { cookies: [], origins: [] } })

const kymas = 1000
const modules = 5
let fleet: Fleet

test.beforeAll('a hub with many Kymas', async () => {
  test.setTimeout(600_000)
  fleet = await fleetOf('fleet-idle', ['-idle', String(kymas), '-modules', String(modules)])
})
test.afterAll(() => fleet.stop())

const base = () => fleet.board.found[1] ?? ''

/** enter logs in, and goes to a page. */
async function enter(page: Page, path: string) {
  await page.goto(fleet.board.found[0])
  await settled(page)
  await page.goto(base() + path)
  await settled(page)
}

const rows = (page: Page, table: string) => page.getByRole('table', { name: table, exact: true }).locator('tbody tr')

const lists = [
  ['/kymas', 'Kymas'],
  ['/modules', 'Modules'],
  ['/fleet', 'Versions in the fleet'],
] as const

test('the first rows of every list are there within a second', async ({ page, browser, watch }) => {
  await enter(page, '/')
  const storageState = await page.context().storageState()
  for (const [path, table] of lists) {
    await within(`${path} until it has rows`, 1000, async () => {
      const context = await browser.newContext({ baseURL: base(), storageState }) // nothing is in its cache
      await watch.over(context)
      const fresh = await context.newPage()
      const began = Date.now()
      await fresh.goto(path, { waitUntil: 'commit' })
      await rows(fresh, table).first().waitFor()
      const took = Date.now() - began
      await context.close()
      return took
    })
  }
})

test('rows scroll and pages turn without a task that lasts', async ({ page }) => {
  await enter(page, '/modules')
  await page.mouse.move(600, 500)
  await within('the longest task while rows scroll', 50, () => scrolled(page))
})

/** scrolled scrolls through a page of the list and back, and says how long the longest task took; short ones do not count. */
async function scrolled(page: Page): Promise<number> {
  await page.evaluate(() => {
    const global = globalThis as unknown as { longest: number }
    global.longest = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) global.longest = Math.max(global.longest, duration)
    }).observe({ type: 'longtask' })
  })
  for (const by of [...Array.from({ length: 15 }, () => 300), ...Array.from({ length: 15 }, () => -300)]) {
    await page.mouse.wheel(0, by)
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  }
  return page.evaluate(() => (globalThis as unknown as { longest: number }).longest)
}

test('what is worst comes first, and every row can be reached, filtered and saved', async ({ page }) => {
  await enter(page, '/modules')
  await expect(rows(page, 'Modules').first().getByText('Error', { exact: true })).toBeVisible()
  await expect(page.getByText(`of ${(kymas * modules).toLocaleString('en')}`)).toBeVisible()
  await page.getByRole('button', { name: 'Page 100', exact: true }).click()
  await settled(page)
  await expect(rows(page, 'Modules')).toHaveCount(50)
  await page.goto(base() + '/modules?labelSelector=env%3Dprod%2Cregion%3Dregion-3&state=Error')
  await settled(page)
  await expect(rows(page, 'Modules').first()).toBeVisible()
  await look(page, 'many-modules')
  await page.goto(base() + '/modules')
  await settled(page)
  const started = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV of all rows' }).click()
  const file = await started
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')
  expect(lines).toHaveLength(1 + kymas * modules)
  expect(new Set(lines).size).toBe(lines.length)
})

test('a thousand clusters in trouble are a handful of causes', async ({ page }) => {
  await enter(page, '/fleet')
  const causes = page.getByRole('table', { name: 'Modules that need attention, by cause' })
  await expect(causes.locator('tbody tr').first()).toBeVisible()
  expect(await causes.locator('tbody tr').count()).toBeLessThanOrEqual(12)
  const unreachable = causes.getByRole('row', { name: /connection refused/ }).first().getByRole('link').first()
  await expect(unreachable).toHaveText(/^\d+ Kymas/)
  await look(page, 'many-fleet')
})

test('the server has not taken more than 250 MiB for all that', () => {
  const most = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${fleet.board.pid}/status`, 'utf8'))
  console.log(`the dashboard took at most ${most?.[1] ?? '?'} kB`)
  expect(Number(most?.[1])).toBeLessThanOrEqual(250 * 1024)
})
