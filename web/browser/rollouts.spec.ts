// Rollouts, the fleet and the history of a module, against a real API server: what the page decides stands in the ModuleRollout.
import { apply, kubectl } from './cluster'
import { look } from './look'
import { expect, settled, test } from './test'

const group = 'operator.kyma-project.io/v1beta2'
const metadata = { name: 'parade', namespace: 'kcp-system' }

/** release is one that no Kyma follows, so that its rollout changes nothing. */
const release = {
  apiVersion: group,
  kind: 'ModuleReleaseMeta',
  metadata,
  spec: { moduleName: 'parade', ocmComponentName: 'example.com/module/parade', channels: [{ channel: 'regular', version: '1.0.0' }] },
}
const rollout = {
  apiVersion: group,
  kind: 'ModuleRollout',
  metadata,
  spec: {
    waves: [
      { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, soak: '2h' },
      { name: 'rest', maxConcurrent: 50 },
    ],
  },
}

test.afterAll(async () => {
  await kubectl(['delete', 'modulerollout,modulereleasemeta', 'parade', '-n', 'kcp-system', '--wait=false', '--ignore-not-found'])
})

test('a rollout is paused and resumed from its page, by a user who is asked before', async ({ page }) => {
  await apply([release, rollout])
  const paused = async () => (await kubectl(['get', 'modulerollout', 'parade', '-n', 'kcp-system', '-o', 'jsonpath={.spec.paused}'])).text
  await page.goto('/rollouts')
  await page.getByRole('link', { name: 'parade' }).first().click()
  await expect(page.getByRole('heading', { level: 1, name: 'parade' })).toBeVisible()
  await settled(page)
  await look(page, 'rollout')
  for (const [verb, want] of [
    ['Pause', 'true'],
    ['Resume', ''],
  ] as const) {
    await page.locator('.page-head').getByRole('button', { name: verb }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: verb, exact: true }).click()
    await expect(dialog.getByText('Done', { exact: true })).toBeVisible()
    expect((await paused()).replace('false', '')).toBe(want)
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  }
  await page.goto('/rollouts')
  await settled(page)
  await look(page, 'rollouts')
})

test('the fleet leads to the Kymas that have a version', async ({ page }) => {
  await page.goto('/fleet')
  await settled(page)
  await look(page, 'fleet')
  await page.getByRole('list', { name: 'Versions of greeter' }).getByRole('link').first().click()
  await expect(page.getByText('Only Kymas with')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Kymas' }).getByRole('link').first()).toBeVisible()
})

test('the history of a module is on its page', async ({ page }) => {
  await page.goto('/modules/kcp-system/demo/greeter?tab=history')
  await settled(page)
  await expect(page.getByRole('tab', { name: 'History' })).toHaveAttribute('aria-selected', 'true')
  await look(page, 'module-history')
})
