// What the delete page decides: what is in the way, and which deed is requested.
import type { Blocking, Deed, Previewed } from '../api'
import { fill } from '../fill'
import { messages } from '../messages'

/** previewedOf returns the objects that were shown to the user: only these may be deleted with the module. */
export function previewedOf(blocking: Blocking[] | null | undefined): Previewed[] {
  return (blocking ?? []).map(({ ref, uid }) => ({ ...ref, uid }))
}

/**
 * deletionOf returns the request. Objects are deleted with the module only if the user chose so and saw them, and so are the modules that
 * need it.
 */
export function deletionOf(kyma: string, module: string, cascade: boolean, seen: Previewed[], along: string[] = []): Deed {
  const modules = along.length > 0 ? { with: along } : {}
  return cascade && seen.length > 0
    ? { kind: 'delete', kyma, module, cascade: true, previewed: seen, ...modules }
    : { kind: 'delete', kyma, module, cascade: false, ...modules }
}

/** verbOf is what the button says: everything that goes. */
export function verbOf(name: string, objects: string, modules: string[]): string {
  const all = [objects, ...modules, name].filter(Boolean)
  const last = all.pop() ?? ''
  return all.length === 0 ? fill(messages.deletion.deleteLast, { last }) : fill(messages.deletion.deleteAnd, { all: all.join(', '), last })
}

/** grouped puts objects of one kind together, in the order in which they came. */
export function grouped(blocking: Blocking[]): { kind: string; objects: Blocking[] }[] {
  const groups = new Map<string, Blocking[]>()
  for (const one of blocking) groups.set(one.ref.kind, [...(groups.get(one.ref.kind) ?? []), one])
  return [...groups].map(([kind, objects]) => ({ kind, objects }))
}
