// The words of what a version may do: how grave a right is, one sentence for all of it, and what becomes of a Kyma.
import { count, type Tone, type Word } from '../words'
import type { ConsentSide, Difference, Finding, ObjectChanges, Outcome, OutcomeGroup, Pending, Severity } from '../api'
import { fill, formOf } from '../fill'
import { messages } from '../messages'

/** severities are those of findings, the gravest first. */
export const severities: Severity[] = ['Critical', 'High', 'Medium', 'Low', 'Info']

const severityWords: Record<Severity, Word> = {
  Critical: { label: messages.severities.critical, tone: 'bad', means: messages.severities.criticalMeans },
  High: { label: messages.severities.high, tone: 'warn', means: messages.severities.highMeans },
  Medium: { label: messages.severities.medium, tone: 'busy', means: messages.severities.mediumMeans },
  Low: { label: messages.severities.low, tone: 'idle', means: messages.severities.lowMeans },
  Info: { label: messages.severities.info, tone: 'idle', means: messages.severities.infoMeans },
}

/** severityWord returns the label of a severity; an unknown one keeps its own name. */
export function severityWord(severity: string): Word {
  if (Object.hasOwn(severityWords, severity)) return severityWords[severity as Severity]
  return { label: severity || messages.common.unknownLabel, tone: 'warn', means: messages.reviewWords.severityPageNotKnow }
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
  if (/^may /i.test(text)) return (first ? messages.reviewWords.may : messages.reviewWords.alsoWantsTo) + text.slice('may '.length)
  return (first ? '' : messages.reviewWords.also) + small(text)
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
    if (first) return fill(messages.reviewWords.asksForNothing, { version })
    return besides
      ? fill(messages.reviewWords.asksForNoFurtherRightsThan, { version, against })
      : fill(messages.reviewWords.asksForNothingNew, { version, against })
  }
  const more = Math.max(total, sentences.length) - 1
  const rest = more > 0 ? fill(messages.reviewWords.andAsksFor, { things: count(more, messages.nouns.moreThing) }) : ''
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
    against: against || messages.reviewWords.theInstalledVersion,
    sentences,
    total: Math.max(counts.rightsAdded ?? 0, sentences.length),
    besides: others > 0,
  })
}

/** countsOf says what changes with a version that waits, in a few words each. */
export function countsOf(pending: Pending): string[] {
  const { rightsAdded = 0, rightsRemoved = 0, definitions = 0, webhooks = 0, images = 0 } = pending.counts ?? {}
  return [
    rightsAdded > 0 && count(rightsAdded, messages.nouns.newRight),
    rightsRemoved > 0 && fill(messages.reviewWords.rightsFewer, { rights: count(rightsRemoved, messages.nouns.right) }),
    definitions > 0 && fill(messages.reviewWords.definitionsChanged, { definitions: count(definitions, messages.nouns.definition) }),
    webhooks > 0 && fill(messages.reviewWords.newOrChanged, { webhooks: count(webhooks, messages.nouns.webhook) }),
    images > 0 && fill(messages.reviewWords.fromElsewhere, { images: count(images, messages.nouns.image) }),
    pending.downtime && messages.reviewWords.thenWaitsForTheMaintenanceWindow,
  ].filter((text): text is string => typeof text === 'string')
}

/** Besides is a change that is no right: what it is about, and what is different. */
export interface Besides {
  what: string
  name: string
  texts: string[]
}

/** besidesOf lists definitions, webhooks, API services and images that change. */
export function besidesOf(d: Difference): Besides[] {
  const all: Besides[] = (d.definitionsChanged ?? []).map((one) => ({
    what: messages.besides.definition,
    name: one.name,
    texts: one.sentences ?? [],
  }))
  const named = (what: string, names: { name: string }[] | undefined, text: string) => {
    for (const { name } of names ?? []) all.push({ what, name, texts: [text] })
  }
  named(messages.besides.webhook, d.webhooksAdded, messages.reviewWords.new)
  named(messages.besides.webhook, d.webhooksChanged, messages.reviewWords.changed)
  named(messages.besides.webhook, d.webhooksRemoved, messages.reviewWords.gone)
  named(messages.besides.apiService, d.apiServicesAdded, messages.reviewWords.new)
  named(messages.besides.apiService, d.apiServicesChanged, messages.reviewWords.changed)
  named(messages.besides.apiService, d.apiServicesRemoved, messages.reviewWords.gone)
  for (const image of d.imagesAdded ?? []) {
    all.push({
      what: messages.besides.image,
      name: `${image.registry}/${image.repository}`,
      texts: [fill(messages.reviewWords.newTag, { tag: tagOf(image) })],
    })
  }
  for (const image of d.imagesChanged ?? []) {
    const [before, after] = [image.before, image.after].map((tags) => (tags ?? []).map(shortTag).join(', ') || messages.reviewWords.noTag)
    all.push({
      what: messages.besides.image,
      name: `${image.registry}/${image.repository}`,
      texts: [fill(messages.reviewWords.beforeBecomesAfter, { before, after })],
    })
  }
  for (const image of d.imagesRemoved ?? []) {
    all.push({ what: messages.besides.image, name: `${image.registry}/${image.repository}`, texts: [messages.reviewWords.gone] })
  }
  return all
}

const tagOf = (image: { tag?: string; digest?: string }) => image.tag || shortTag(image.digest ?? '') || messages.reviewWords.noTag

/** shortTag cuts a digest to what can be compared by eye. */
function shortTag(tag: string): string {
  const at = tag.indexOf('sha256:')
  return at < 0 ? tag : tag.slice(0, at + 'sha256:'.length + 12)
}

/** objectsText counts how the objects of two versions differ. */
export function objectsText(o: ObjectChanges): string {
  const parts = [
    (o.added ?? []).length > 0 && fill(messages.reviewWords.countNew, { count: (o.added ?? []).length }),
    (o.changed ?? []).length > 0 && fill(messages.reviewWords.countChanged, { count: (o.changed ?? []).length }),
    (o.removed ?? []).length > 0 && fill(messages.reviewWords.countRemoved, { count: (o.removed ?? []).length }),
    fill(messages.reviewWords.asBefore, { unchanged: o.unchanged }),
  ].filter(Boolean)
  const restarts = (o.restarts ?? []).length
  return [
    fill(messages.reviewWords.objects, { parts: parts.join(', ') }),
    restarts > 0 && fill(formOf(restarts, messages.reviewWords.workloadsRestart), { workloads: count(restarts, messages.nouns.workload) }),
  ]
    .filter(Boolean)
    .join(' ')
}

/** sidesText names those whose consent is missing. */
export function sidesText(sides: ConsentSide[] | undefined): string {
  const names = {
    Hub: messages.reviewWords.theOperatorOfTheHub,
    Runtime: messages.reviewWords.theUserOfTheRuntime,
    Any: messages.reviewWords.operatorHubUserRuntime,
  }
  return (sides ?? []).map((side) => (Object.hasOwn(names, side) ? names[side] : side)).join(messages.reviewWords.and)
}

/** untilText says when a version comes without consent; empty: never. */
export function untilText(deadline: string | undefined, now: number): string {
  const at = deadline ? Date.parse(deadline) : NaN
  if (Number.isNaN(at)) return ''
  const hours = Math.round((at - now) / 3_600_000)
  if (hours < 1) return messages.reviewWords.installedWithoutConsentWithinHour
  const days = Math.floor(hours / 24)
  return fill(messages.reviewWords.withoutAnswerInstalled, {
    days: days > 1 ? count(days, messages.nouns.day) : count(hours, messages.nouns.hour),
  })
}

const outcomes: Record<Outcome, Word> = {
  Upgrades: { label: messages.outcomes.upgrades, tone: 'ok', means: messages.outcomes.upgradesMeans },
  Installs: { label: messages.outcomes.installs, tone: 'ok', means: messages.outcomes.installsMeans },
  WaitsForRollout: { label: messages.outcomes.waitsForRollout, tone: 'busy', means: messages.outcomes.waitsForRolloutMeans },
  NeedsConsent: { label: messages.outcomes.needsConsent, tone: 'warn', means: messages.outcomes.needsConsentMeans },
  WaitsForWindow: { label: messages.outcomes.waitsForWindow, tone: 'busy', means: messages.outcomes.waitsForWindowMeans },
  RequirementMissing: { label: messages.outcomes.requirementMissing, tone: 'warn', means: messages.outcomes.requirementMissingMeans },
  WouldBreak: { label: messages.outcomes.wouldBreak, tone: 'bad', means: messages.outcomes.wouldBreakMeans },
  Unreachable: { label: messages.outcomes.unreachable, tone: 'bad', means: messages.outcomes.unreachableMeans },
  Suspended: { label: messages.outcomes.suspended, tone: 'idle', means: messages.outcomes.suspendedMeans },
  Refused: { label: messages.outcomes.refused, tone: 'bad', means: messages.outcomes.refusedMeans },
  Removed: { label: messages.outcomes.removed, tone: 'bad', means: messages.outcomes.removedMeans },
  Downgrade: { label: messages.outcomes.downgrade, tone: 'warn', means: messages.outcomes.downgradeMeans },
  Avoids: { label: messages.outcomes.avoids, tone: 'warn', means: messages.outcomes.avoidsMeans },
  Leaving: { label: messages.outcomes.leaving, tone: 'idle', means: messages.outcomes.leavingMeans },
  Same: { label: messages.outcomes.same, tone: 'ok', means: messages.outcomes.sameMeans },
}

/** outcomeWord returns the label of an outcome; an unknown one keeps its own name. */
export function outcomeWord(outcome: string): Word {
  if (Object.hasOwn(outcomes, outcome)) return outcomes[outcome as Outcome]
  return { label: outcome, tone: 'idle', means: messages.reviewWords.outcomePageNotKnow }
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
  if (kymas === 0) return messages.reviewWords.noKymaSeeFollowsChannel
  const of = (...kinds: Outcome[]) => shares.filter((s) => kinds.includes(s.outcome)).reduce((n, s) => n + s.count, 0)
  const now = of('Upgrades', 'Installs')
  const later = of('WaitsForRollout', 'WaitsForWindow')
  const same = of('Same')
  const held = kymas - now - later - same - of('Leaving')
  const parts = [
    now > 0 && fill(messages.reviewWords.atOnce, { now: now.toLocaleString('en') }),
    later > 0 && fill(formOf(later, messages.reviewWords.later), { later: later.toLocaleString('en') }),
    held > 0 && fill(messages.reviewWords.notWithoutHelp, { held: held.toLocaleString('en') }),
  ].filter(Boolean)
  const get = parts.length > 0 ? `${parts.join(', ')}` : messages.reviewWords.noneOfThemChanges
  const have = same > 0 ? fill(formOf(same, messages.reviewWords.haveItAlready), { same: same.toLocaleString('en') }) : ''
  return fill(formOf(kymas, messages.reviewWords.followThisChannel), {
    kymas: count(kymas, messages.nouns.kyma),
    get,
    have,
  })
}
