// What every test has: a browser that is logged in to the playground, and somebody who watches that the page does nothing that it must not.
import { expect, test as base, type BrowserContext, type Page } from '@playwright/test'
import { sessionFile, world } from './places'

export { expect }

/** Watch is who looks at everything that pages do. */
export interface Watch {
  /** over looks at one more browser; the one of the fixture page is looked at anyway. */
  over(context: BrowserContext): Promise<void>
  /** allow says that the console may say something, since the test asks for a refusal. */
  allow(pattern: RegExp): void
}

/** settled waits until a page shows what it is about. */
export async function settled(page: Page) {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByLabel('Loading')).toHaveCount(0)
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
}

export const test = base.extend<{ watch: Watch }>({
  storageState: sessionFile,
  baseURL: async ({}, provide) => provide(world().base),
  watch: [
    async ({ context }, provide) => {
      const wrong: string[] = []
      const allowed: RegExp[] = []
      const secret = new URL(world().link).hash.slice('#code='.length)
      const over = async (one: BrowserContext) => {
        one.on('weberror', (error) => wrong.push(`error: ${error.error().message}`))
        one.on('dialog', (dialog) => {
          wrong.push(`dialog: ${dialog.message()}`)
          void dialog.dismiss()
        })
        one.on('console', (message) => {
          const said = message.text()
          if (message.type() === 'error' || said.includes('violates')) wrong.push(`console: ${said} at ${message.location().url}`)
        })
        one.on('request', (request) => {
          const url = new URL(request.url())
          url.hash = '' // is sent to nobody
          const here = url.hostname === '127.0.0.1' || url.protocol === 'data:'
          if (!here) wrong.push(`a request to another host: ${request.url()}`)
          const referrer = request.headers()['referer'] ?? ''
          if (url.href.includes(secret) || referrer.includes(secret)) wrong.push(`the code of the login is in an address: ${url.pathname}`)
        })
        await one.addInitScript(() => {
          document.addEventListener('securitypolicyviolation', (event) =>
            console.error(`violates ${event.violatedDirective}: ${event.blockedURI} ${event.sample}`),
          )
        })
      }
      await over(context)
      await provide({ over, allow: (pattern) => void allowed.push(pattern) })
      expect(wrong.filter((text) => !allowed.some((pattern) => pattern.test(text)))).toEqual([])
    },
    { auto: true },
  ],
})
