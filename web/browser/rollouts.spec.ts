// Rollouts, consent, promotions and the history of a module, against a real API server: what the page decides stands in the
// ModuleRollout or the Kyma.
import { apply, kubectl, kyma } from './cluster'
import { patience } from './hands'
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

const digest = 'sha256:' + '0'.repeat(64)

/** asking is a Kyma that the lifecycle manager leaves alone: its status is what the test says. */
const asking = {
  apiVersion: group,
  kind: 'Kyma',
  metadata: { name: 'asking', namespace: 'kcp-system', labels: { 'operator.kyma-project.io/skip-reconciliation': 'true' } },
  spec: { channel: 'regular', remote: false, modules: [{ name: 'greeter', upgradeStrategy: 'Manual' }] },
}

/** waiting is its status: version 1.1.0 waits. */
const waiting = {
  state: 'Ready',
  lastOperation: { operation: 'told by a test', lastUpdateTime: new Date().toISOString() },
  modules: [
    {
      name: 'greeter',
      channel: 'regular',
      version: '1.0.0',
      state: 'Ready',
      message: 'version 1.1.0 waits for consent',
      pending: { version: '1.1.0', digest, from: ['Hub'], counts: { rightsAdded: 1 }, gravest: ['May read every Secret of the cluster.'] },
    },
  ],
}

test.afterAll(async () => {
  await kubectl(['delete', 'kyma', 'asking', '-n', 'kcp-system', '--wait=false', '--ignore-not-found'])
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

test('a version that waits for consent is approved from its page, for exactly the content that was shown', async ({ page }) => {
  await apply([asking])
  const status = JSON.stringify({ status: waiting })
  await kubectl(['patch', 'kyma', 'asking', '-n', 'kcp-system', '--subresource=status', '--type=merge', '-p', status])
  await page.goto('/modules/kcp-system/asking/greeter?tab=permissions')
  await expect(page.getByRole('heading', { name: '1.1.0 waits for your consent' })).toBeVisible()
  await expect(page.getByText('1.1.0 also wants to read every Secret of the cluster.').first()).toBeVisible()
  const panel = page.getByRole('region', { name: 'This version may' })
  await expect(panel.getByText('Covers the objects that the module is installed with')).toBeVisible(patience) // the registry was read
  await settled(page)
  await look(page, 'module-permissions')
  await page.getByRole('button', { name: 'Approve 1.1.0' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText(`1.1.0@${digest}`)).toBeVisible()
  await dialog.getByRole('button', { name: 'Approve 1.1.0' }).click()
  await expect(dialog.getByText('Approve 1.1.0 in Kyma kcp-system/asking')).toBeVisible()
  const approved = async () =>
    (await kubectl(['get', 'kyma', 'asking', '-n', 'kcp-system', '-o', 'jsonpath={.spec.modules[0].approved}'])).text
  await expect.poll(approved).toBe(`1.1.0@${digest}`)
})

test('a version that wants to read every Secret stays away until a user agrees on its page', async ({ page }) => {
  const careful = kyma('careful', [{ name: 'warden', upgradeStrategy: 'Manual' }])
  const module = (field: string) =>
    kubectl(['get', 'kyma', 'careful', '-n', 'kcp-system', '-o', `jsonpath={.status.modules[0].${field}}`]).then(({ text }) => text)
  const may = () => kubectl(['get', 'clusterrole', 'warden', '-o', 'jsonpath={.rules[*].resources[*]}']).then(({ text }) => text)
  await apply([careful])
  await expect.poll(() => module('state'), patience).toBe('Ready')
  expect(await may()).toBe('configmaps')
  const follow = JSON.stringify([{ op: 'add', path: '/spec/modules/0/channel', value: 'fast' }])
  await kubectl(['patch', 'kyma', 'careful', '-n', 'kcp-system', '--type=json', '-p', follow])

  await page.goto('/modules/kcp-system/careful/warden')
  await expect(page.getByRole('heading', { name: '1.1.0 waits for your consent' })).toBeVisible(patience)
  await expect(page.getByText('1.1.0 also wants to read every Secret of the cluster.').first()).toBeVisible()
  expect(await module('version')).toBe('1.0.0')
  expect(await may()).toBe('configmaps')
  await page.getByRole('button', { name: 'What it may do' }).click()
  const panel = page.getByRole('region', { name: 'This version may' })
  await expect(panel.getByText('Covers the objects that the module is installed with')).toBeVisible(patience)
  await expect(panel.getByText('May read every Secret of the cluster').first()).toBeVisible()
  await settled(page)
  await look(page, 'consent-warden')

  await page.getByRole('button', { name: 'Approve 1.1.0' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Approve 1.1.0' }).click()
  await expect.poll(() => module('version'), patience).toBe('1.1.0')
  await expect.poll(() => module('state'), patience).toBe('Ready')
  expect(await may()).toBe('configmaps secrets')
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect(page.getByRole('heading', { name: /waits for your consent/ })).toHaveCount(0)
  await kubectl(['delete', 'kyma', 'careful', '-n', 'kcp-system'])
})

test('a promotion says before what becomes of the Kymas', async ({ page }) => {
  await page.goto('/releases')
  await page.getByRole('button', { name: 'Change greeter' }).click()
  await page.getByRole('combobox', { name: 'Channel' }).selectOption('regular')
  await page.getByRole('combobox', { name: 'Version' }).selectOption('1.1.0')
  await page.getByRole('button', { name: 'See what would change' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText(/follow this channel|follows this channel/)).toBeVisible(patience)
  await expect(dialog.getByRole('list', { name: 'Outcomes' })).toBeVisible()
  await expect(dialog.getByText('What changes in the clusters')).toBeVisible()
  await settled(page)
  await look(page, 'promotion')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
})

test('the history of a module is on its page', async ({ page }) => {
  await page.goto('/modules/kcp-system/demo/greeter?tab=history')
  await settled(page)
  await expect(page.getByRole('tab', { name: 'History' })).toHaveAttribute('aria-selected', 'true')
  await look(page, 'module-history')
})
