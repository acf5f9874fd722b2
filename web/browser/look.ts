// Looking at a page as a user would, and as somebody who uses a screen reader would.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, type Page } from '@playwright/test'
import { artifacts } from './places'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const everything = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }
/** colors are the rules that ask for colors: the dark page is the same page otherwise. */
const colors = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

interface Found {
  id: string
  help: string
  nodes: { html: string; any: { message: string }[] }[]
}

/** accessible asks axe. */
async function accessible(page: Page, what: string, rules: object) {
  await page.evaluate(axe)
  const found = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: { run(what: Document, options: object): Promise<{ violations: Found[] }> } }
    return (await axe.run(document, { runOnly, resultTypes: ['violations'] })).violations
  }, rules)
  const said = found.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html} ${node.any[0]?.message ?? ''}`))
  expect(said, `axe on ${what}`).toEqual([])
}

/** picture keeps a screenshot of the whole page. */
export async function picture(page: Page, name: string) {
  await page.screenshot({ path: artifacts('screenshots', name + '.png'), fullPage: true })
}

/** look looks at a page in light, dark and 360 px wide. */
export async function look(page: Page, name: string) {
  const usual = page.viewportSize()
  await accessible(page, `${name}, light`, everything)
  await picture(page, `${name}-light`)
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await accessible(page, `${name}, dark`, colors)
  await picture(page, `${name}-dark`)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'light')
  await page.setViewportSize({ width: 360, height: 740 })
  await picture(page, `${name}-narrow`)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(wide, `${name} is wider than a telephone`).toBeLessThanOrEqual(1)
  if (usual) await page.setViewportSize(usual)
}
