import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { show } from '../testpage'
import { vouchedIn } from './OfferVersion'

describe('one module of the catalog', () => {
  it('tells of each version what it holds and who answers for it', async () => {
    show('/catalog/greeter')
    const held = await screen.findByRole('region', { name: 'What each version holds' })
    expect(within(held).getByText('registry.example.com/greeter/manager:1.3.0')).toBeTruthy()
    expect(within(held).getByText('Says it is signed: kyma-module-signature')).toBeTruthy()
    expect(within(held).getAllByText('Not told').length).toBe(2)
    expect(within(held).getByText(/^Changes in 1.3.0/).closest('a')?.getAttribute('href')).toContain('/changes/greeter/1.3.0')
    expect(within(held).getAllByText('Greeting').length).toBe(3)
  })
  it('says of a community module that its content is pinned', async () => {
    show('/catalog/docker-registry')
    expect((await screen.findAllByText('Pinned by digest')).length).toBe(3)
  })
})

describe('who answers for a version', () => {
  it('is never more than what the template claims', () => {
    expect(vouchedIn({ state: 'Signed', by: ['a', 'b'] }).label).toBe('Says it is signed: a, b')
    expect(vouchedIn({ state: 'Unsigned' }).tone).toBe('warn')
    expect(vouchedIn(undefined).label).toBe('Not told')
    expect(vouchedIn({ state: 'toString' as never }).label).toBe('Not told')
  })
})

describe('the configuration of a module that is added', () => {
  const configure = async (module: string) => {
    const user = userEvent.setup()
    const { asked } = show('/add?kyma=kcp-system/demo')
    await user.click(await screen.findByRole('checkbox', { name: module }))
    await user.click(screen.getByRole('button', { name: 'Next: Version' }))
    await user.click(await screen.findByRole('button', { name: 'Next: Configure' }))
    await user.click(await screen.findByRole('radio', { name: 'My own way' }))
    return { user, asked }
  }
  it('begins with what the version suggests, in a form of its schema', async () => {
    const { user, asked } = await configure('notes')
    const greeting = await screen.findByDisplayValue('Hello')
    await user.clear(greeting)
    await user.type(greeting, 'Hi')
    await user.click(screen.getByRole('button', { name: 'Keep this configuration' }))
    await user.click(await screen.findByRole('button', { name: 'Next: Check and add' }))
    await waitFor(() => expect(asked.some((a) => a.path === '/api/v1/previews')).toBe(true))
    const sent = asked.find((a) => a.path === '/api/v1/previews')?.body
    const resource = { kind: 'Greeter', spec: { greeting: 'Hi' } }
    expect(sent).toMatchObject({ modules: [{ name: 'notes', policy: 'Ignore', resource }] })
  })
  it('says why there is no form, and begins with the suggestion all the same', async () => {
    await configure('beacon')
    expect(await screen.findByText('There is no form for it yet')).toBeTruthy()
    expect(screen.getByText(/does not know Greeter\.operator/)).toBeTruthy()
  })
})
