import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, it } from 'vitest'
import type { Json } from '../api'
import { SchemaForm } from './SchemaForm'

const schema = { type: 'object', properties: { labels: { type: 'object', additionalProperties: { type: 'string' } } } }

/** open shows a form of labels, and returns what it makes of them. */
function open(labels: Record<string, string>) {
  let now: Json = { labels }
  function Form() {
    const [value, setValue] = useState<Json>({ labels })
    now = value
    return (
      <MantineProvider env="test">
        <SchemaForm schema={schema} value={value} mistakes={[]} change={setValue} />
        <button onClick={() => setValue({ labels: { other: 'x' } })}>From elsewhere</button>
      </MantineProvider>
    )
  }
  render(<Form />)
  return () => now
}
const name = (n: number) => screen.getByRole<HTMLInputElement>('textbox', { name: `Name ${n} of Labels` })

it('keeps a pair whose name another one passes through', async () => {
  const user = userEvent.setup()
  const now = open({ app: '1', ap: '2' })
  await user.type(name(2), 'p')
  expect(screen.getByText(/This name is there already/)).toBeTruthy()
  expect(now()).toEqual({ labels: { app: '1' } })
  await user.type(name(2), 's')
  expect(now()).toEqual({ labels: { app: '1', apps: '2' } })
})

it('keeps the row of a name that becomes a number', async () => {
  const user = userEvent.setup()
  const now = open({ a: '1', b: '2' })
  await user.clear(name(2))
  await user.type(name(2), '10')
  expect([name(1).value, name(2).value]).toEqual(['a', '10'])
  expect(now()).toEqual({ labels: { a: '1', 10: '2' } })
})

it('adds and removes, and takes over what comes from elsewhere', async () => {
  const user = userEvent.setup()
  const now = open({ a: '1' })
  await user.click(screen.getByRole('button', { name: 'Add one' }))
  await user.type(name(2), 'b')
  await user.click(screen.getByRole('button', { name: 'Remove a' }))
  expect(now()).toEqual({ labels: { b: '' } })
  await user.click(screen.getByRole('button', { name: 'Remove b' }))
  expect(now()).toEqual({})
  await user.click(screen.getByRole('button', { name: 'From elsewhere' }))
  expect(name(1).value).toBe('other')
})
