import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { cause } from '../../mock/fixtures'
import { show } from '../testpage'
import { CauseOf } from './cause'

it('says the cause in the words of the server first, then the remedy, and folds the evidence', async () => {
  const user = userEvent.setup()
  render(<CauseOf cause={cause} />)
  expect(screen.getByText(cause.sentence)).toBeTruthy()
  expect(screen.getByText(/Correct the image in the module's content/)).toBeTruthy()
  const folded = screen.getByText('Evidence').closest('details')
  expect(folded?.open).toBe(false)
  await user.click(screen.getByText('Evidence'))
  expect(folded?.open).toBe(true)
  const facts = within(screen.getByRole('list', { name: 'Evidence' }))
  expect(facts.getByText('Deployment beacon-manager > ReplicaSet beacon-manager-5d8 > Pod beacon-manager-5d8c')).toBeTruthy()
  expect(facts.getByText(/\(14 times\)/)).toBeTruthy()
  expect(screen.getByText('Service beacon is missing: the module installs it, and the cluster does not have it')).toBeTruthy()
})

it('never folds what could not be read', () => {
  render(<CauseOf cause={cause} />)
  expect(screen.getByText('You may not list Event in namespace beacon-jobs.').closest('details')).toBeNull()
})

it('needs no more than a sentence', () => {
  const lone = { object: cause.object, reason: 'NotReady', sentence: 'Module lone has been in state Unknown' }
  const { container } = render(<CauseOf cause={lone} />)
  expect(screen.getByText('Module lone has been in state Unknown')).toBeTruthy()
  expect(container.querySelector('.notice')).toBeNull()
})

it('keeps hostile text as text', () => {
  const bad = '<img src=x onerror=alert(1)>'
  const { container } = render(
    <CauseOf cause={{ ...cause, sentence: bad, also: [bad], evidence: [{ source: 'log', text: bad }, { source: 'unread', text: bad }] }} />,
  )
  expect(container.querySelector('img')).toBeNull()
  expect(screen.getAllByText(bad, { exact: false }).length).toBe(4)
})

it('is the first thing on the page of a module that is not ready, with the chain below it', async () => {
  show('/modules/kcp-system/demo/beacon')
  const why = within(await screen.findByRole('region', { name: 'Why' }))
  expect(why.getByText(cause.sentence)).toBeTruthy()
  expect(why.getByText('Deployment beacon-system/beacon-manager').closest('details')).toBeTruthy()
})

it('is what the overview says of a module', async () => {
  show('/')
  expect(await screen.findByText(cause.sentence)).toBeTruthy()
})
