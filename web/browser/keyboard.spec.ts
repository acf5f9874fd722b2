// One whole installation without a mouse: Tab, Enter, Space and arrows, and one sees where one is.
import type { JSHandle, Page } from '@playwright/test'
import { finished } from './hands'
import { picture } from './look'
import { expect, settled, test } from './test'

/** focused is what has the focus, and its name. */
async function focused(page: Page): Promise<{ on: JSHandle<Element | null>; name: string }> {
  const on = await page.evaluateHandle(() => document.activeElement)
  const name = await on.evaluate((one) => {
    if (!one || one === document.body) return ''
    const labels = one instanceof HTMLInputElement || one instanceof HTMLSelectElement ? [...(one.labels ?? [])] : []
    return (one.getAttribute('aria-label') || labels.map((label) => label.innerText).join(' ') || one.textContent || '').trim()
  })
  return { on, name }
}

/** drawn is how something looks, with what is beside and around it, since the focus of a tick is drawn there. */
function drawn(on: JSHandle<Element | null>): Promise<string> {
  return on.evaluate((one) => {
    const around = [one, one?.nextElementSibling, one?.parentElement, one?.closest('label')]
    return around
      .map((each) => {
        if (!each?.isConnected) return 'gone'
        const { outline, boxShadow, borderColor, top, clipPath } = getComputedStyle(each)
        return [outline, boxShadow, borderColor, top, clipPath].join()
      })
      .join('; ')
  })
}

/** tabTo presses Tab until something has the focus. All that it passes looks different once the focus has left it: it could be seen. */
async function tabTo(page: Page, name: RegExp) {
  const passed: string[] = []
  for (let i = 0; i < 80; i++) {
    const before = await focused(page)
    const looked = await drawn(before.on)
    await page.keyboard.press('Tab')
    if (before.name && passed.length > 0) {
      await expect.poll(() => drawn(before.on), `the focus on ${before.name} can be seen`).not.toBe(looked)
    }
    const now = await focused(page)
    if (name.test(now.name)) return
    passed.push(now.name)
  }
  throw new Error(`no Tab leads to ${name}: ${passed.join(' | ')}`)
}

test('a module is installed by the keyboard alone', async ({ page }) => {
  await page.goto('/add')
  await settled(page)

  // The first Tab offers to skip the menu.
  await page.keyboard.press('Tab')
  expect((await focused(page)).name).toBe('Skip to the content')
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeInViewport()
  await picture(page, 'keyboard-skip')
  await page.keyboard.press('Enter')
  await expect(page.locator('main')).toBeFocused()

  await tabTo(page, /For which Kyma/)
  await page.keyboard.type('local')
  await expect(page.getByRole('listbox').getByRole('option')).toHaveText(['kcp-system/local-demo'])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('combobox', { name: 'For which Kyma?' })).toHaveValue('kcp-system/local-demo')

  // A slash goes to the search, and is no part of it.
  await page.keyboard.press('Escape')
  await page.getByRole('combobox', { name: 'For which Kyma?' }).blur()
  await page.keyboard.press('/')
  await expect(page.getByRole('searchbox')).toBeFocused()
  await page.keyboard.type('serverless')
  await expect(page.getByRole('checkbox')).toHaveCount(1)
  await tabTo(page, /^serverless/)
  await picture(page, 'keyboard-choose')
  await page.keyboard.press('Space')
  await tabTo(page, /^Next: Version/)
  await page.keyboard.press('Enter')

  await tabTo(page, /^Version of serverless/)
  await tabTo(page, /^Next: Configure/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Configuration' })).toBeVisible()
  await tabTo(page, /^Next: Check and add/)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Through the Kyma')).toBeVisible()
  await tabTo(page, /^Add serverless/)
  await picture(page, 'keyboard-add')
  await page.keyboard.press('Enter')
  await finished(page, /serverless/)
})

test('a slash searches from anywhere, and a dialog keeps the focus until Escape', async ({ page }) => {
  await page.goto('/settings')
  await settled(page)
  await page.keyboard.press('/')
  await expect(page).toHaveURL(/\/modules$/)
  await expect(page.getByRole('searchbox', { name: 'Search modules' })).toBeFocused()
  await page.keyboard.type('greeter')
  await expect(page).toHaveURL(/search=greeter/)
  await expect(page.getByRole('searchbox', { name: 'Search modules' })).toHaveValue('greeter')

  await page.goto('/modules/kcp-system/demo/greeter')
  await settled(page)
  await tabTo(page, /^Stop managing/)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Stop managing' })).toBeEnabled()
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('Tab')
    await expect(dialog.locator(':focus')).toHaveCount(1)
  }
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Stop managing' })).toBeFocused()
})
