import type { ObjectTree } from '../api'
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { hostile, treeOf } from '../../mock/explorer'
import { show } from '../testpage'

const beacon = '/modules/kcp-system/demo/beacon'
const pod = `${beacon}?tab=parts&object=${encodeURIComponent('Pod/beacon-system/beacon-manager-5d8c')}&version=v1`
const item = (name: RegExp) => screen.findByRole('treeitem', { name })
const lineOf = (row: Element | null) => (row?.querySelector('.line')?.textContent ?? '').replace(/\s+/g, ' ').trim()
const panel = (name: RegExp) => screen.findByRole('region', { name })

it('shows the failing branch first and open, and says what is missing and what may not be read', async () => {
  show(beacon)
  const rows = within(await screen.findByRole('tree', { name: 'Objects' })).getAllByRole('treeitem')
  expect(rows.slice(0, 4).map(lineOf)).toEqual([
    'Deployment beacon-system/beacon-manager Error 1 hour ago',
    'ReplicaSet beacon-system/beacon-manager-5d8 Error 1 hour ago',
    'Pod beacon-system/beacon-manager-5d8c Error 1 hour ago',
    'Service beacon-system/beacon Error missing',
  ])
  expect(await item(/^Role .* not readable/)).toBeTruthy()
  expect(screen.getByText('You may not list Event in namespace beacon-system.')).toBeTruthy()
})

it('is opened by the keyboard, and Escape closes it and goes back to the tree', async () => {
  const user = userEvent.setup()
  const { where, back } = show(beacon)
  const first = await item(/^Deployment/)
  first.focus()
  await user.keyboard('{ArrowDown}{ArrowDown}{Enter}')
  await panel(/^Pod beacon-manager-5d8c/)
  expect(new URLSearchParams(where().split('?')[1]).get('object')).toBe('Pod/beacon-system/beacon-manager-5d8c')
  expect(await screen.findByRole('button', { name: /^manager\W+its log$/ })).toBeTruthy()
  await user.keyboard('{Escape}')
  await waitFor(() => expect(where()).not.toContain('object='))
  expect(lineOf(document.activeElement)).toMatch(/^Pod/)
  back()
  await panel(/^Pod beacon-manager-5d8c/)
})

it('shows an address again, with the chosen container, and its log as text', async () => {
  const { page } = show(pod + '&panel=logs&container=manager&previous=true')
  const log = await screen.findByRole('log', { name: 'Log of manager' })
  await waitFor(() => expect(log.textContent).toContain('this was before the restart'))
  expect(log.textContent).toContain(hostile.replace('\u202e', '<U+202E>'))
  expect(page.container.querySelector('main img')).toBeNull()
  expect((screen.getByLabelText('Container') as HTMLSelectElement).value).toBe('manager')
  expect(screen.getByRole('button', { name: 'Copy as kubectl' }).getAttribute('title')).toBe(
    'kubectl logs pod/beacon-manager-5d8c -n beacon-system -c manager --previous',
  )
  expect(screen.getByRole('link', { name: 'Download' }).getAttribute('href')).toContain('download=true')
})

it('says who may not read a log', async () => {
  const refused = { status: 403, body: { error: { reason: 'Forbidden', message: 'you may not read logs in namespace beacon-system' } } }
  show(pod + '&panel=logs', 'data', (_, url) => (url.pathname.endsWith('/logs') ? refused : undefined))
  expect(await screen.findByText('You may not read logs in namespace beacon-system.')).toBeTruthy()
})

it('compares with what the version says, and says where that is not known', async () => {
  const user = userEvent.setup()
  show(beacon)
  await user.click(await item(/^Deployment/))
  await user.click(await screen.findByRole('tab', { name: 'YAML' }))
  await user.click(await screen.findByText('Difference'))
  expect(await screen.findByText('spec.replicas')).toBeTruthy()
  expect(screen.getByText(/^1 field that the version sets differs in the cluster: − as the version says, \+ as it is/)).toBeTruthy()
  await user.click(await item(/^ConfigMap .*made-by-operator/))
  await user.click(await screen.findByRole('tab', { name: 'YAML' }))
  await user.click(await screen.findByText('Wanted'))
  expect(await screen.findByText("The module's version says nothing about it")).toBeTruthy()
})

it('asks nothing of the objects while another tab is shown, and only what is looked at otherwise', async () => {
  const user = userEvent.setup()
  const asked: string[] = []
  const counting = (_: string, url: URL) => {
    const what = /\/(tree|object|logs)$/.exec(url.pathname)?.[1]
    if (what) asked.push(what)
    return undefined
  }
  const { asked: sent } = show(beacon + '?tab=events', 'data', counting)
  expect(await screen.findByRole('tab', { name: 'Events', selected: true })).toBeTruthy()
  expect(asked).toEqual([])
  await user.click(screen.getByRole('tab', { name: 'Resources' }))
  await item(/^Deployment/)
  expect(new Set(asked)).toEqual(new Set(['tree']))
  await user.click(await item(/^Pod/))
  await panel(/^Pod/)
  await screen.findByRole('tab', { name: 'Logs' })
  expect(sent.filter((one) => one.path.includes('/logs'))).toEqual([])
  await user.click(screen.getByRole('tab', { name: 'Events' }))
  await waitFor(() => expect(screen.queryByRole('tree')).toBeNull())
  const before = asked.length
  await user.click(screen.getByRole('tab', { name: 'Versions' }))
  expect(asked.length).toBe(before)
})

it('narrows by kind, state and text, which stand in the address', async () => {
  const user = userEvent.setup()
  const { where } = show(beacon)
  await item(/^Deployment/)
  await user.selectOptions(screen.getByLabelText('Kind'), 'Secret')
  expect((await screen.findAllByRole('treeitem')).map(lineOf)).toEqual([
    'Greeter beacon-system/default Ready 1 hour ago',
    'Secret beacon-system/credentials Ready 1 hour ago',
  ])
  expect(where()).toContain('kind=Secret')
  await user.type(screen.getByRole('searchbox', { name: 'Find an object' }), 'nothing-like-this')
  expect(await screen.findByText('No object fits')).toBeTruthy()
})

it('draws a graph whose boxes open the same panel', async () => {
  const user = userEvent.setup()
  show(beacon + '?view=graph')
  const box = await screen.findByRole('button', { name: /^Deployment beacon-system/ })
  box.focus()
  await user.keyboard('{ArrowRight}{ArrowRight}{Enter}')
  expect(await panel(/^Pod beacon-manager-5d8c/)).toBeTruthy()
})

it('says what the bounds left out', async () => {
  const cuts = [{ reason: 'Nodes' as const, text: 'the module has more objects than are shown' }]
  const cut = (m: ObjectTree): ObjectTree => ({ ...m, total: 5000, cuts })
  show(beacon, 'data', (_, url) =>
    url.pathname.endsWith('/tree') ? { status: 200, body: cut(treeOf({ name: 'beacon', state: 'Error' } as never)) } : undefined,
  )
  expect(await screen.findByText('The module has more objects than are shown.')).toBeTruthy()
  expect(screen.getByText('5,000 objects')).toBeTruthy()
})

it('is where the evidence of a cause leads', async () => {
  const user = userEvent.setup()
  show(beacon + '?tab=events')
  const why = within(await screen.findByRole('region', { name: 'Why' }))
  const links = why.getAllByRole('link', { name: 'Pod beacon-system/beacon-manager-5d8c' })
  await user.click(links[0] as HTMLElement)
  expect(await panel(/^Pod beacon-manager-5d8c/)).toBeTruthy()
})
