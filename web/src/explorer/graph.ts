// Where the boxes of the graph are: columns from left to right by depth, each parent in the middle of its children. Pure.
import type { ObjectNode } from '../api'
import { childrenOf } from './tree'

export const box = { width: 216, height: 46, gapX: 56, gapY: 12 }

export interface Box {
  node: ObjectNode
  x: number
  y: number
}

export interface Edge {
  from: Box
  to: Box
}

export interface Graph {
  boxes: Box[]
  edges: Edge[]
  width: number
  height: number
}

/** layout places every node once; no two boxes overlap, and children stand right of their parent. */
export function layout(nodes: ObjectNode[]): Graph {
  const children = childrenOf(nodes)
  const boxes: Box[] = []
  const edges: Edge[] = []
  const seen = new Set<string>()
  let next = 0 // where the next leaf goes
  let deepest = 0
  const place = (node: ObjectNode, depth: number): Box => {
    seen.add(node.id)
    deepest = Math.max(deepest, depth)
    const made: Box = { node, x: depth * (box.width + box.gapX), y: 0 }
    boxes.push(made)
    const below: Box[] = []
    for (const child of children.get(node.id) ?? []) if (!seen.has(child.id)) below.push(place(child, depth + 1))
    const first = below[0]
    const last = below[below.length - 1]
    if (first && last) {
      made.y = (first.y + last.y) / 2
      for (const one of below) edges.push({ from: made, to: one })
    } else {
      made.y = next
      next += box.height + box.gapY
    }
    return made
  }
  for (const node of children.get('') ?? []) if (!seen.has(node.id)) place(node, 0)
  for (const node of nodes) if (!seen.has(node.id)) place(node, 0) // a circle of parents
  const width = boxes.length > 0 ? (deepest + 1) * box.width + deepest * box.gapX : 0
  return { boxes, edges, width, height: Math.max(0, next - box.gapY) }
}

/** path of an edge: from the right side of one box to the left side of the other. */
export function path({ from, to }: Edge): string {
  const x = from.x + box.width
  const y = from.y + box.height / 2
  const middle = x + box.gapX / 2
  return `M${x} ${y}C${middle} ${y} ${middle} ${to.y + box.height / 2} ${to.x} ${to.y + box.height / 2}`
}

/** neighbour is the box that an arrow key leads to: up and down within a column, left to the parent, right to the first child. */
export function neighbour({ boxes, edges }: Graph, id: string, key: string): string | undefined {
  const here = boxes.find((one) => one.node.id === id)
  if (!here) return undefined
  if (key === 'ArrowLeft') return edges.find((edge) => edge.to === here)?.from.node.id
  if (key === 'ArrowRight') return edges.find((edge) => edge.from === here)?.to.node.id
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined
  const column = boxes.filter((one) => one.x === here.x).sort((a, b) => a.y - b.y)
  return column[column.indexOf(here) + (key === 'ArrowDown' ? 1 : -1)]?.node.id
}

/** most is how many boxes a graph has: more are no picture any more. */
export const most = 150
