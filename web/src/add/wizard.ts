// The choices in the wizard that adds modules, and the resulting requests. Pure: the server decides which method is possible.
import type { AddModule, Deed, JsonObject, KymaLine, Offer, OfferVersion } from '../api'
import type { Edit } from '../yaml/Configure'
import { fill } from '../fill'
import { messages } from '../messages'

export const steps = ['choose', 'version', 'configure', 'review'] as const
export type Step = (typeof steps)[number]

/** Setup is how the module's own resource is created: as suggested, as edited, or not yet. */
export type Setup = 'suggested' | 'own' | 'none'

export interface Pick {
  offer: Offer
  /** from is "" (the channel of the Kyma), "channel:NAME" or "version:X". */
  from: string
  /** chosen is whether the user chose it; a suggestion follows the Kyma. */
  chosen: boolean
  setup: Setup
  resource?: JsonObject
  /** edit is a configuration that is being typed. */
  edit?: Edit
}

export interface Wizard {
  step: Step
  kyma: string
  kymaChannel: string
  picks: Pick[]
  direct: boolean
  /** kymas is whether there are Kymas: modules go into one then, unless the user chooses direct installation. */
  kymas: boolean
  /** pending is whether the list of Kymas, or the requested Kyma, is still loading: a quick user would bypass it. */
  pending: boolean
}

export type Move =
  | { do: 'step'; step: Step }
  | { do: 'kyma'; kyma: KymaLine | null }
  | { do: 'toggle'; offer: Offer }
  | { do: 'from'; name: string; from: string }
  | { do: 'setup'; name: string; setup: Setup; resource?: JsonObject }
  | { do: 'edit'; name: string; edit: Edit }
  | { do: 'direct'; on: boolean }
  | { do: 'kymas'; any: boolean }

export const empty: Wizard = { step: 'choose', kyma: '', kymaChannel: '', picks: [], direct: false, kymas: false, pending: false }

/** begin is the wizard before the cluster has answered. */
export const begin: Wizard = { ...empty, pending: true }

/** again returns the setup for another version: edits were made for the previous one. */
const anew = { setup: 'suggested', resource: undefined, edit: undefined } as const

/** keyOf tells offers apart: one name can be offered in several namespaces, and by several sources. */
export function keyOf(offer: Offer): string {
  return `${offer.source ? 'source:' + offer.source : (offer.namespace ?? '')}/${offer.name}`
}

/** move returns the wizard's state after an action of the user. */
export function move(w: Wizard, m: Move): Wizard {
  switch (m.do) {
    case 'step':
      return { ...w, step: m.step }
    case 'kyma':
      return settle(w, { ...w, kyma: m.kyma ? `${m.kyma.namespace}/${m.kyma.name}` : '', kymaChannel: m.kyma?.channel ?? '' })
    case 'toggle':
      return settle(w, { ...w, picks: toggled(w, m.offer) })
    case 'from':
      return changed(w, m.name, { from: m.from, chosen: true, ...anew })
    case 'setup':
      return changed(w, m.name, { setup: m.setup, resource: m.resource, edit: undefined })
    case 'edit':
      return changed(w, m.name, { edit: m.edit })
    case 'kymas':
      return { ...w, kymas: m.any, pending: false }
    case 'direct':
      return settle(w, { ...w, direct: m.on })
  }
}

function changed(w: Wizard, name: string, over: Partial<Pick>): Wizard {
  return { ...w, picks: w.picks.map((p) => (p.offer.name === name ? { ...p, ...over } : p)) }
}

/** isPicked reports whether the user chose an offer. */
export function isPicked(w: Wizard, offer: Offer): boolean {
  return w.picks.some((p) => keyOf(p.offer) === keyOf(offer))
}

function toggled(w: Wizard, offer: Offer): Pick[] {
  if (isPicked(w, offer)) return w.picks.filter((p) => keyOf(p.offer) !== keyOf(offer))
  const others = w.picks.filter((p) => p.offer.name !== offer.name) // one module of a name
  return [...others, { offer, from: '', chosen: false, setup: 'suggested' }]
}

/**
 * settle gives every pick a source that it may have: the first one, unless the user chose another. Only what goes into a Kyma can follow
 * the Kyma's channel. What gets another version by that is set up again.
 */
function settle(before: Wizard, w: Wizard): Wizard {
  const picks = w.picks.map((p) => {
    const choices = choicesOf(w, p.offer)
    const stays = p.chosen && choices.some((choice) => choice.value === p.from)
    const settled: Pick = stays ? p : { ...p, from: choices[0]?.value ?? '', chosen: false }
    return versionOf(before, p) === versionOf(w, settled) ? settled : { ...settled, ...anew }
  })
  return { ...w, picks }
}

/** viaKyma says whether an offer goes through the Kyma. */
export function viaKyma(w: Wizard, offer: Offer): boolean {
  return offer.type !== 'community' && w.kyma !== '' && !w.direct
}

export interface ChoiceOf {
  value: string
  label: string
}

/** choicesOf are the ways to say which version; the first is the one to take. */
export function choicesOf(w: Wizard, offer: Offer): ChoiceOf[] {
  const channels = (offer.channels ?? []).filter((c) => !c.missing)
  const community = offer.type === 'community'
  const versions = (offer.versions ?? []).map((v) => ({
    value: 'version:' + v.version,
    label: fill(community ? messages.common.versionValue : messages.wizard.versionAndStayThere, {
      version: v.beta ? fill(messages.wizard.betaVersion, { version: v.version }) : v.version,
    }),
  }))
  if (community) return versions
  const follow = channels.map((c) => ({
    value: 'channel:' + c.channel,
    label: fill(messages.wizard.channelNow, { channel: c.channel, version: c.version }),
  }))
  if (!viaKyma(w, offer)) return [...follow, ...versions]
  const own = channels.find((c) => c.channel === w.kymaChannel)
  const first = own ? [{ value: '', label: fill(messages.wizard.asTheKymaChannelNow, { channel: own.channel, version: own.version }) }] : []
  return [...first, ...follow.filter((f) => f.value !== 'channel:' + w.kymaChannel), ...versions]
}

/** versionOf returns the version that a pick would get, or "" when it is unknown. */
export function versionOf(w: Wizard, pick: Pick): string {
  if (pick.from.startsWith('version:')) return pick.from.slice('version:'.length)
  const channel = pick.from === '' ? w.kymaChannel : pick.from.slice('channel:'.length)
  return pick.offer.channels?.find((c) => c.channel === channel)?.version ?? ''
}

/** detailOf is what is known of that version. */
export function detailOf(w: Wizard, pick: Pick): OfferVersion | undefined {
  const version = versionOf(w, pick)
  return pick.offer.versions?.find((v) => v.version === version)
}

/** installedIn says where an offer is installed already, as seen from the chosen Kyma; "" when it is not. */
export function installedIn(w: Wizard, offer: Offer): string {
  for (const one of offer.installed ?? []) {
    if (!one.kyma) return messages.common.installedDirectly
    if (one.kyma === w.kyma) return messages.wizard.inThisKymaAlready
  }
  return ''
}

/** deedsOf is what to ask of the server: one deed for each way that modules take. */
export function deedsOf(w: Wizard): Deed[] {
  const through = w.picks.filter((p) => viaKyma(w, p.offer))
  const past = w.picks.filter((p) => p.offer.type !== 'community' && !viaKyma(w, p.offer))
  const community = w.picks.filter((p) => p.offer.type === 'community')
  const deeds: Deed[] = []
  if (through.length > 0) deeds.push({ kind: 'add', kyma: w.kyma, modules: through.map(asked), direct: false, community: false })
  if (past.length > 0) deeds.push({ kind: 'add', kyma: '', modules: past.map(askedHere), direct: true, community: false })
  const sources = new Set(community.map((p) => p.offer.source ?? ''))
  for (const source of sources) {
    const modules = community.filter((p) => (p.offer.source ?? '') === source).map(source ? asked : askedHere)
    deeds.push({ kind: 'add', kyma: '', modules, direct: false, community: true, ...(source ? { source } : {}) })
  }
  return deeds
}

function asked(pick: Pick): AddModule {
  const made: AddModule = { name: pick.offer.name }
  if (pick.from.startsWith('channel:')) made.channel = pick.from.slice('channel:'.length)
  if (pick.from.startsWith('version:')) made.version = pick.from.slice('version:'.length)
  made.policy = pick.setup === 'suggested' ? 'CreateAndDelete' : 'Ignore'
  if (pick.setup === 'own' && pick.resource) made.resource = pick.resource
  return made
}

/** askedHere names the namespace of the offer that was chosen, too: others may offer a module of the same name. */
function askedHere(pick: Pick): AddModule {
  const made = asked(pick)
  return pick.offer.namespace ? { ...made, namespace: pick.offer.namespace } : made
}

/** unfinished is a pick whose own configuration is missing. */
const unfinished = (w: Wizard) => w.picks.find((p) => p.setup === 'own' && !p.resource)

/** lastStep is the last step that can be shown: after a reload, a configuration is missing. */
export function lastStep(w: Wizard): Step {
  if (w.picks.length === 0) return 'choose'
  return unfinished(w) ? 'configure' : 'review'
}

/** hinders returns why the user cannot continue from a step, or "". */
export function hinders(w: Wizard): string {
  if (w.picks.length === 0) return messages.wizard.chooseAtLeastOneModule
  const homeless = w.kyma === '' ? w.picks.find((p) => p.offer.type !== 'community') : undefined
  if (homeless && w.pending) return messages.wizard.notKnownYetKymas
  if (homeless && w.kymas) return fill(messages.wizard.chooseForWhichKymaIs, { name: homeless.offer.name })
  if (w.step === 'version' || w.step === 'review') {
    const none = w.picks.find((p) => choicesOf(w, p.offer).length === 0)
    if (none) return fill(messages.wizard.noVersion, { name: none.offer.name })
  }
  const missing = unfinished(w)
  if (w.step === 'configure' && missing) return fill(messages.wizard.finishConfigurationFirstTakeSuggested, { name: missing.offer.name })
  return ''
}
