// The objects of a module as a tree: which are shown, which branches are open, and where the arrow keys lead. Pure.
import type { ObjectNode, Presence, State } from '../api'
import { messages } from '../messages'

export interface Filter {
  text: string
  kind: string
  state: string
}

export interface Row {
  node: ObjectNode
  depth: number
  /** open is undefined for an object that has nothing below it. */
  open?: boolean
  /** context says that the object is shown only because one below it fits the filter. */
  context: boolean
}

/** group of an apiVersion: '' for v1. */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
}

const fine: (State | undefined)[] = ['Ready', undefined]

/** troubled says that an object, or one below it, needs a look. */
export function troubled(node: ObjectNode): boolean {
  return node.presence === 'Missing' || node.presence === 'Unread' || !fine.includes(node.worst ?? node.state)
}

export const presenceWords: Record<Presence, string> = {
  Present: '',
  Planned: messages.tree.notThereYet,
  Missing: 'missing',
  Unread: messages.tree.notReadable,
  NotLooked: messages.tree.notLookedAt,
}

/** stateOf is what the filter by state compares: the state, or else what is known of whether the object is there. */
export function stateOf(node: ObjectNode): string {
  if (node.presence === 'Present' || node.presence === 'Planned') return node.state || 'Unknown'
  return node.presence
}

export function fits(node: ObjectNode, filter: Filter): boolean {
  const text = filter.text.trim().toLowerCase()
  const texts = [node.kind, node.namespace, node.name, node.reason, node.message]
  return (
    (filter.kind === '' || node.kind === filter.kind) &&
    (filter.state === '' || stateOf(node) === filter.state) &&
    (text === '' || texts.some((one) => (one ?? '').toLowerCase().includes(text)))
  )
}

/** childrenOf are the nodes by the id of the one above them. A parent that is not there counts as none. */
export function childrenOf(nodes: ObjectNode[]): Map<string, ObjectNode[]> {
  const known = new Set(nodes.map((node) => node.id))
  const children = new Map<string, ObjectNode[]>()
  for (const node of nodes) {
    const parent = node.parent && known.has(node.parent) && node.parent !== node.id ? node.parent : ''
    const siblings = children.get(parent)
    if (siblings) siblings.push(node)
    else children.set(parent, [node])
  }
  return children
}

/** openByDefault says which branches are open at first: those in which something needs a look, and short ones. */
export function openByDefault(node: ObjectNode, depth: number): boolean {
  return troubled(node) || depth < 1
}

/**
 * rowsOf are the rows of a tree from top to bottom. What fits the filter is shown with everything above it; toggled has the branches that
 * the user opened or closed.
 */
export function rowsOf(nodes: ObjectNode[], filter: Filter, toggled: ReadonlyMap<string, boolean>): Row[] {
  const children = childrenOf(nodes)
  const filtered = filter.text.trim() !== '' || filter.kind !== '' || filter.state !== ''
  const hits = new Map<string, boolean>()
  const hit = (node: ObjectNode): boolean => {
    const known = hits.get(node.id)
    if (known !== undefined) return known
    hits.set(node.id, false) // a circle ends here
    const below = (children.get(node.id) ?? []).map(hit).some(Boolean)
    const found = below || fits(node, filter)
    hits.set(node.id, found)
    return found
  }
  const rows: Row[] = []
  const walk = (level: ObjectNode[], depth: number) => {
    for (const node of level) {
      if (filtered && !hit(node)) continue
      const below = (children.get(node.id) ?? []).filter((child) => !filtered || hit(child))
      const open = toggled.get(node.id) ?? (filtered || openByDefault(node, depth))
      rows.push({ node, depth, open: below.length > 0 ? open : undefined, context: filtered && !fits(node, filter) })
      if (open) walk(below, depth + 1)
    }
  }
  walk(children.get('') ?? [], 0)
  return rows
}

export interface Step {
  /** to is the index of the row that has the focus next. */
  to?: number
  /** toggle is the id of a branch to open or close. */
  toggle?: string
}

/** stepOf is what a key does in a tree, as the pattern of ARIA for trees says. */
export function stepOf(rows: Row[], at: number, key: string): Step | undefined {
  const row = rows[at]
  if (!row) return undefined
  switch (key) {
    case 'ArrowDown':
      return { to: Math.min(rows.length - 1, at + 1) }
    case 'ArrowUp':
      return { to: Math.max(0, at - 1) }
    case 'Home':
      return { to: 0 }
    case 'End':
      return { to: rows.length - 1 }
    case 'ArrowRight':
      if (row.open === false) return { toggle: row.node.id }
      return row.open ? { to: at + 1 } : {}
    case 'ArrowLeft': {
      if (row.open) return { toggle: row.node.id }
      const above = rows.findLastIndex((one, i) => i < at && one.depth < row.depth)
      return above >= 0 ? { to: above } : {}
    }
  }
  return undefined
}

/** idOf is the id of an object, as the server writes it. */
export function idOf(ref: { apiVersion?: string; kind: string; namespace?: string; name: string }): string {
  const group = groupOf(ref.apiVersion ?? '')
  return `${ref.kind}${group && '.' + group}/${ref.namespace ?? ''}/${ref.name}`
}

/** refOf is what an id says, undefined if it is none. The version of a group is not in it. */
export function refOf(id: string): { kind: string; group: string; namespace: string; name: string } | undefined {
  const parts = /^([^/.]+)(?:\.([^/]+))?\/([^/]*)\/(.+)$/.exec(id)
  if (!parts) return undefined
  return { kind: parts[1] ?? '', group: parts[2] ?? '', namespace: parts[3] ?? '', name: parts[4] ?? '' }
}
