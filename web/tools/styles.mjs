// Keeps src/app/mantine.css at the styles of the components that the build has: it names them when they differ, or writes the file anew
// (--write). A component of Mantine carries the classes of its style sheet in its code, so that the built code says which are used.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const sheets = new URL('../node_modules/@mantine/core/styles/', import.meta.url)
const built = new URL('../../internal/dashboard/server/assets/dist/assets/', import.meta.url)
const file = new URL('../src/app/mantine.css', import.meta.url)

const classesOf = (text) => [...new Set([...text.matchAll(/\.(m_[0-9a-f]+)/g)].map((found) => found[1]))]
const code = readdirSync(built).filter((name) => name.endsWith('.js')).map((name) => readFileSync(new URL(name, built), 'utf8')).join('\n')
const whole = readFileSync(new URL('../styles.css', sheets), 'utf8')

// The order is that of the whole style sheet: of two rules that weigh the same, the later one counts.
const used = readdirSync(sheets)
  .filter((name) => /^[A-Z]\w+\.css$/.test(name))
  .map((name) => ({ name, classes: classesOf(readFileSync(new URL(name, sheets), 'utf8')) }))
  .filter(({ classes }) => classes.some((one) => code.includes(one)))
  .map(({ name, classes }) => ({ name, at: Math.min(...classes.map((one) => whole.indexOf('.' + one)).filter((at) => at >= 0)) }))
  .sort((a, b) => a.at - b.at)
  .map(({ name }) => name)

const lines = ['baseline.css', 'default-css-variables.css', 'global.css', ...used].map((name) => `@import '@mantine/core/styles/${name}';`)
const wanted = '/* The styles of the components in use: written by npm run styles, and checked by npm run build. */\n' + lines.join('\n') + '\n'
if (process.argv.includes('--write')) {
  writeFileSync(file, wanted)
} else if (readFileSync(file, 'utf8') !== wanted) {
  console.error('src/app/mantine.css has not exactly the styles of the components in use: run npm run styles, and build again')
  process.exit(1)
}
