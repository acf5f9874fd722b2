// The fleet and its lists: a number leads to exactly what it counts, lists keep their filters, and how they look; everything by its name.
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { apply, kubectl, kyma } from './cluster'
import { patience } from './hands'
import { look } from './look'
import { expect, settled, test } from './test'

const names = ['crowd-a', 'crowd-b', 'crowd-c']

/** troubled are Kymas whose module cannot be installed: the same cause in each, and a label that tells them from others. */
test.beforeAll('some Kymas with the same trouble', async () => {
  await apply(names.map((name) => ({ ...labelled(name), spec: kyma(name, [{ name: 'charted', channel: 'nightly' }]).spec })))
  for (const name of names) {
    const state = () => kubectl(['get', 'kyma', name, '-n', 'kcp-system', '-o', 'jsonpath={.status.state}']).then(({ text }) => text)
    await expect.poll(state, patience).toMatch(/Error|Warning/)
  }
})

test.afterAll(async () => {
  await kubectl(['delete', 'kyma', ...names, '-n', 'kcp-system', '--wait=false', '--ignore-not-found'])
})

function labelled(name: string) {
  const one = kyma(name)
  return { ...one, metadata: { ...one.metadata, labels: { crowd: 'yes' } } }
}

/** rows are those of a list, without its head. */
const rows = (page: Page, table: string) => page.getByRole('table', { name: table, exact: true }).locator('tbody tr')

/** numberIn is the first number of a text. */
const numberIn = (text: string) => Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', ''))

test('a number of the fleet is the length of the list that it leads to', async ({ page }) => {
  await page.goto('/fleet')
  await settled(page)
  await look(page, 'fleet')
  const versions = page.getByRole('list', { name: 'Versions of charted' }).getByRole('link')
  await expect(versions.first()).toBeVisible()
  const hrefs = await versions.evaluateAll((links) =>
    links.map((link) => [link.getAttribute('href') ?? '', (link.querySelector('b') ?? link).textContent ?? '']),
  )
  const causes = page.getByRole('table', { name: 'Modules that need attention, by cause' })
  const shared = causes.getByRole('row', { name: /charted/ }).getByRole('link').first()
  await expect(shared).toHaveText(/^[4-9] Kymas/) // with the one of the workshop
  const all = [...hrefs, [(await shared.getAttribute('href')) ?? '', (await shared.textContent()) ?? '']]
  for (const [href = '', text = ''] of all) {
    await page.goto(href)
    await settled(page)
    await expect(rows(page, 'Modules'), `${text} leads to ${href}`).toHaveCount(numberIn(text))
  }
})

test('filters stay after a reload, and Back takes them one by one', async ({ page }) => {
  await page.goto('/modules')
  await settled(page)
  await page.getByRole('button', { name: 'Error', exact: true }).click()
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByRole('combobox', { name: 'Labels of the Kyma' }).fill('crowd=yes')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/labelSelector=crowd%3Dyes/)
  await expect(rows(page, 'Modules')).toHaveCount(names.length) // until then the rows of the filters before stay
  await look(page, 'modules-filtered')
  await page.reload()
  await settled(page)
  await expect(page.getByRole('combobox', { name: 'Labels of the Kyma' })).toHaveValue('crowd=yes')
  await expect(rows(page, 'Modules')).toHaveCount(names.length)
  await page.goBack()
  await expect(page).toHaveURL(/\/modules\?state=Error$/)
  await page.goBack()
  await expect(page).toHaveURL(/\/modules$/)
})

test('the file of a list has all rows that its filters leave', async ({ page }) => {
  await page.goto('/kymas?labelSelector=crowd%3Dyes')
  await settled(page)
  await expect(rows(page, 'Kymas')).toHaveCount(names.length)
  const started = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV of all rows' }).click()
  const file = await started
  expect(file.suggestedFilename()).toBe('kymas.csv')
  await expect(page.getByText(`${names.length} rows saved.`)).toBeVisible()
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')
  expect(lines[0]).toMatch(/^Namespace,Kyma,State,/)
  expect(lines.slice(1).map((line) => line.split(',')[1])).toEqual(names)
})

test('Ctrl-K leads to a module by the keyboard alone', async ({ page }) => {
  await page.goto('/settings')
  await settled(page)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: /^Search pages/ })).toBeFocused()
  await page.keyboard.type('charted crowd-b')
  await expect(page.getByRole('option', { selected: true })).toHaveText(/^charted in kcp-system\/crowd-b/)
  await look(page, 'palette')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/modules\/kcp-system\/crowd-b\/charted$/)
  await expect(page.getByRole('heading', { level: 1, name: 'charted' })).toBeVisible()
  await expect(page.locator('main')).toBeFocused()
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.locator('main')).toBeFocused()
})

test('compact rows, columns and views stay after a reload', async ({ page }) => {
  await page.setViewportSize({ width: 768, height: 700 })
  await page.goto('/kymas?labelSelector=crowd%3Dyes')
  await settled(page)
  const table = page.getByRole('table', { name: 'Kymas' })
  const tall = async () => (await rows(page, 'Kymas').first().boundingBox())?.height ?? 0
  const before = await tall()
  await page.getByRole('button', { name: 'Compact' }).click()
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Labels' }).check()
  await page.getByRole('checkbox', { name: 'Created' }).uncheck()
  await look(page, 'kymas-columns')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('textbox', { name: 'Save what this page shows as' }).fill('The crowd')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Saved as The crowd.')).toBeVisible()
  await look(page, 'kymas-views')
  await page.goto('/')
  await page.goto('/modules')
  await settled(page)
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('link', { name: 'The crowd' }).click()
  await expect(page).toHaveURL(/\/kymas\?labelSelector=crowd%3Dyes$/)
  await settled(page)
  await expect(table.getByRole('columnheader', { name: 'Labels' })).toBeVisible()
  await expect(table.getByRole('columnheader', { name: 'Created' })).toHaveCount(0)
  await expect(table.getByText('crowd=yes').first()).toBeVisible()
  expect(await tall()).toBeLessThan(before)
})

test('the head of a long list stays where it is seen', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 420 })
  await page.goto('/modules')
  await settled(page)
  await rows(page, 'Modules').last().scrollIntoViewIfNeeded()
  await expect(page.getByRole('columnheader', { name: 'State' })).toBeInViewport()
  await expect(rows(page, 'Modules').last()).toBeInViewport()
})
