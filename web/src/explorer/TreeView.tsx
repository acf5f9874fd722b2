// The objects of a module as a tree, with the keys that trees have.
import type { ObjectNode } from '../api'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useRef, useState, type KeyboardEvent } from 'react'
import { Tag, StateBadge } from '../parts/basics'
import { Ago } from '../parts/details'
import { sentence } from '../words'
import { harmless } from './harmless'
import { presenceWords, stepOf, type Row } from './tree'
import { messages } from '../messages'

interface Props {
  rows: Row[]
  selected: string
  toggle(row: Row): void
  select(node: ObjectNode): void
}

export function TreeView({ rows, selected, toggle, select }: Props) {
  const [focused, setFocused] = useState('')
  const list = useRef<HTMLDivElement>(null)
  const found = rows.findIndex((row) => row.node.id === (focused || selected))
  const current = Math.max(0, found)
  const pressed = (event: KeyboardEvent, at: number) => {
    const row = rows[at]
    if (!row || event.target !== event.currentTarget) return
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      select(row.node)
      return
    }
    const step = stepOf(rows, at, event.key)
    if (!step) return
    event.preventDefault()
    if (step.toggle !== undefined) toggle(row)
    const next = step.to === undefined ? undefined : rows[step.to]
    if (!next || step.to === undefined) return
    setFocused(next.node.id)
    const item = list.current?.children[step.to]
    if (item instanceof HTMLElement) item.focus()
  }
  return (
    <div className="objects" role="tree" aria-label={messages.treeView.objects} ref={list}>
      {rows.map((row, at) => (
        <div
          key={row.node.id}
          role="treeitem"
          aria-level={row.depth + 1}
          aria-expanded={row.open}
          aria-selected={row.node.id === selected}
          tabIndex={at === current ? 0 : -1}
          className={row.context ? 'dim' : undefined}
          style={{ paddingInlineStart: `${row.depth * 22 + 6}px` }}
          onFocus={() => setFocused(row.node.id)}
          onKeyDown={(event) => pressed(event, at)}
          onClick={(event) => {
            if (row.open !== undefined && (event.target as Element).closest('.twist')) toggle(row)
            else select(row.node)
          }}
        >
          <Line row={row} />
        </div>
      ))}
    </div>
  )
}

function Line({ row: { node, open } }: { row: Row }) {
  return (
    <>
      <div className="line">
        <span className="twist" aria-hidden>
          {open === true && <ChevronDown size={16} />}
          {open === false && <ChevronRight size={16} />}
        </span>
        <span className="dim small">{harmless(node.kind)}</span> <span className="mono">{nameOf(node)}</span>{' '}
        {node.state && <StateBadge state={node.state} />}{' '}
        {presenceWords[node.presence] && <Tag tone="warn">{presenceWords[node.presence]}</Tag>}{' '}
        {node.deleting && node.state !== 'Deleting' && <Tag tone="warn">{messages.common.beingDeleted}</Tag>}{' '}
        {node.created && (
          <span className="dim small age">
            <Ago at={node.created} />
          </span>
        )}
      </div>
      {node.message && node.state !== 'Ready' && <div className="dim small said">{sentence(harmless(node.message))}</div>}
    </>
  )
}

const nameOf = (node: ObjectNode) => harmless((node.namespace ? node.namespace + '/' : '') + node.name)

/** labelOf is an object as a screen reader says it. */
export function labelOf(node: ObjectNode): string {
  const state = presenceWords[node.presence] || node.state || ''
  return [harmless(node.kind), nameOf(node), state].filter(Boolean).join(' ')
}
