// A module that the lifecycle manager looks after, from the first to the last day, by somebody who has nothing but the page.
import { kubectl } from './cluster'
import { agree, choose, finished, next, patience } from './hands'
import { picture } from './look'
import { world } from './places'
import { expect, settled, test } from './test'

test.describe.configure({ mode: 'serial' })

const path = '/modules/kcp-system/demo/beacon'
const runtime = () => ({ kubeconfig: world().runtime })

/** beacon is one that a user makes. */
const beacon = (name: string) =>
  JSON.stringify({
    apiVersion: 'samples.kyma-project.io/v1alpha1',
    kind: 'Beacon',
    metadata: { name, namespace: 'default' },
    spec: { colour: 'green' },
  })

test('install: from the overview through the wizard until it is ready', async ({ page }) => {
  await page.goto('/')
  await page.getByRole('link', { name: 'Add modules' }).last().click()
  await page.getByRole('combobox', { name: 'For which Kyma?' }).click()
  await page.getByRole('option', { name: 'kcp-system/demo', exact: true }).click()
  await choose(page, 'beacon')
  await next(page, 'Version')
  await page.getByRole('combobox', { name: 'Version of beacon' }).selectOption('Version 1.0.0, and stay there')
  await next(page, 'Configure')
  await expect(page.getByRole('radio', { name: 'As the module suggests' })).toBeChecked()
  await next(page, 'Check and add')
  await expect(page.getByText('Through the Kyma')).toBeVisible()
  await picture(page, 'flow-install-check')
  await agree(page, 'Add beacon')
  await finished(page, /beacon/)
  await picture(page, 'flow-install-done')
  await page.getByRole('link', { name: 'See how beacon is doing' }).click()
  await expect(page).toHaveURL(new RegExp(path + '$'))
  await expect(page.locator('.page-head').getByText('Ready', { exact: true })).toBeVisible(patience)
})

test('configure: by the form, and the cluster has it', async ({ page }) => {
  await page.goto(path)
  await page.getByRole('tab', { name: 'Configuration' }).click()
  await page.getByRole('combobox', { name: 'Colour' }).selectOption('red')
  await agree(page, 'See what would change')
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('spec.colour')).toBeVisible()
  await picture(page, 'flow-configure-check')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await finished(page, /beacon/)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('combobox', { name: 'Colour' })).toHaveValue('red')
  const { text } = await kubectl(['get', 'beacon', 'default', '-n', 'kyma-system', '-o', 'jsonpath={.spec.colour}'], runtime())
  expect(text).toBe('red')
})

test('upgrade: once its channel offers the newer version, and the configuration stays', async ({ page }) => {
  await page.goto('/releases')
  await page.getByRole('button', { name: 'Change beacon' }).click()
  await page.getByRole('combobox', { name: 'Channel' }).selectOption('regular')
  await page.getByRole('combobox', { name: 'Version' }).selectOption('1.1.0')
  await agree(page, 'See what would change')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Offer this version' }).click()
  await finished(page, /beacon/)

  await page.goto(path)
  await page.getByRole('button', { name: 'Upgrade to 1.1.0' }).click()
  await expect(dialog.getByText('1.1.0').first()).toBeVisible()
  await dialog.getByRole('button', { name: 'Upgrade', exact: true }).click()
  await finished(page, /beacon/)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('region', { name: 'Versions and state' }).getByText('1.1.0').nth(1)).toBeVisible(patience)
  await expect(page.getByRole('button', { name: /^Upgrade to/ })).toHaveCount(0)
  await page.getByRole('tab', { name: 'Configuration' }).click()
  await expect(page.getByRole('combobox', { name: 'Colour' })).toHaveValue('red')
})

test('delete: what a user made is in the way by name; then exactly what was shown goes along', async ({ page, watch }) => {
  await kubectl(['create', '-f', '-'], { ...runtime(), stdin: beacon('harbour') })
  await page.goto(path)
  await page.getByRole('link', { name: 'Delete' }).click()
  await expect(page.getByRole('heading', { name: '1 object in the way' })).toBeVisible()
  await expect(page.getByText('default/harbour')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Delete/ })).toHaveCount(0)
  await picture(page, 'flow-delete-blocked')

  await page.getByRole('checkbox', { name: 'Delete this object too, before the module' }).check()
  await expect(page.getByText('Will be deleted', { exact: true }).first()).toBeVisible()
  await kubectl(['create', '-f', '-'], { ...runtime(), stdin: beacon('later') })
  watch.allow(/status of (400|409|422)/)
  await agree(page, 'Delete 1 object and beacon')
  await expect(page.getByRole('alert').getByText('came after the preview')).toBeVisible()
  await expect(page.getByRole('alert').getByText('default/later')).toBeVisible()

  await page.getByRole('button', { name: 'Look again' }).click()
  await expect(page.getByRole('heading', { name: '2 objects in the way' })).toBeVisible()
  await page.getByRole('checkbox', { name: 'Delete these 2 objects too, before the module' }).check()
  await agree(page, 'Delete 2 objects and beacon')
  await finished(page, /beacon/)
  await picture(page, 'flow-delete-done')
  await page.getByRole('link', { name: 'To the modules' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Modules', exact: true })).toBeVisible()
  await settled(page)
  await expect(page.locator(`a[href="${path}"]`)).toHaveCount(0)
  const left = await kubectl(['get', 'crd', 'beacons.samples.kyma-project.io', '--ignore-not-found', '-o', 'name'], runtime())
  expect(left.text).toBe('')
})
