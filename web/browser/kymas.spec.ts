// A Kyma from its creation to its deletion by a user who has nothing but the page; and modules that are refused, repaired by the button.
import type { Page } from '@playwright/test'
import { apply, kubectl, kyma } from './cluster'
import { agree, finished, patience } from './hands'
import { look, picture } from './look'
import { expect, settled, test } from './test'

test.describe.configure({ mode: 'serial' })

const path = '/kymas/kcp-system/voyage'
const field = async (what: string, name = 'voyage') =>
  (await kubectl(['get', 'kyma', name, '-n', 'kcp-system', '-o', `jsonpath={${what}}`])).text
const patch = (spec: object) => kubectl(['patch', 'kyma', 'voyage', '-n', 'kcp-system', '--type=merge', '-p', JSON.stringify({ spec })])
const head = (page: Page) => page.locator('.page-head')

/** fix presses a button that helps, looks at what would change, and does it. */
async function fix(page: Page, title: string, begun: RegExp) {
  await page.getByRole('region', { name: 'What to do' }).getByRole('button', { name: title }).click(patience)
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: title }).click()
  await finished(page, begun)
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
}

test.afterAll(async () => {
  await kubectl(['delete', 'kyma', 'voyage', 'needing', '-n', 'kcp-system', '--wait=false', '--ignore-not-found'])
})

test('create: a form that asks before it is lost, that Back keeps, and that is looked at first', async ({ page, watch }) => {
  watch.allow(/^dialog: /) // a dirty form asks
  await page.goto('/kymas')
  await page.getByRole('link', { name: 'New Kyma' }).click()
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill('demo')
  await expect(page.getByText('There is a Kyma of this name already.').first()).toBeVisible()
  await name.fill('voyage')
  await page.getByRole('checkbox', { name: 'warden' }).check()
  await page.getByRole('radio', { name: 'This cluster' }).check()
  await page.reload({ timeout: 5000 }).catch(() => undefined) // it asks, and the test stays
  await expect(name).toHaveValue('voyage')
  await settled(page)
  await look(page, 'new-kyma')

  await agree(page, 'See what would be made')
  await expect(page.getByText('Kyma kcp-system/voyage', { exact: true })).toBeVisible()
  await expect(page.getByText('as its administrator').first()).toBeVisible()
  await picture(page, 'flow-kyma-check')
  await page.goBack()
  await expect(page.getByRole('checkbox', { name: 'warden' })).toBeChecked()
  await page.goForward()
  await agree(page, 'Create the Kyma')
  await finished(page, /Create Kyma kcp-system\/voyage/)
  await page.getByRole('link', { name: 'See how it is doing' }).click()
  await expect(page).toHaveURL(new RegExp(path + '$'))
  await expect(head(page).getByText('Ready', { exact: true })).toBeVisible(patience)
  expect(await field('.spec.modules[*].name')).toBe('warden')
})

test('suspend it, and resume it', async ({ page }) => {
  const label = () => field('.metadata.labels.operator\\.kyma-project\\.io/skip-reconciliation')
  const dialog = page.getByRole('dialog')
  await page.goto(path)
  for (const [verb, want] of [
    ['Suspend', 'true'],
    ['Resume', ''],
  ] as const) {
    await head(page).getByRole('button', { name: verb, exact: true }).click()
    await expect(dialog.getByText(/skip-reconciliation/).first()).toBeVisible()
    await dialog.getByRole('button', { name: verb, exact: true }).click()
    await finished(page, new RegExp(`${verb} Kyma`))
    expect(await label()).toBe(want)
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    if (want) await expect(head(page).getByText('Suspended', { exact: true })).toBeVisible()
  }
  await expect(head(page).getByText('Suspended', { exact: true })).toHaveCount(0)
})

test('a wrong channel is repaired by the button', async ({ page }) => {
  await patch({ modules: [{ name: 'warden', channel: 'nightly' }] })
  await page.goto(path)
  await expect(page.getByRole('region', { name: 'What to do' }).getByText(/nightly/)).toBeVisible(patience)
  await settled(page)
  await look(page, 'kyma-what-to-do')
  await page.setViewportSize({ width: 768, height: 900 })
  await picture(page, 'kyma-what-to-do-768')
  await fix(page, "Follow the Kyma's channel regular (1.0.0)", /follow the channel/)
  await page.setViewportSize({ width: 1280, height: 860 })
  expect(await field('.spec.modules[0].channel')).toBe('')
  await expect(page.getByRole('region', { name: 'What to do' })).toHaveCount(0, patience)
})

test('consent is given by the button', async ({ page }) => {
  await expect.poll(() => field('.status.modules[0].state'), patience).toBe('Ready')
  await patch({ modules: [{ name: 'warden', channel: 'fast', upgradeStrategy: 'Manual' }] })
  await page.goto(path)
  await fix(page, 'Approve version 1.1.0', /Approve warden 1\.1\.0/)
  expect(await field('.spec.modules[0].approved')).toMatch(/^1\.1\.0@sha256:/)
  await expect.poll(() => field('.status.modules[0].version'), patience).toBe('1.1.0')
})

test('the history has what was done, by whom, with old and new values', async ({ page }) => {
  await page.goto(path + '?tab=history')
  const list = page.getByRole('list', { name: 'History' })
  await expect(list.getByRole('link', { name: 'Create Kyma kcp-system/voyage' })).toBeVisible()
  await expect(list.getByText(/^Approve warden 1\.1\.0/)).toBeVisible()
  await expect(list.getByText('nightly').first()).toBeVisible() // what it was before it was repaired
  await settled(page)
  await look(page, 'kyma-history')
  await page.setViewportSize({ width: 768, height: 900 })
  await picture(page, 'kyma-history-768')
  await page.setViewportSize({ width: 1280, height: 860 })
  await page.getByRole('button', { name: 'Edits' }).click()
  await expect(list.getByText(/by the client/).first()).toBeVisible()
  await expect(list.getByRole('link', { name: /Create Kyma/ })).toHaveCount(0)
  await expect(page).toHaveURL(/kind=Edit/)
  await page.goBack()
  await expect(list.getByRole('link', { name: /Create Kyma/ })).toBeVisible()
})

test('delete it: what goes is shown, and its name is typed', async ({ page }) => {
  await page.goto(path)
  await head(page).getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  const sure = dialog.getByRole('button', { name: 'Delete the Kyma' })
  await expect(dialog.getByText(/Module warden/)).toBeVisible()
  await expect(sure).toBeDisabled()
  await picture(page, 'flow-kyma-delete')
  await dialog.getByRole('textbox').fill('voyage')
  await sure.click()
  await finished(page, /Delete Kyma kcp-system\/voyage/)
  expect((await kubectl(['get', 'kyma', 'voyage', '-n', 'kcp-system', '--ignore-not-found', '-o', 'name'])).text).toBe('')
  await dialog.getByRole('link', { name: 'To the Kymas' }).click()
  await settled(page)
  await expect(page.getByRole('link', { name: 'voyage' })).toHaveCount(0)
})

test('a missing requirement is added by the button', async ({ page }) => {
  await apply([kyma('needing', [{ name: 'courier' }])])
  await page.goto('/modules/kcp-system/needing/courier')
  await page.getByRole('group', { name: 'What helps' }).getByRole('button', { name: 'Add warden' }).click(patience)
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText(/name: warden|warden/).first()).toBeVisible()
  await dialog.getByRole('button', { name: 'Add warden' }).click()
  await finished(page, /Add warden/)
  await expect.poll(() => field('.status.state', 'needing'), patience).toBe('Ready')
  await kubectl(['delete', 'kyma', 'needing', '-n', 'kcp-system'])
})
