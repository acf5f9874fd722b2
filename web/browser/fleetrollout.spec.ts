// A release moves through 200 clusters: it is promoted, watched wave by wave and stopped from the page of its rollout alone.
import type { Page } from '@playwright/test'
import { fleetOf, type Fleet } from './boards'
import { kubectl } from './cluster'
import { agree, patience } from './hands'
import { look, picture } from './look'
import { expect, settled, test } from './test'

test.describe.configure({ mode: 'serial', timeout: 600_000 })
test.use({ storageState: { cookies: [], origins: [] } })

const runtimes = 200
const pilot = runtimes / 20
let fleet: Fleet

test.beforeAll('200 clusters with a module, and a rollout of it', async () => {
  test.setTimeout(600_000)
  fleet = await fleetOf('fleet-rollout', ['-runtimes', String(runtimes)])
})
test.afterAll(() => fleet.stop())

/** versions are what the Kymas have, by version. */
async function versions(): Promise<Record<string, number>> {
  const path = '{range .items[*]}{.status.modules[0].version}{"\\n"}{end}'
  const { text } = await kubectl(['get', 'kymas', '-n', 'kcp-system', '-o', `jsonpath=${path}`], { kubeconfig: fleet.kubeconfig })
  const all: Record<string, number> = {}
  for (const version of text.trim().split('\n')) all[version] = (all[version] ?? 0) + 1
  return all
}

/** wave is one of the list of waves. */
const wave = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Waves' }).getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) })

test('a version is promoted, goes through the first waves, and is stopped in the middle, from one page', async ({ page }) => {
  await page.goto(fleet.board.found[0])
  await settled(page)
  await page.goto((fleet.board.found[1] ?? '') + '/rollouts/kcp-system/lantern')
  await settled(page)
  expect(await versions()).toEqual({ '1.0.0': runtimes })

  await page.getByRole('button', { name: 'Offer another version' }).click()
  await page.getByRole('combobox', { name: 'Version', exact: true }).selectOption('1.1.0')
  await page.getByRole('button', { name: 'See what would change' }).click()
  const split = `${runtimes} Kymas follow this channel: ${pilot} at once, ${runtimes - pilot} later, automatically.`
  await expect(page.getByText(split)).toBeVisible(patience)
  await expect(page.getByText(/^Objects: 3 changed/)).toBeAttached(patience) // the content of both versions was read and compared
  await look(page, 'rollout-promote')
  await agree(page, 'Offer this version')
  await expect(page.getByRole('dialog').getByText('Done', { exact: true })).toBeVisible(patience)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await expect(wave(page, 'pilot').getByText('Passed', { exact: true })).toBeVisible(patience)
  await expect(page.getByRole('button', { name: /^Approve early/ })).toBeVisible(patience)
  expect(await versions()).toEqual({ '1.0.0': runtimes - pilot, '1.1.0': pilot })
  await look(page, 'rollout-waits')

  await page.getByRole('button', { name: /^Approve early/ }).click()
  await agree(page, 'Approve early')
  await expect(page.getByRole('dialog').getByText('Done', { exact: true })).toBeVisible(patience)
  await page.keyboard.press('Escape')
  const ready = wave(page, 'early').locator('dl div', { hasText: 'Ready' }).locator('dd')
  await expect.poll(async () => Number(await ready.textContent()), patience).toBeGreaterThanOrEqual(3)
  await picture(page, 'rollout-moves')

  await page.getByRole('button', { name: /^Abort/ }).click()
  await agree(page, 'Abort')
  await expect(page.getByRole('dialog').getByText('Done', { exact: true })).toBeVisible(patience)
  await page.keyboard.press('Escape')
  await expect(page.getByText('Aborted', { exact: true }).first()).toBeVisible(patience)
  await look(page, 'rollout-stopped')
  const stopped = await versions()
  expect(stopped['1.1.0'] ?? 0).toBeGreaterThanOrEqual(pilot)
  expect(stopped['1.1.0'] ?? 0).toBeLessThan(runtimes / 2)
  // Nothing begins any more: at most the two that were under way have it besides.
  await page.reload()
  await settled(page)
  await expect(page.getByText('Aborted', { exact: true }).first()).toBeVisible()
  expect((await versions())['1.1.0'] ?? 0).toBeLessThanOrEqual((stopped['1.1.0'] ?? 0) + 2)
})
