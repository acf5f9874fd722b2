// Versions of modules: major.minor.patch with at most one word behind a dash.

/** lower compares two versions; what is none is lower than nothing. */
export function lower(a: string, b: string): boolean {
  const [left, right] = [partsOf(a), partsOf(b)]
  if (!left || !right) return false
  for (const i of [0, 1, 2]) {
    const [x = 0, y = 0] = [left.numbers[i], right.numbers[i]]
    if (x !== y) return x < y
  }
  if (left.word === '' || right.word === '') return left.word !== '' && right.word === ''
  return left.word < right.word
}

function partsOf(version: string): { numbers: number[]; word: string } | null {
  const found = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z-]+))?$/.exec(version)
  return found ? { numbers: found.slice(1, 4).map(Number), word: found[4] ?? '' } : null
}
