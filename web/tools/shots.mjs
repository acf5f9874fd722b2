// Looks at every page as a person would: screenshots (light, dark, narrow) and axe on each, against a running server.
//   node tools/shots.mjs [--base http://127.0.0.1:5199] [--out /tmp/shots] [--only NAME]
// Against `kyma dashboard`, --base is the link that it prints, with its code.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const option = (name, fallback) => {
  const at = process.argv.indexOf('--' + name)
  return at > 0 ? process.argv[at + 1] : fallback
}
const link = new URL(option('base', 'http://127.0.0.1:5199'))
const base = link.origin
const out = option('out', join(tmpdir(), 'shots'))
const only = option('only', '')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
mkdirSync(out, { recursive: true })

const pages = [
  ['overview', '/'],
  ['kymas', '/kymas'],
  ['kyma', '/kymas/kcp-system/demo'],
  ['kyma-status', '/kymas/kcp-system/demo?tab=status'],
  ['modules', '/modules'],
  ['module', '/modules/kcp-system/demo/beacon'],
  ['module-form', '/modules/kcp-system/demo/greeter?tab=configuration'],
  ['module-versions', '/modules/kcp-system/demo/greeter?tab=versions'],
  ['module-events', '/modules/kcp-system/demo/beacon?tab=events'],
  ['delete', '/modules/kcp-system/demo/greeter/delete'],
  ['direct', '/direct/docker-registry'],
  ['catalog', '/catalog'],
  ['offer', '/catalog/greeter'],
  ['add', '/add?kyma=kcp-system/demo'],
  ['upgrade', '/upgrade'],
  ['sources', '/sources'],
  ['releases', '/releases'],
  ['operations', '/operations'],
  ['operation', '/operations/run'],
  ['settings', '/settings'],
  ['missing', '/nowhere'],
]
  .map(([name, path]) => ({ name, path, scenario: 'data' }))
  .concat([
    { name: 'login', path: '/login', scenario: 'login' },
    { name: 'empty', path: '/', scenario: 'empty' },
    { name: 'empty-modules', path: '/modules', scenario: 'empty' },
    { name: 'fine', path: '/', scenario: 'fine' },
    { name: 'forbidden', path: '/kymas', scenario: 'forbidden' },
    { name: 'error', path: '/', scenario: 'error' },
    { name: 'loading', path: '/modules', scenario: 'slow' },
    { name: 'hostile', path: '/modules', scenario: 'hostile' },
    { name: 'many', path: '/kymas', scenario: 'many' },
  ])
const looks = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  { name: 'narrow', colorScheme: 'light', viewport: { width: 360, height: 740 } },
]

const profile = mkdtempSync(join(tmpdir(), 'shots-profile-'))
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: '/usr/bin/chromium',
  headless: true,
  viewport: null,
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
})
let problems = 0
const foreign = new Set()

async function look(page, { name, path, scenario }, look_) {
  if (scenario) await page.goto(`${base}/__mock?scenario=${scenario}`).catch(() => undefined)
  await page.goto(base + path, { waitUntil: 'load' })
  await page.waitForSelector('h1', { timeout: 15_000 }).catch(() => undefined)
  if (scenario !== 'slow') {
    await page
      .waitForFunction(() => !document.querySelector('[aria-label=Loading]'), undefined, { timeout: 15_000 })
      .catch(() => undefined)
  }
  await page.waitForTimeout(250)
  await page.screenshot({ path: join(out, `${name}-${look_.name}.png`), fullPage: true })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  if (wide > 1) report(`${name} ${look_.name}: ${wide} px too wide`)
  await page.evaluate(axe)
  const found = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }),
  )
  for (const v of found.violations) {
    report(
      `${name} ${look_.name}: axe ${v.id} (${v.impact}): ${v.help}\n      ${v.nodes
        .slice(0, 3)
        .map((n) => n.html.slice(0, 160) + '  ' + (n.any[0]?.message ?? ''))
        .join('\n      ')}`,
    )
  }
}

function report(text) {
  problems++
  console.log(text)
}

for (const one of looks) {
  const page = await browser.newPage()
  await page.setViewportSize(one.viewport)
  await page.emulateMedia({ colorScheme: one.colorScheme, reducedMotion: 'reduce' })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== base && !request.url().startsWith('data:')) foreign.add(request.url())
  })
  page.on('pageerror', (error) => report(`${one.name}: ${page.url()}: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (401|403|404|502)/.test(message.text()))
      report(`${one.name}: ${page.url()}: console: ${message.text().slice(0, 300)}`)
  })
  if (link.hash) await page.goto(link.href, { waitUntil: 'load' })
  for (const entry of pages) {
    if (only && entry.name !== only) continue
    await look(page, link.hash ? { ...entry, scenario: '' } : entry, one).catch((error) =>
      report(`${entry.name} ${one.name}: ${error.message.split('\n')[0]}`),
    )
  }
  await page.close()
}
await browser.close()
rmSync(profile, { recursive: true, force: true })
for (const url of foreign) report(`a request left the page: ${url}`)
console.log(`${problems} problems; screenshots in ${out}`)
process.exit(problems === 0 ? 0 : 1)
