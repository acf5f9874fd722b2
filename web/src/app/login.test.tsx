import { screen } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import { show } from '../testpage'

vi.mock('../pages/Login', () => ({
  Page: () => {
    throw new Error('broken')
  },
}))

it('says so when the page that lets one in breaks', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined) // React tells of every error that a page catches
  show('/login')
  expect(await screen.findByText('This page broke')).toBeTruthy()
})
