import { MantineProvider } from '@mantine/core'
import { render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it, vi } from 'vitest'
import { NewSource } from './NewSource'
import { show } from '../testpage'

const rowOf = async (name: string) => {
  const row = (await screen.findByRole('button', { name: `Read again ${name}` })).closest('tr')
  if (!row) throw new Error('no row of ' + name)
  return row
}

it('has modules that can be configured before they are added', async () => {
  const user = userEvent.setup()
  show('/add?source=our-own')
  await user.click(await screen.findByRole('checkbox', { name: 'billing' }))
  await user.click(screen.getByRole('button', { name: 'Next: Version' }))
  await user.click(await screen.findByRole('button', { name: 'Next: Configure' }))
  expect(await screen.findByRole('radio', { name: 'My own way' })).toBeTruthy()
})

describe('a source that is read again', () => {
  it('says what it holds now, and that it is known since now', async () => {
    const user = userEvent.setup()
    const { asked } = show('/sources')
    const row = await rowOf('our-own')
    expect(row.textContent).toContain('10 h')
    await user.click(within(row).getByRole('button', { name: 'Read again our-own' }))
    const held = await screen.findByRole('region', { name: 'What our-own holds now' })
    expect(held.textContent).toContain('billing (1.0.0, 0.9.0), new')
    await waitFor(() => expect(row.textContent).not.toContain('10 h'))
    expect(asked.filter((a) => a.path === '/api/v1/sources/test').map((a) => a.body)).toEqual([{ name: 'our-own' }])
  })
  it('says why it cannot be read, that it was tried, and when it could be read', async () => {
    const user = userEvent.setup()
    show('/sources')
    const row = await rowOf('broken')
    expect(row.textContent).toMatch(/tried 3 min.*, read 5 h/)
    await user.click(within(row).getByRole('button', { name: 'Read again broken' }))
    expect(await screen.findByText('broken cannot be read')).toBeTruthy()
  })
})

describe('a new source', () => {
  const found = '{"modules":[{"name":"billing","versions":["1.0.0"],"new":true}],"problems":[],"digest":"sha256:0a"}'
  const refused = '{"error":{"reason":"Invalid","message":"it cannot be read"}}'
  const field = (name: RegExp) => screen.getByRole('textbox', { name })
  const button = (name: string) => screen.getByRole('button', { name })
  /** begun is a form with a name and an address. What it asks is answered by answer, when that is called. */
  const begun = async () => {
    const user = userEvent.setup()
    let done: (response: Response) => void = () => undefined
    vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => (done = resolve)))
    render(
      <MantineProvider env="test">
        <NewSource close={() => undefined} />
      </MantineProvider>,
    )
    await user.type(field(/^Name/), 'new')
    await user.type(field(/^Address/), 'https://old')
    await user.click(button('Test it'))
    const answer = async (body: string, status: number) => {
      done(new Response(body, { status }))
      await waitFor(() => expect(screen.queryByText('Reading it…')).toBeNull())
    }
    return { user, answer }
  }
  it.each([
    ['was found in', 200, found],
    ['was wrong with', 400, refused],
  ])('is not told what %s the old one after its address was changed', async (_, status, body) => {
    const { user, answer } = await begun()
    await user.type(field(/^Address/), 'er')
    await answer(body, status)
    expect(button('Test it')).toHaveProperty('disabled', false)
    expect(screen.queryByText(/1 module found|It cannot be used/)).toBeNull()
  })
  it('is as good as it was under another name', async () => {
    const { user, answer } = await begun()
    await user.type(field(/^Name/), 'er')
    await answer(found, 200)
    await user.type(field(/^Name/), 'still')
    expect(screen.getByText('1 module found')).toBeTruthy()
    expect(button('Keep this source')).toHaveProperty('disabled', false)
  })
  it('is not told why the old one was not kept after it was changed', async () => {
    const { user, answer } = await begun()
    await answer(found, 200)
    await user.click(button('Keep this source'))
    await user.type(field(/^Name/), 'er')
    await answer(refused, 400)
    expect(screen.queryByText('It cannot be used')).toBeNull()
  })
})
