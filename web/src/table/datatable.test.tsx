import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import { Profiler } from 'react'
import { expect, it } from 'vitest'
import { DataTable, firstDrawn, type CellColumn } from './DataTable'

const columns: CellColumn<number>[] = [{ key: 'n', label: 'N', cell: (n) => `row ${n}` }]

const table = (rows: number) => (
  <MantineProvider env="test">
    <DataTable label="Numbers" columns={columns} rows={Array.from({ length: rows }, (_, n) => n)} keyOf={String} />
  </MantineProvider>
)

it('draws the rows of a screen first, and says that others are to come', () => {
  const drawn: [rows: number, busy: boolean][] = []
  const look = () => void drawn.push([document.querySelectorAll('tbody tr').length, document.querySelector('[aria-busy=true]') !== null])
  render(
    <Profiler id="table" onRender={look}>
      {table(50)}
    </Profiler>,
  )
  expect(drawn[0]).toEqual([firstDrawn, true])
  expect(drawn.at(-1)).toEqual([50, false])
})

it('draws all rows then, and all of those that follow', () => {
  const { rerender } = render(table(50))
  expect(screen.getAllByText(/^row/)).toHaveLength(50)
  rerender(table(60))
  expect(screen.getAllByText(/^row/)).toHaveLength(60)
  expect(screen.getByRole('table').getAttribute('aria-busy')).toBeNull()
})
