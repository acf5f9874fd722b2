// Comma-separated values, as RFC 4180 has them. Spreadsheets take some texts for formulas, and modules and clusters write texts.

export type Value = string | number | boolean | null | undefined

/** formula begins with what makes a spreadsheet compute: =, +, -, @, a tab or a new line, also in full width. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/

/** cellOf writes one cell: text that could be a formula has an apostrophe before it. */
export function cellOf(value: Value): string {
  const text = value === null || value === undefined ? '' : String(value)
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** csvOf writes rows below their heads. */
export function csvOf(heads: string[], rows: Value[][]): string {
  return [heads, ...rows].map((row) => row.map(cellOf).join(',') + '\r\n').join('')
}
