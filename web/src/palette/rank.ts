// What of everything fits what was typed, the best first.

export type Kind = 'Page' | 'View' | 'Kyma' | 'Module' | 'Catalog'

export interface Candidate {
  kind: Kind
  name: string
  /** detail tells candidates of the same name apart. */
  detail?: string
  to: string
}

/** kinds are in the order in which equally good ones are listed. */
export const kinds: Kind[] = ['Page', 'View', 'Kyma', 'Module', 'Catalog']

/** mostOfKind and most bound what is listed. */
export const mostOfKind = 8
export const most = 30

/** rank lists the candidates that every word of a text fits. Without words these are the pages and views. */
export function rank(text: string, candidates: Candidate[]): Candidate[] {
  const words = wordsOf(text)
  const fit = candidates
    .map((candidate) => ({ candidate, score: words.length === 0 ? fixed(candidate) : scoreOf(words, candidate) }))
    .filter(({ score }) => score > 0)
  fit.sort(
    (a, b) =>
      b.score - a.score ||
      kinds.indexOf(a.candidate.kind) - kinds.indexOf(b.candidate.kind) ||
      (words.length === 0 ? 0 : a.candidate.name.length - b.candidate.name.length || compare(a.candidate, b.candidate)),
  )
  const counts = new Map<Kind, number>()
  const listed = fit.filter(({ candidate: { kind } }) => {
    const n = (counts.get(kind) ?? 0) + 1
    counts.set(kind, n)
    return n <= mostOfKind || (words.length === 0 && kind === 'Page')
  })
  return listed.slice(0, most).map(({ candidate }) => candidate)
}

export const wordsOf = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean)

const fixed = ({ kind }: Candidate) => (kind === 'Page' || kind === 'View' ? 1 : 0)

const compare = (a: Candidate, b: Candidate) => a.name.localeCompare(b.name) || (a.detail ?? '').localeCompare(b.detail ?? '')

/** scoreOf is 0 for what does not fit, and more the better it fits. */
function scoreOf(words: string[], candidate: Candidate): number {
  const name = candidate.name.toLowerCase()
  const detail = (candidate.detail ?? '').toLowerCase()
  let sum = name === words.join(' ') ? 100 : 0
  for (const word of words) {
    const score = Math.max(inText(name, word), inText(detail, word) / 3)
    if (score === 0) return 0
    sum += score / words.length
  }
  return sum
}

function inText(text: string, word: string): number {
  if (text === word) return 100
  if (text.startsWith(word)) return 80
  if (text.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(word))) return 60
  return text.includes(word) ? 40 : 0
}
