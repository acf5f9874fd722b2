// The first page is there within a second, also for somebody who was never here before.
import { within } from './quick'
import { test } from './test'

test('from the address to what needs attention in at most one second', async ({ browser, baseURL, storageState, watch }) => {
  await within('the first page until it is usable', 1000, async () => {
    const context = await browser.newContext({ baseURL, storageState }) // nothing is in its cache
    await watch.over(context)
    const page = await context.newPage()
    const began = Date.now()
    await page.goto('/', { waitUntil: 'commit' })
    await page.locator('#needs').waitFor()
    const took = Date.now() - began
    await context.close()
    return took
  })
})
