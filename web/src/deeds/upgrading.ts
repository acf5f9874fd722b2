// Upgrades of many modules: which can be chosen, why others cannot, and what is kept of the choice.
import type { Deed, Module } from '../api'
import { messages } from '../messages'
import { fill } from '../fill'

/** upgradeOf is the deed that brings modules to the version that is available. */
export function upgradeOf(modules: Module[]): Deed {
  return {
    kind: 'upgrade',
    items: modules.map((m) => ({ kyma: m.kyma ?? '', module: m.name, version: m.version.available ?? '', channel: '' })),
  }
}

/** byItself returns why an upgrade happens automatically, or "" when it must be requested. */
export function byItself(m: Module): string {
  if (m.pending) return m.consentHere ? messages.common.waitsForYourConsent : messages.upgrading.waitsForConsent
  if (m.maintenance) return messages.upgrading.waitsForTheMaintenanceWindow
  if (m.offered && !m.suspended) return messages.upgrading.comesByItselfWithItsRollout
  if (m.type === 'managed' && m.managed && m.channel && !m.suspended)
    return fill(messages.upgrading.comesByItselfFromChannel, { channel: m.channel })
  return ''
}

/** selectable says that an upgrade waits for a user, and that something would come of it. */
export function selectable(m: Module): boolean {
  return m.version.outdated && !m.suspended && !m.mandatory && !byItself(m)
}

/** upgradeKey tells what an upgrade can name apart: a Kyma has a module once. */
export const upgradeKey = (m: Module) => `${m.kyma ?? ''}/${m.name}`

/** plainModule is what of a chosen module is stored in the tab. */
export function plainModule(m: Module): Module {
  const { name, kyma, type, state, version, channel, channelOverridden, managed, beta, mandatory, maintenance, suspended, signed } = m
  return {
    ...{ name, kyma, type, state, version, channel, channelOverridden, managed, beta, mandatory, maintenance, suspended, signed },
    module: { state: m.module.state },
    installation: { state: m.installation.state },
  }
}

/** isModule says that something that was stored is a module. */
export function isModule(row: unknown): row is Module {
  const m = row as Partial<Module> | null
  return typeof m?.name === 'string' && typeof m.version === 'object' && typeof m.version.available === 'string'
}

/** chosenUpgrades is the name of the draft of what is to be upgraded: every list that offers upgrades adds to it. */
export const chosenUpgrades = 'upgrade'
