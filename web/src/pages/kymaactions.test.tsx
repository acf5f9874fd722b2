// A Kyma from its creation to its deletion, and the buttons that help, in front of the mock.
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { module_ } from '../../mock/fixtures'
import { fixesOf } from '../../mock/kymas'
import { show, type Instead } from '../testpage'

const button = (name: string) => screen.findByRole('button', { name })

describe('a new Kyma', () => {
  it('is looked at before it is made, and Back keeps what was filled in', async () => {
    const user = userEvent.setup()
    const { asked, where, back } = show('/kymas/new')
    await user.type(await screen.findByRole('textbox', { name: 'Name' }), 'fresh')
    expect(screen.getByRole('checkbox', { name: 'beacon' })).toHaveProperty('disabled', true)
    await user.click(screen.getByRole('checkbox', { name: 'greeter' }))
    await user.type(screen.getByRole('textbox', { name: 'Kubeconfig' }), 'open-sesame')
    await user.click(await button('See what would be made'))
    expect(await screen.findByText('Secret kcp-system/fresh')).toBeTruthy()
    expect(document.body.textContent).not.toContain('sesame')
    back()
    expect(await screen.findByRole('textbox', { name: 'Name' })).toHaveProperty('value', 'fresh')
    expect(screen.getByRole('checkbox', { name: 'greeter' })).toHaveProperty('checked', true)
    await user.click(await button('See what would be made'))
    await user.click(await button('Create the Kyma'))
    await waitFor(() => expect(where()).toMatch(/^\/operations\//))
    const sent = asked.find(({ path, method }) => path === '/api/v1/operations' && method === 'POST')?.body
    expect(sent).toMatchObject({ kind: 'create', kyma: 'kcp-system/fresh', channel: 'regular', kubeconfig: 'open-sesame' })
    expect(asked.every(({ path }) => !path.includes('sesame'))).toBe(true)
  })
  it('says what is wrong with a name', async () => {
    const user = userEvent.setup()
    show('/kymas/new')
    await user.type(await screen.findByRole('textbox', { name: 'Name' }), 'demo')
    expect((await screen.findAllByText('There is a Kyma of this name already.')).length).toBeGreaterThan(0)
    expect(await button('See what would be made')).toHaveProperty('disabled', true)
  })
  it('takes no kubeconfig from who may not store it', async () => {
    const user = userEvent.setup()
    show('/kymas/new')
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Namespace' }), 'tenant')
    expect(await screen.findByText(/another user connects the Kyma/)).toBeTruthy()
    expect(screen.queryByRole('textbox', { name: 'Kubeconfig' })).toBeNull()
  })
  it('is not for who may not create one', async () => {
    show('/kymas/new', 'empty')
    expect(await screen.findByText(/You may not create Kymas/)).toBeTruthy()
    expect(screen.queryByRole('textbox', { name: 'Name' })).toBeNull()
  })
  it('is reached from the list, by who may', async () => {
    const user = userEvent.setup()
    const { where } = show('/kymas')
    await waitFor(() => expect(screen.getByRole('link', { name: 'New Kyma' })).toBeTruthy())
    await user.click(screen.getByRole('link', { name: 'New Kyma' }))
    await waitFor(() => expect(where()).toBe('/kymas/new'))
  })
  it('is no link for who may not', async () => {
    show('/kymas', 'empty')
    expect((await button('New Kyma')).getAttribute('aria-disabled')).toBe('true')
  })
})

describe('the buttons of a Kyma', () => {
  it('suspend and resume it', async () => {
    const user = userEvent.setup()
    show('/kymas/kcp-system/demo')
    await user.click(await button('Suspend'))
    const dialog = within(await screen.findByRole('dialog'))
    expect(await dialog.findByText(/What runs stays as it is/)).toBeTruthy()
    await user.click(dialog.getByRole('button', { name: 'Suspend' }))
    expect(await screen.findByText('Suspended')).toBeTruthy()
    expect(await button('Resume')).toBeTruthy()
  })
  it('delete it after its name was typed', async () => {
    const user = userEvent.setup()
    show('/kymas/kcp-system/demo')
    await user.click(await button('Delete'))
    const dialog = within(await screen.findByRole('dialog'))
    const sure = await dialog.findByRole('button', { name: 'Delete the Kyma' })
    await waitFor(() => expect(dialog.getByRole('textbox')).toBeTruthy())
    expect(sure).toHaveProperty('disabled', true)
    await user.type(dialog.getByRole('textbox'), 'demo')
    expect(sure).toHaveProperty('disabled', false)
  })
  it('connect it, and forget the kubeconfig', async () => {
    const user = userEvent.setup()
    show('/kymas/kcp-system/demo')
    await user.click(await button('Connect'))
    const dialog = within(await screen.findByRole('dialog'))
    await user.type(dialog.getByRole('textbox', { name: 'Kubeconfig' }), 'wrong sesame')
    await user.click(dialog.getByRole('button', { name: 'See what would change' }))
    expect(await dialog.findByText('The cluster does not accept the credentials of the kubeconfig.')).toBeTruthy()
    await user.click(dialog.getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await user.click(await button('Connect'))
    expect(await screen.findByRole('textbox', { name: 'Kubeconfig' })).toHaveProperty('value', '')
  })
  it('say who may not', async () => {
    show('/kymas/kcp-system/shop-asia')
    expect((await button('Connect')).getAttribute('aria-disabled')).toBe('true')
  })
})

describe('what helps', () => {
  const lost = module_('lost', {
    state: 'Error',
    installation: { state: 'Failed', reason: 'ChannelNotFound', message: 'no version found for channel "nightly"' },
  })
  const instead: Instead = (_, url) => {
    if (url.pathname !== '/api/v1/modules/kcp-system/demo/lost') return undefined
    const access = { edit: true, delete: true, runtime: true }
    const why = [{ what: 'Module lost', state: 'Error', message: 'no version' }]
    return { status: 200, body: { module: lost, why, access, fixes: fixesOf(lost) } }
  }
  it('is offered beside the reason, and done after a look', async () => {
    const user = userEvent.setup()
    const { asked } = show('/modules/kcp-system/demo/lost', 'data', instead)
    const group = within(await screen.findByRole('group', { name: 'What helps' }))
    await user.click(group.getByRole('button', { name: 'Follow channel fast (1.1.0)' }))
    const dialog = within(await screen.findByRole('dialog'))
    await user.click(await dialog.findByRole('button', { name: 'Follow channel fast (1.1.0)' }))
    await waitFor(() =>
      expect(asked.find(({ path, method }) => path === '/api/v1/operations' && method === 'POST')?.body).toMatchObject({
        kind: 'channel',
        module: 'lost',
        channel: 'fast',
      }),
    )
  })
  it('is on the page of the Kyma, too, with the reason', async () => {
    const kyma: Instead = (method, url) => {
      if (method !== 'GET' || url.pathname !== '/api/v1/kymas/kcp-system/demo') return undefined
      return {
        status: 200,
        body: {
          kyma: { namespace: 'kcp-system', name: 'demo', state: 'Error', channel: 'regular', modules: '0/1', local: true, outdated: 0 },
          spec: {},
          modules: [lost],
          access: { edit: false, delete: false, secret: true, connect: false },
          fixes: fixesOf(lost).map((fix) => ({ ...fix, allowed: false, why: 'You may not change the Kyma.' })),
        },
      }
    }
    show('/kymas/kcp-system/demo', 'data', kyma)
    const region = within(await screen.findByRole('region', { name: 'What to do' }))
    expect(region.getByText(/No version found for channel "nightly"/)).toBeTruthy()
    expect(region.getByRole('button', { name: 'Follow channel fast (1.1.0)' }).getAttribute('aria-disabled')).toBe('true')
  })
})
