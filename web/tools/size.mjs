// Says how much the first page loads, and fails when that is more than 240 KiB gzip of JS and CSS, or 25 KiB of CSS.
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const dist = new URL('../../internal/dashboard/server/assets/dist/', import.meta.url)
const index = readFileSync(new URL('index.html', dist), 'utf8')
const first = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map((found) => found[1])
let total = 0
let styles = 0
for (const name of first) {
  const size = gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length
  total += size
  if (name.endsWith('.css')) styles += size
  console.log(`${(size / 1024).toFixed(1).padStart(8)} KiB gzip  ${name}`)
}
const all = readdirSync(new URL('assets/', dist)).length
console.log(`${(total / 1024).toFixed(1).padStart(8)} KiB gzip  first load, of ${all} files`)
if (first.length === 0 || total > 240 * 1024 || styles > 25 * 1024) {
  console.error('the first load is empty, or larger than 240 KiB, or its styles are larger than 25 KiB')
  process.exit(1)
}
