import { describe, expect, it } from 'vitest'
import { cellOf, csvOf } from './csv'

describe('a cell', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    [undefined, ''],
    [null, ''],
    [3, '3'],
    [false, 'false'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['1.0.0-rc', '1.0.0-rc'],
    [' =1+1', ' =1+1'],
  ])('%j is %j', (value, want) => expect(cellOf(value)).toBe(want))

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '＝1', '＋1', '－1', '＠x'])('%j is text to a spreadsheet', (value) => {
    expect(cellOf(value)).toBe(`'${value}`)
  })
  it('is text also when it has to be quoted', () => {
    expect(cellOf('=HYPERLINK("http://x","y")')).toBe(`"'=HYPERLINK(""http://x"",""y"")"`)
    expect(cellOf('\r=1')).toBe(`"'\r=1"`)
    expect(cellOf('\n=1')).toBe(`"'\n=1"`)
  })
})

/** parsed reads a file as a spreadsheet does. */
function parsed(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
    if (end === '') break
  }
  return rows.slice(0, -1)
}

it('is read back as it was written', () => {
  const rows = [
    ['a', 'b,c', 'd"e'],
    ['', 'x\ny', "it's"],
  ]
  expect(parsed(csvOf(['one', 'two', 'three'], rows))).toEqual([['one', 'two', 'three'], ...rows])
})

it('has no cell that a spreadsheet computes, whatever texts there are', () => {
  const letters = ['=', '+', '-', '@', '\t', '\r', '\n', '"', ',', 'a', ' ', "'"]
  const texts = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)))
  const cells = parsed(csvOf(['head'], texts.map((text) => [text]))).slice(1)
  expect(cells).toHaveLength(texts.length)
  cells.forEach(([cell = ''], i) => {
    expect(/^[=+\-@\t\r\n]/.test(cell)).toBe(false)
    expect(cell.replace(/^'/, '')).toBe(texts[i]?.replace(/^'/, ''))
  })
})
