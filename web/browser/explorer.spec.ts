// The objects of a module: from the tree to the pod, its YAML and its log, by an address, by keys, and for a user who may see little.
import type { Page } from '@playwright/test'
import { kubectl, kubeconfigOf } from './cluster'
import { patience } from './hands'
import { hostile } from './hostile'
import { look, picture } from './look'
import { artifacts, program, root, world } from './places'
import { start, type Running } from './processes'
import { expect, settled, test } from './test'

test.describe.configure({ mode: 'serial' })

const module = '/modules/kcp-system/demo/greeter'
const runtime = () => ({ kubeconfig: world().runtime })

/** podOf is the pod that runs greeter's operator. */
async function podOf(): Promise<{ name: string; namespace: string }> {
  const { text } = await kubectl(['get', 'pods', '-A', '-o', 'json'], runtime())
  const { items } = JSON.parse(text) as { items: { metadata: { name: string; namespace: string } }[] }
  const found = items.find((one) => one.metadata.name.startsWith('greeter'))
  if (!found) throw new Error('no pod of greeter runs in the playground')
  return found.metadata
}

/** harmless says that a page the text of a cluster as text: no markup of the cluster has become part of it. */
async function harmless(page: Page) {
  const found = await page.evaluate(() => ({
    hacked: (window as { hacked?: string }).hacked ?? '',
    foreign: [...document.images].map((image) => image.getAttribute('src') ?? '').filter((src) => src !== '/favicon.svg'),
  }))
  expect(found).toEqual({ hacked: '', foreign: [] })
}

/** log answers for the kubelet, which the playground has none of: some lines of anything. */
async function log(page: Page, lines: string[]) {
  const asked: string[] = []
  await page.route('**/greeter/logs?*', async (route) => {
    asked.push(new URL(route.request().url()).search)
    const body = JSON.stringify({ lines: lines.map((text) => ({ at: '2026-01-02T03:04:05Z', text })) }) + '\n{"end":"Complete"}\n'
    await route.fulfill({ contentType: 'application/x-ndjson', body })
  })
  return asked
}

test('the pod is found below its Deployment, by keys, and its address opens it again', async ({ page }) => {
  const pod = await podOf()
  await page.goto(module)
  await settled(page)
  const tree = page.getByRole('tree', { name: 'Objects' })
  const deployment = tree.getByRole('treeitem', { name: /^Deployment .*greeter/ })
  await expect(deployment).toBeVisible(patience)
  await look(page, 'explorer-tree')

  await deployment.focus()
  if ((await deployment.getAttribute('aria-expanded')) === 'false') await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  const replicas = tree.getByRole('treeitem', { name: /^ReplicaSet/ }).first()
  await expect(replicas).toBeFocused()
  if ((await replicas.getAttribute('aria-expanded')) === 'false') await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  const item = tree.getByRole('treeitem', { name: new RegExp(`^Pod ${pod.namespace}/${pod.name}`) })
  await expect(item).toBeFocused()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('region', { name: `Pod ${pod.name}` })
  await expect(panel.getByRole('list', { name: 'Containers' })).toBeVisible()
  await expect(panel.getByRole('button', { name: 'Copy as kubectl get' })).toHaveAttribute(
    'title',
    `kubectl get pods/${pod.name} -n ${pod.namespace} -o yaml`,
  )
  await look(page, 'explorer-object')

  await page.reload()
  await expect(panel.getByRole('list', { name: 'Containers' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(panel).toHaveCount(0)
  await page.goBack()
  await expect(panel).toBeVisible()
})

test('the YAML of a hostile object and a hostile log are text', async ({ page }) => {
  const pod = await podOf()
  await kubectl(['annotate', 'pod', pod.name, '-n', pod.namespace, '--overwrite', `example.com/trick=${hostile('yaml')}`], runtime())
  const asked = await log(page, [hostile('log'), '\u001b[31mred\u001b[0m \u202etxt.exe', 'x'.repeat(5000), 'the last line'])
  const address = `${module}?tab=parts&object=${encodeURIComponent(`Pod/${pod.namespace}/${pod.name}`)}&version=v1`
  await page.goto(address + '&panel=yaml')
  await expect(page.locator('.cm-content')).toContainText('example.com/trick', patience)
  await harmless(page)
  await page.getByRole('tab', { name: 'Logs' }).click()
  const lines = page.getByRole('log')
  await expect(lines).toContainText('the last line')
  await expect(lines).toContainText(hostile('log'))
  await expect(lines).toContainText('<U+001B>[31mred<U+001B>[0m <U+202E>txt.exe')
  await harmless(page)
  await picture(page, 'explorer-log')
  expect(asked.length).toBe(1)

  // Everything that is chosen stands in the address; one log is one request, and nothing is asked again by itself.
  await page.getByRole('checkbox', { name: 'Follow' }).click() // its state comes of the address, a moment later
  await expect(page).toHaveURL(/follow=true/)
  await expect.poll(() => asked.length).toBe(2)
  expect(asked[1]).toContain('follow=true')
  await page.reload()
  await expect(page.getByRole('checkbox', { name: 'Follow' })).toBeChecked()
  await expect(lines).toContainText('the last line')
  await page.goBack()
  await expect(page.getByRole('checkbox', { name: 'Follow' })).not.toBeChecked()
})

test('what the version says is compared with what is there', async ({ page }) => {
  await page.goto(module)
  await page.getByRole('treeitem', { name: /^Deployment .*greeter/ }).click()
  await page.getByRole('tab', { name: 'YAML' }).click()
  await page.getByText('Wanted', { exact: true }).click()
  await expect(page.getByText(/As version \S+ says|What the version says cannot be known from here/)).toBeVisible(patience)
  await page.getByText('Difference', { exact: true }).click()
  await expect(page).toHaveURL(/side=difference/)
  await picture(page, 'explorer-difference')
})

test('the graph shows the same, also 768 px wide', async ({ page }) => {
  await page.setViewportSize({ width: 768, height: 1024 })
  await page.goto(module + '?view=graph')
  const deployment = page.getByRole('button', { name: /^Deployment .*greeter/ })
  await expect(deployment).toBeVisible(patience)
  await deployment.focus()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('button', { name: /^ReplicaSet/ }).first()).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: /^ReplicaSet/ })).toBeVisible()
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(wide).toBeLessThanOrEqual(1)
  await look(page, 'explorer-graph')
})

test.describe('a user who may read Deployments and no pods', () => {
  test.use({ storageState: { cookies: [], origins: [] } })
  let board: Running

  test.beforeAll(async () => {
    const read = ['get', 'list', 'watch']
    board = await start({
      program: program('kyma'),
      args: [
        'dashboard',
        '--kubeconfig',
        await kubeconfigOf('explorer', [
          { apiGroups: ['operator.kyma-project.io'], resources: ['*'], verbs: read },
          { apiGroups: [''], resources: ['namespaces'], verbs: read },
          { apiGroups: ['apps'], resources: ['deployments'], verbs: read },
        ]),
      ],
      cwd: root,
      log: artifacts('dashboard-explorer.log'),
      until: /(http:\/\/127\.0\.0\.1:\d+)\/#code=\S+/,
    })
  })
  test.afterAll(() => board.stop())

  test('is told what could not be read, and nothing is taken for missing', async ({ page }) => {
    await page.goto(board.found[0])
    await settled(page)
    await page.goto((board.found[1] ?? '') + '/modules/kcp-system/local-demo/greeter')
    await expect(page.getByRole('treeitem', { name: /^Deployment .*greeter/ })).toBeVisible(patience)
    await expect(page.getByText('You may not list ServiceAccount in namespace', { exact: false }).first()).toBeVisible()
    await expect(page.getByRole('treeitem', { name: /not readable/ }).first()).toBeVisible()
    await expect(page.getByRole('treeitem', { name: /missing/ })).toHaveCount(0)
    await look(page, 'explorer-restricted')
  })
})
