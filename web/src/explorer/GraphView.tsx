// The objects of a module as a picture: who owns whom, from left to right. It scrolls; the arrow keys go along the lines.
import type { ObjectNode } from '../api'
import { useRef, type KeyboardEvent } from 'react'
import { stateWord, type Tone } from '../words'
import { box, layout, most, neighbour, path, type Box } from './graph'
import { harmless } from './harmless'
import { presenceWords } from './tree'
import { labelOf } from './TreeView'
import { fill } from '../fill'
import { messages } from '../messages'

const edge = 8

interface Props {
  nodes: ObjectNode[]
  selected: string
  select(node: ObjectNode): void
}

export function GraphView({ nodes, selected, select }: Props) {
  const shown = nodes.slice(0, most)
  const graph = layout(shown)
  const picture = useRef<SVGSVGElement>(null)
  const first = shown.some((node) => node.id === selected) ? selected : (graph.boxes[0]?.node.id ?? '')
  const pressed = (event: KeyboardEvent, node: ObjectNode) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      select(node)
      return
    }
    const next = neighbour(graph, node.id, event.key)
    if (next === undefined) return
    event.preventDefault()
    const at = graph.boxes.findIndex((one) => one.node.id === next)
    picture.current?.querySelectorAll<SVGGElement>('[role=button]')[at]?.focus()
  }
  return (
    <>
      {nodes.length > most && (
        <p className="dim small flat">{fill(messages.graphView.graphShowsObjectsWorstBranches, { most, count: nodes.length })}</p>
      )}
      <div className="graph">
        <svg
          ref={picture}
          width={graph.width + 2 * edge}
          height={graph.height + 2 * edge}
          viewBox={`${-edge} ${-edge} ${graph.width + 2 * edge} ${graph.height + 2 * edge}`}
          role="group"
          aria-label={messages.graphView.objectsAsAGraph}
        >
          {graph.edges.map((one, i) => (
            <path key={i} d={path(one)} />
          ))}
          {graph.boxes.map((one) => (
            <Item
              key={one.node.id}
              one={one}
              selected={one.node.id === selected}
              focusable={one.node.id === first}
              press={(event) => pressed(event, one.node)}
              select={() => select(one.node)}
            />
          ))}
        </svg>
      </div>
    </>
  )
}

interface ItemProps {
  one: Box
  selected: boolean
  focusable: boolean
  press(event: KeyboardEvent): void
  select(): void
}

function Item({ one: { node, x, y }, selected, focusable, press, select }: ItemProps) {
  const tone = toneOf(node)
  const said = presenceWords[node.presence] || node.state || ''
  return (
    <g
      role="button"
      tabIndex={focusable ? 0 : -1}
      aria-pressed={selected}
      className={`tone-${tone}`}
      transform={`translate(${x} ${y})`}
      onKeyDown={press}
      onClick={select}
    >
      <title>{labelOf(node) + ' '}</title>
      <rect width={box.width} height={box.height} rx={8} />
      <text x={12} y={18} className="kind">
        {short(`${node.kind}${said ? ' · ' + said : ''}`, 34)}
      </text>
      <text x={12} y={36} className="mono">
        {short(node.name, 24)}
      </text>
    </g>
  )
}

/** toneOf is the color of an object: what is not known is neither fine nor bad. */
function toneOf(node: ObjectNode): Tone {
  if (node.presence === 'Missing') return 'bad'
  if (node.presence === 'Unread') return 'warn'
  return node.state ? stateWord(node.state).tone : 'idle'
}

/** short cuts a text in the middle, where names differ least. */
export function short(text: string, most: number): string {
  const letters = [...harmless(text)]
  if (letters.length <= most) return letters.join('')
  const half = Math.floor((most - 1) / 2)
  return letters.slice(0, most - 1 - half).join('') + '…' + letters.slice(-half).join('')
}
