// The words of what a version may do: how grave a right is, one sentence for all of it, and what becomes of a Kyma.
import { count, type Tone, type Word } from '../words'
import type { ConsentSide, Difference, Finding, ObjectChanges, Outcome, OutcomeGroup, Pending, Severity } from '../api'

/** severities are those of findings, the gravest first. */
export const severities: Severity[] = ['Critical', 'High', 'Medium', 'Low', 'Info']

const severityWords: Record<Severity, Word> = {
  Critical: { label: 'Critical', tone: 'bad', means: 'Control over the cluster, or over all of its Secrets.' },
  High: { label: 'High', tone: 'warn', means: 'It leads to control over the cluster, or over a part of it.' },
  Medium: { label: 'Medium', tone: 'busy', means: 'It reaches beyond the module.' },
  Low: { label: 'Low', tone: 'idle', means: 'It reads or changes little.' },
  Info: { label: 'Usual', tone: 'idle', means: 'Every module does that.' },
}

/** severityWord returns the label of a severity; an unknown one keeps its own name. */
export function severityWord(severity: string): Word {
  if (Object.hasOwn(severityWords, severity)) return severityWords[severity as Severity]
  return { label: severity || 'Unknown', tone: 'warn', means: 'A severity that this page does not know.' }
}

/** grouped puts findings of one severity together, the gravest first. Severities that the page does not know come first of all. */
export function grouped(findings: Finding[]): { severity: string; findings: Finding[] }[] {
  const found = new Map<string, Finding[]>()
  for (const one of findings) found.set(one.severity, [...(found.get(one.severity) ?? []), one])
  const rank = (severity: string) => severities.indexOf(severity as Severity)
  return [...found].map(([severity, of]) => ({ severity, findings: of })).sort((a, b) => rank(a.severity) - rank(b.severity))
}

/** bare is a sentence without its full stop. */
const bare = (text: string) => text.trim().replace(/\.$/, '')
const small = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** asksFor continues "1.1.0 ..." with what a sentence says: "also wants to read every Secret of the cluster". */
function asksFor(said: string, first: boolean): string {
  const text = bare(said)
  if (/^may /i.test(text)) return (first ? 'may ' : 'also wants to ') + text.slice('may '.length)
  return (first ? '' : 'also ') + small(text)
}

interface Said {
  version: string
  /** against is the version that it is compared with; empty for a first installation. */
  against?: string
  /** sentences about what is new, the gravest first. */
  sentences: string[]
  /** total counts what is new, with what no sentence is about. */
  total: number
  /** besides says that something else than rights is different. */
  besides?: boolean
}

/** headline says in one sentence what a version asks for that the one before does not. */
export function headline({ version, against, sentences, total, besides }: Said): string {
  const [gravest] = sentences
  const first = !against
  if (!gravest) {
    if (first) return `${version} asks for nothing beyond its own objects.`
    return besides ? `${version} asks for no further rights than ${against}.` : `${version} asks for nothing that ${against} does not have.`
  }
  const more = Math.max(total, sentences.length) - 1
  const rest = more > 0 ? `, and asks for ${count(more, 'more thing')}` : ''
  return `${version} ${asksFor(gravest, first)}${rest}.`
}

/** newsOf is the headline of a difference. What every module does is not counted as news. */
export function newsOf(version: string, against: string | undefined, difference: Difference): string {
  const news = (difference.added ?? []).filter((one) => one.severity !== 'Info')
  return headline({
    version,
    against,
    sentences: news.map((one) => one.sentence),
    total: news.length,
    besides: besidesOf(difference).length > 0,
  })
}

/** waitingFor is the headline of a version that waits, out of what the lifecycle manager says of it. */
export function waitingFor(pending: Pending, against: string | undefined): string {
  const counts = pending.counts ?? {}
  const others = (counts.definitions ?? 0) + (counts.webhooks ?? 0) + (counts.images ?? 0)
  const sentences = pending.gravest ?? []
  return headline({
    version: pending.version,
    against: against || 'the installed version',
    sentences,
    total: Math.max(counts.rightsAdded ?? 0, sentences.length),
    besides: others > 0,
  })
}

/** countsOf says what changes with a version that waits, in a few words each. */
export function countsOf(pending: Pending): string[] {
  const { rightsAdded = 0, rightsRemoved = 0, definitions = 0, webhooks = 0, images = 0 } = pending.counts ?? {}
  return [
    rightsAdded > 0 && count(rightsAdded, 'new right'),
    rightsRemoved > 0 && `${count(rightsRemoved, 'right')} fewer`,
    definitions > 0 && `${count(definitions, 'definition')} changed`,
    webhooks > 0 && `${count(webhooks, 'webhook')} new or changed`,
    images > 0 && `${count(images, 'image')} from elsewhere`,
    pending.downtime && 'then waits for the maintenance window',
  ].filter((text): text is string => typeof text === 'string')
}

/** Besides is a change that is no right: what it is about, and what is different. */
export interface Besides {
  what: 'Definition' | 'Webhook' | 'API service' | 'Image'
  name: string
  texts: string[]
}

/** besidesOf lists definitions, webhooks, API services and images that change. */
export function besidesOf(d: Difference): Besides[] {
  const all: Besides[] = (d.definitionsChanged ?? []).map((one) => ({ what: 'Definition', name: one.name, texts: one.sentences ?? [] }))
  const named = (what: Besides['what'], names: { name: string }[] | undefined, text: string) => {
    for (const { name } of names ?? []) all.push({ what, name, texts: [text] })
  }
  named('Webhook', d.webhooksAdded, 'New.')
  named('Webhook', d.webhooksChanged, 'Changed.')
  named('Webhook', d.webhooksRemoved, 'Gone.')
  named('API service', d.apiServicesAdded, 'New.')
  named('API service', d.apiServicesChanged, 'Changed.')
  named('API service', d.apiServicesRemoved, 'Gone.')
  for (const image of d.imagesAdded ?? []) {
    all.push({ what: 'Image', name: `${image.registry}/${image.repository}`, texts: [`New: ${tagOf(image)}.`] })
  }
  for (const image of d.imagesChanged ?? []) {
    const [before, after] = [image.before, image.after].map((tags) => (tags ?? []).map(shortTag).join(', ') || 'no tag')
    all.push({ what: 'Image', name: `${image.registry}/${image.repository}`, texts: [`${before} becomes ${after}.`] })
  }
  for (const image of d.imagesRemoved ?? []) {
    all.push({ what: 'Image', name: `${image.registry}/${image.repository}`, texts: ['Gone.'] })
  }
  return all
}

const tagOf = (image: { tag?: string; digest?: string }) => image.tag || shortTag(image.digest ?? '') || 'no tag'

/** shortTag cuts a digest to what can be compared by eye. */
function shortTag(tag: string): string {
  const at = tag.indexOf('sha256:')
  return at < 0 ? tag : tag.slice(0, at + 'sha256:'.length + 12)
}

/** objectsText counts how the objects of two versions differ. */
export function objectsText(o: ObjectChanges): string {
  const parts = [
    (o.added ?? []).length > 0 && `${(o.added ?? []).length} new`,
    (o.changed ?? []).length > 0 && `${(o.changed ?? []).length} changed`,
    (o.removed ?? []).length > 0 && `${(o.removed ?? []).length} removed`,
    `${o.unchanged} as before`,
  ].filter(Boolean)
  const restarts = (o.restarts ?? []).length
  return `Objects: ${parts.join(', ')}.${restarts > 0 ? ` ${count(restarts, 'workload')} ${restarts === 1 ? 'restarts' : 'restart'}.` : ''}`
}

/** sidesText names those whose consent is missing. */
export function sidesText(sides: ConsentSide[] | undefined): string {
  const names = {
    Hub: 'the operator of the hub',
    Runtime: 'the user of the runtime',
    Any: 'the operator of the hub or the user of the runtime',
  }
  return (sides ?? []).map((side) => (Object.hasOwn(names, side) ? names[side] : side)).join(' and ')
}

/** untilText says when a version comes without consent; empty: never. */
export function untilText(deadline: string | undefined, now: number): string {
  const at = deadline ? Date.parse(deadline) : NaN
  if (Number.isNaN(at)) return ''
  const hours = Math.round((at - now) / 3_600_000)
  if (hours < 1) return 'It is installed without consent within the hour.'
  const days = Math.floor(hours / 24)
  return `Without an answer it is installed in ${days > 1 ? count(days, 'day') : count(hours, 'hour')}.`
}

const outcomes: Record<Outcome, Word> = {
  Upgrades: { label: 'Upgrade at once', tone: 'ok', means: 'Nothing holds them.' },
  Installs: { label: 'Install at once', tone: 'ok', means: 'They have no version yet.' },
  WaitsForRollout: { label: 'Wait for their rollout', tone: 'busy', means: 'A later wave, or a free place in the current one.' },
  NeedsConsent: { label: 'Need consent', tone: 'warn', means: 'A person has to agree before they get it.' },
  WaitsForWindow: { label: 'Wait for a window', tone: 'busy', means: 'The version needs downtime, and the maintenance window is closed.' },
  RequirementMissing: { label: 'Lack a requirement', tone: 'warn', means: 'Something that the version needs is not there.' },
  WouldBreak: { label: 'Would break a module', tone: 'bad', means: 'Another module of the Kyma does not work with the version.' },
  Unreachable: { label: 'Are unreachable', tone: 'bad', means: 'They may upgrade, and their runtime does not answer.' },
  Suspended: { label: 'Are suspended', tone: 'idle', means: 'The lifecycle manager leaves them as they are.' },
  Refused: { label: 'Are refused', tone: 'bad', means: 'A rule refuses the version. What runs stays.' },
  Removed: { label: 'Lose the module', tone: 'bad', means: 'The version is not for them, and the module is removed.' },
  Downgrade: { label: 'Have a higher one', tone: 'warn', means: 'What runs is higher, and stays.' },
  Avoids: { label: 'Went back before', tone: 'warn', means: 'They went back from this version, and keep what runs.' },
  Leaving: { label: 'Are being deleted', tone: 'idle', means: 'They, or the module in them, are on their way out.' },
  Same: { label: 'Have it already', tone: 'ok', means: 'Nothing changes for them.' },
}

/** outcomeWord returns the label of an outcome; an unknown one keeps its own name. */
export function outcomeWord(outcome: string): Word {
  if (Object.hasOwn(outcomes, outcome)) return outcomes[outcome as Outcome]
  return { label: outcome, tone: 'idle', means: 'An outcome that this page does not know.' }
}

/** Share is how many Kymas have one outcome, for whatever reasons. */
export interface Share {
  outcome: Outcome
  count: number
  tone: Tone
  groups: OutcomeGroup[]
}

/** sharesOf joins the groups of one outcome, in the order of the server. */
export function sharesOf(groups: OutcomeGroup[] | null | undefined): Share[] {
  const all: Share[] = []
  for (const group of groups ?? []) {
    const known = all.find((share) => share.outcome === group.outcome)
    if (known) {
      known.count += group.count
      known.groups.push(group)
    } else {
      all.push({ outcome: group.outcome, count: group.count, tone: outcomeWord(group.outcome).tone, groups: [group] })
    }
  }
  return all
}

/** fleetText says in one sentence what becomes of the Kymas. */
export function fleetText(kymas: number, shares: Share[]): string {
  if (kymas === 0) return 'No Kyma that you may see follows this channel.'
  const of = (...kinds: Outcome[]) => shares.filter((s) => kinds.includes(s.outcome)).reduce((n, s) => n + s.count, 0)
  const now = of('Upgrades', 'Installs')
  const later = of('WaitsForRollout', 'WaitsForWindow')
  const same = of('Same')
  const held = kymas - now - later - same - of('Leaving')
  const parts = [
    now > 0 && `${now.toLocaleString('en')} at once`,
    later > 0 && `${later.toLocaleString('en')} later by ${later === 1 ? 'itself' : 'themselves'}`,
    held > 0 && `${held.toLocaleString('en')} not without help`,
  ].filter(Boolean)
  const get = parts.length > 0 ? `${parts.join(', ')}` : 'none of them changes'
  const have = same > 0 ? `; ${same.toLocaleString('en')} ${same === 1 ? 'has' : 'have'} it already` : ''
  return `${count(kymas, 'Kyma')} ${kymas === 1 ? 'follows' : 'follow'} this channel: ${get}${have}.`
}
