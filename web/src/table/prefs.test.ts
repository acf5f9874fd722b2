import { expect, it } from 'vitest'
import { prefsOf, visible, withColumn, withoutColumns } from './prefs'

const columns = [{ key: 'name' }, { key: 'state' }, { key: 'labels', off: true }]
const keys = (value: unknown) => visible(prefsOf(value), 'kymas', columns).map(({ key }) => key)

it.each([
  [undefined, ['name', 'state']],
  [null, ['name', 'state']],
  ['text', ['name', 'state']],
  [[1], ['name', 'state']],
  [{ columns: 7 }, ['name', 'state']],
  [{ columns: { kymas: { state: 'no' } } }, ['name', 'state']],
  [{ columns: { kymas: { state: false } } }, ['name']],
  [{ columns: { kymas: { labels: true, gone: true } } }, ['name', 'state', 'labels']],
  [{ columns: { kymas: { name: false } } }, ['name', 'state']],
  [{ columns: { modules: { state: false } } }, ['name', 'state']],
  [{ columns: JSON.parse('{"__proto__":{"state":false}}') as unknown }, ['name', 'state']],
])('%j shows the columns %j', (value, want) => expect(keys(value)).toEqual(want))

it('is as dense as was said, and not otherwise', () => {
  const stored = [undefined, { dense: true }, { dense: 'yes' }, { dense: false }]
  expect(stored.map((value) => prefsOf(value).dense)).toEqual([false, true, false, false])
})

it('switches a column of one table, and makes it as usual again', () => {
  const on = withColumn(prefsOf({ columns: { modules: { a: true } } }), 'kymas', 'labels', true)
  expect(visible(on, 'kymas', columns)).toHaveLength(3)
  expect(prefsOf(JSON.parse(JSON.stringify(on)))).toEqual(on)
  expect(visible(withoutColumns(on, 'kymas'), 'kymas', columns)).toHaveLength(2)
  expect(withoutColumns(on, 'kymas').columns['modules']).toEqual({ a: true })
})
