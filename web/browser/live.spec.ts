// Pages follow the cluster: at once, in every tab, and what was begun continues without any.
import type { Page } from '@playwright/test'
import { apply, kubectl, kyma } from './cluster'
import type { Operation } from '../src/api'
import { agree, choose, finished, next, patience } from './hands'
import { world } from './places'
import { expect, settled, test } from './test'

/** allowed is how long a page may take to show a change, in milliseconds. */
const allowed = 2000

/** shown is the moment at which a text is on the page, or no longer; the page itself looks, at every change of it. */
function shown(page: Page, text: string, there = true): Promise<number> {
  return page.evaluate(
    ([wanted, want]) =>
      new Promise<number>((done) => {
        const look = () => {
          if (document.body.innerText.includes(wanted) !== want) return
          eyes.disconnect()
          done(Date.now())
        }
        const eyes = new MutationObserver(look)
        eyes.observe(document.body, { childList: true, subtree: true, characterData: true })
        look()
      }),
    [text, there] as const,
  )
}

/** loadedOnce says that nobody loads a page again. */
async function loadedOnce(page: Page) {
  await page.evaluate(() => Object.assign(window, { loadedOnce: true }))
  return async () => expect(await page.evaluate(() => 'loadedOnce' in window)).toBe(true)
}

test('what kubectl changes is on the page within two seconds, without loading it anew', async ({ page }) => {
  await page.goto('/kymas')
  await settled(page)
  const same = await loadedOnce(page)
  const took: Record<string, number[]> = { made: [], changed: [], deleted: [] }
  for (const name of ['live-one', 'live-two', 'live-three']) {
    const made = shown(page, name)
    const { at } = await apply([kyma(name)])
    took['made']?.push((await made) - at)
  }
  await same()
  for (const [i, channel] of ['spring', 'summer', 'autumn'].entries()) {
    const name = ['live-one', 'live-two', 'live-three'][i] ?? ''
    const changed = shown(page, channel)
    const patch = JSON.stringify({ spec: { channel } })
    const { at } = await kubectl(['patch', 'kyma', name, '-n', 'kcp-system', '--type=merge', '-p', patch])
    took['changed']?.push((await changed) - at)
    const gone = shown(page, name, false)
    const deleted = await kubectl(['delete', 'kyma', name, '-n', 'kcp-system', '--wait=false'])
    took['deleted']?.push((await gone) - deleted.at)
  }
  await same()
  console.log('milliseconds from the change to the page:', JSON.stringify(took))
  for (const [what, times] of Object.entries(took)) expect(Math.min(...times), what).toBeLessThanOrEqual(allowed)
})

test('two tabs show the same change; a logout in one ends the other', async ({ browser, baseURL, watch }) => {
  const context = await browser.newContext({ baseURL, storageState: { cookies: [], origins: [] } })
  await watch.over(context)
  watch.allow(/status of 401/)
  const first = await context.newPage()
  await first.goto(world().link)
  await settled(first)
  const second = await context.newPage()
  await Promise.all([first.goto('/kymas'), second.goto('/kymas')])
  await Promise.all([settled(first), settled(second)])
  await apply([kyma('two-tabs')])
  await expect(first.getByRole('link', { name: 'two-tabs' })).toBeVisible()
  await expect(second.getByRole('link', { name: 'two-tabs' })).toBeVisible()
  await first.getByRole('button', { name: /^Account/ }).click()
  await first.getByRole('menuitem', { name: 'Log out' }).click()
  await expect(first).toHaveURL(/\/login$/)
  await expect(second).toHaveURL(/\/login$/)
  await second.goto('/kymas')
  await expect(second).toHaveURL(/\/login$/)
  await kubectl(['delete', 'kyma', 'two-tabs', '-n', 'kcp-system'])
  await context.close()
})

test('the tab is closed in the middle of an install: it goes on, and another tab shows its end', async ({ page, context }) => {
  await page.goto('/add?kyma=kcp-system/local-demo')
  await expect(page.getByRole('combobox', { name: 'For which Kyma?' })).toHaveValue('kcp-system/local-demo')
  await choose(page, 'beacon')
  await next(page, 'Version')
  await next(page, 'Configure')
  await next(page, 'Check and add')
  const begun = page.waitForResponse((answer) => answer.url().endsWith('/api/v1/operations') && answer.request().method() === 'POST')
  await agree(page, 'Add beacon')
  const operation = (await (await begun).json()) as Operation
  await page.close()
  expect(operation.state).toBe('Running')

  const other = await context.newPage()
  await other.goto('/operations')
  await other.getByRole('link', { name: operation.title }).first().click()
  await finished(other, /beacon/)
  await other.goto('/modules/kcp-system/local-demo/beacon')
  await expect(other.locator('.page-head').getByText('Ready', { exact: true })).toBeVisible(patience)
})
