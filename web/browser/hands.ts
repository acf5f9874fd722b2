// What a user does over and over: go through the wizard, watch an operation.
import { expect, type Page } from '@playwright/test'

/** patience is for what a cluster does; a page has less. */
export const patience = { timeout: 90_000 }

/** operation is the card of something that is being done. */
export const operation = (page: Page, title: RegExp) => page.getByRole('region', { name: title })

/** finished waits until an operation is done. */
export async function finished(page: Page, title: RegExp) {
  await expect(operation(page, title).getByText('Done', { exact: true })).toBeVisible(patience)
}

/** choose ticks a module on the first step of the wizard. */
export async function choose(page: Page, module: string) {
  await page.getByRole('searchbox', { name: 'Search the catalog' }).fill(module)
  await page.getByRole('checkbox', { name: module, exact: true }).check()
}

/** next goes to a step of the wizard. */
export async function next(page: Page, step: 'Version' | 'Configure' | 'Check and add') {
  await page.getByRole('button', { name: `Next: ${step}` }).click()
}

/** agree presses the button below what would change. */
export async function agree(page: Page, verb: string) {
  await page.getByRole('button', { name: verb, exact: true }).click()
}
