// How the tests in a real browser run: Debian's chromium, one after the other, against a playground that setup.ts starts.
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'
import { artifacts } from './places'

/** report is for the table of the slowest tests; see hack/stages. */
const report = join(process.env['STAGES_DIR'] ?? artifacts(), 'test-browser.xml')

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: artifacts('results'),
  globalSetup: './setup.ts',
  workers: 1,
  retries: 0,
  forbidOnly: true,
  maxFailures: Number(process.env['MAX_FAILURES'] ?? 0),
  timeout: 300_000,
  expect: { timeout: 30_000 },
  reporter: [['list'], ['json', { outputFile: artifacts('report.json') }], ['junit', { outputFile: report }]],
  use: {
    viewport: { width: 1280, height: 860 },
    colorScheme: 'light',
    locale: 'en-GB',
    contextOptions: { reducedMotion: 'reduce' },
    screenshot: 'only-on-failure',
    actionTimeout: 30_000,
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox', // root has none
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
})
