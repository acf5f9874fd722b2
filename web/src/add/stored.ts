// What of the wizard is stored in the tab, so that a reload loses nothing but configurations: those may hold secrets.
import type { Offer, OfferVersion } from '../api'
import { empty, type Pick, type Setup, type Wizard } from './wizard'

interface StoredPick {
  offer: Offer
  from: string
  chosen: boolean
  setup: Setup
}

interface StoredWizard {
  address: string
  kyma: string
  kymaChannel: string
  direct: boolean
  kymas: boolean
  picks: StoredPick[]
}

/** mostVersions bounds what is stored of one offer. */
const mostVersions = 200

/** plainOf is what may be stored of a wizard that began at an address. */
export function plainOf(w: Wizard, address: string): StoredWizard {
  const { kyma, kymaChannel, direct, kymas } = w
  return { address, kyma, kymaChannel, direct, kymas, picks: w.picks.map(plainPick) }
}

function plainPick({ offer, from, chosen, setup }: Pick): StoredPick {
  const { name, namespace, source, type, channels, mandatory, installed } = offer
  const versions = (offer.versions ?? []).slice(0, mostVersions).map(plainVersion)
  return { offer: { name, namespace, source, type, channels, mandatory, installed, versions }, from, chosen, setup }
}

function plainVersion({ version, template, beta, requiresDowntime, resource }: OfferVersion): OfferVersion {
  return { version, template, beta, requiresDowntime, resource }
}

/** revived is a wizard that was stored at the same address; undefined for anything else. */
export function revived(stored: unknown, address: string): Wizard | undefined {
  const found = stored as Partial<StoredWizard> | null | undefined
  if (!found || found.address !== address || !Array.isArray(found.picks)) return undefined
  const picks = found.picks.filter(isPick).map((pick): Pick => ({ ...pick }))
  if (picks.length === 0 || picks.length !== found.picks.length) return undefined
  return {
    ...empty,
    kyma: String(found.kyma ?? ''),
    kymaChannel: String(found.kymaChannel ?? ''),
    direct: found.direct === true,
    kymas: found.kymas === true,
    picks,
  }
}

const setups: unknown[] = ['suggested', 'own', 'none'] satisfies Setup[]

function isPick(one: unknown): one is StoredPick {
  const pick = one as Partial<StoredPick> | null
  return typeof pick?.offer?.name === 'string' && typeof pick.from === 'string' && setups.includes(pick.setup)
}
