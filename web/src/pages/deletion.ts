// What the delete page decides: what is in the way, and which deed is requested.
import type { Blocking, Deed, Previewed } from '../api'

/** previewedOf returns the objects that were shown to the user: only these may be deleted with the module. */
export function previewedOf(blocking: Blocking[] | null | undefined): Previewed[] {
  return (blocking ?? []).map(({ ref, uid }) => ({ ...ref, uid }))
}

/** deletionOf returns the request. Objects are deleted with the module only if the user chose so and saw them. */
export function deletionOf(kyma: string, module: string, cascade: boolean, seen: Previewed[]): Deed {
  return cascade && seen.length > 0
    ? { kind: 'delete', kyma, module, cascade: true, previewed: seen }
    : { kind: 'delete', kyma, module, cascade: false }
}

/** grouped puts objects of one kind together, in the order in which they came. */
export function grouped(blocking: Blocking[]): { kind: string; objects: Blocking[] }[] {
  const groups = new Map<string, Blocking[]>()
  for (const one of blocking) groups.set(one.ref.kind, [...(groups.get(one.ref.kind) ?? []), one])
  return [...groups].map(([kind, objects]) => ({ kind, objects }))
}
