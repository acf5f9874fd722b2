// The first page is there within a second, also for somebody who was never here before.
import { availableParallelism, loadavg } from 'node:os'
import { expect, test } from './test'

test('from the address to what needs attention in at most one second', async ({ browser, baseURL, storageState, watch }) => {
  const took: number[] = []
  // What else the machine does is not the page's fault: the best of forty counts, and no more than needed are tried.
  while (took.length < 40 && !took.some((one) => one <= 1000)) {
    const context = await browser.newContext({ baseURL, storageState }) // nothing is in its cache
    await watch.over(context)
    const page = await context.newPage()
    const began = Date.now()
    await page.goto('/', { waitUntil: 'commit' })
    await page.locator('#needs').waitFor()
    took.push(Date.now() - began)
    await context.close()
  }
  console.log('milliseconds until the first page was usable:', took.join(', '))
  const share = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()) // of a processor that others want all the time
  expect(Math.min(...took)).toBeLessThanOrEqual(1000 * Math.max(share, slowness()))
})

// The second is meant for a processor that counts to a hundred million in 150 ms: one that takes twice as long is given twice as long.
const usual = 150

/** slowness says how many times slower than that this machine is, at its best. */
function slowness(): number {
  const took = Array.from({ length: 10 }, () => {
    const began = performance.now()
    for (let i = 0, sum = 1; i < 100_000_000; i++) sum = (Math.imul(sum, 31) + i) | 0
    return performance.now() - began
  })
  return Math.max(1, Math.min(...took) / usual)
}
