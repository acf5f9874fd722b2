// What is filled in for a new Kyma, and what becomes of it, as plain decisions.
import type { JsonObject } from '../api'
import type { CreateDeed, NewKymaModule, NewKymaPlace } from '../api'
import { fill } from '../fill'
import { messages } from '../messages'

export interface Form {
  namespace: string
  name: string
  /** local installs its modules into the cluster that it lives in. */
  local: boolean
  /** channel or release: the one that is not empty says which versions its modules have. */
  channel: string
  release: string
  /** modules are the names of those that it has from the beginning. */
  modules: string[]
  labels: JsonObject
  /** now lets upgrades with downtime begin at once. */
  now: boolean
  kubeconfig: string
}

const usualChannel = 'regular'

/** mostKubeconfig is what the server reads at most. */
export const mostKubeconfig = 256 * 1024

/** begin is the form before anything was filled in. */
export function begin(places: NewKymaPlace[]): Form {
  const place = places.find((one) => (one.modules ?? []).length > 0) ?? places[0]
  return { ...inPlace(empty, place), name: '' }
}

const empty: Form = {
  namespace: '',
  name: '',
  local: false,
  channel: usualChannel,
  release: '',
  modules: [],
  labels: {},
  now: false,
  kubeconfig: '',
}

/** plain is what of a form may be stored in the tab: all of it but the kubeconfig. */
export const plain = (form: Form): Omit<Form, 'kubeconfig'> & { kubeconfig?: undefined } => ({ ...form, kubeconfig: undefined })

/** restored is a form that was stored, which may be anything, without a kubeconfig; undefined where it is not a form. */
export function restored(stored: unknown): Form | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined
  const form: Form = { ...empty, ...stored, kubeconfig: '' }
  const fits = Object.entries(empty).every(([name, usual]) => {
    const value: unknown = form[name as keyof Form]
    return typeof value === typeof usual && value !== null && Array.isArray(value) === Array.isArray(usual)
  })
  return fits && form.modules.every((name) => typeof name === 'string') ? form : undefined
}

/** inPlace is the form for another namespace: what that does not have is left out. */
export function inPlace(form: Form, place: NewKymaPlace | undefined): Form {
  const channels = place?.channels ?? []
  const release = (place?.releases ?? []).includes(form.release) ? form.release : ''
  const fallback = channels.includes(usualChannel) ? usualChannel : (channels[0] ?? usualChannel)
  const channel = channels.includes(form.channel) ? form.channel : fallback
  const next = { ...form, namespace: place?.namespace ?? '', release, channel: release ? '' : channel }
  return settled({ ...next, kubeconfig: place?.connect ? form.kubeconfig : '' }, place)
}

/** settled leaves out modules that the chosen channel does not offer. */
export function settled(form: Form, place: NewKymaPlace | undefined): Form {
  const can = (name: string) => (place?.modules ?? []).some((module) => module.name === name && !lacking(form, module))
  return { ...form, modules: form.modules.filter(can) }
}

/** versionIn is the version that a module would have; "" when that is not known, or there is none. */
export function versionIn(form: Form, module: NewKymaModule): string {
  return (module.channels ?? []).find((one) => one.channel === form.channel && !one.missing)?.version ?? ''
}

/** lacking says why a module cannot be had with this form; empty: it can. A release is judged by the server. */
export function lacking(form: Form, module: NewKymaModule): string {
  if (form.release || versionIn(form, module)) return ''
  return fill(messages.form.channelHasNoVersionOfIt, { channel: form.channel })
}

/** begun says that something was filled in that a reload would lose. */
export function begun(form: Form): boolean {
  return form.name !== '' || form.modules.length > 0 || form.kubeconfig !== '' || Object.keys(form.labels).length > 0
}

const nameRule = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** wrongName says what is wrong with the name; empty: nothing. */
export function wrongName(form: Form, place: NewKymaPlace | undefined): string {
  if (form.name === '') return messages.form.giveItAName
  if (!nameRule.test(form.name)) return messages.form.useLowerCaseLettersDigits
  if (form.name.length > 63) return messages.form.useAtMost63Letters
  return (place?.kymas ?? []).includes(form.name) ? messages.form.kymaNameAlready : ''
}

const labelName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/

/** wrongLabel says what is wrong with the labels; empty: nothing. */
export function wrongLabel(form: Form): string {
  for (const [name, value] of Object.entries(form.labels)) {
    if (!labelName.test(name)) return fill(messages.form.notALabelName, { name: name || messages.form.anEmptyText })
    if (!labelValue.test(String(value ?? ''))) return fill(messages.form.notALabelValue, { name, value: String(value) })
  }
  return ''
}

/** hinders says why the Kyma cannot be looked at yet; empty: it can. */
export function hinders(form: Form, place: NewKymaPlace | undefined): string {
  if (!place) return messages.form.chooseNamespaceCreateKyma
  const kubeconfig = !form.local && form.kubeconfig.length > mostKubeconfig ? messages.form.theKubeconfigIsTooLarge : ''
  return wrongName(form, place) || wrongLabel(form) || kubeconfig
}

/** deedOf is what to ask of the server. */
export function deedOf(form: Form): CreateDeed {
  const labels = Object.fromEntries(Object.entries(form.labels).map(([name, value]) => [name, String(value ?? '')]))
  const deed: CreateDeed = {
    kind: 'create',
    kyma: `${form.namespace}/${form.name}`,
    new: {
      ...(form.local ? { local: true } : {}),
      ...(form.release ? { release: form.release } : {}),
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
      ...(form.now ? { skipMaintenanceWindows: true } : {}),
    },
  }
  if (!form.release) deed.channel = form.channel
  if (form.modules.length > 0) deed.modules = form.modules.map((name) => ({ name, policy: 'CreateAndDelete' }))
  if (!form.local && form.kubeconfig.trim() !== '') deed.kubeconfig = form.kubeconfig
  return deed
}
