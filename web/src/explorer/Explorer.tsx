// The objects of a module and what these own, as a tree or a graph, with a panel for the one that is looked at. Nothing is read of it while
// this is not on the page.
import type { ObjectNode, ObjectTree } from '../api'
import { NativeSelect, SegmentedControl } from '@mantine/core'
import { useMemo, useState } from 'react'
import { treeQuery } from '../live/moduleQueries'
import { useLive } from '../live/useLive'
import { Empty, Notice, NotRead } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { TextSearch } from '../parts/search'
import { count, sentence } from '../words'
import './explorer.css'
import { GraphView } from './GraphView'
import { ObjectPanel } from './ObjectPanel'
import { useExplorerState, type ExplorerState, type View } from './state'
import { presenceWords, rowsOf, stateOf, type Row } from './tree'
import { TreeView } from './TreeView'

export function Page({ path }: { path: string }) {
  const answer = useLive(treeQuery(path))
  return (
    <Loaded answer={answer} rows={8}>
      {(tree) => <Body tree={tree} path={path} />}
    </Loaded>
  )
}

function Body({ tree, path }: { tree: ObjectTree; path: string }) {
  const state = useExplorerState()
  const cuts = tree.cuts ?? []
  const selected = tree.nodes?.find((node) => node.id === state.object)
  const select = (node: ObjectNode) => state.set({ object: node.id, version: node.apiVersion })
  return (
    <div className="stack">
      <NotRead unread={tree.unread} />
      {cuts.length > 0 && (
        <Notice tone="warn" title="Not everything is shown">
          <ul className="flat">
            {cuts.map((cut, i) => (
              <li key={i}>{sentence(cut.text)}</li>
            ))}
          </ul>
        </Notice>
      )}
      <div className={'explorer' + (state.object ? ' split' : '')}>
        <section className="card pad stack tight" aria-label="Objects of the module">
          {!tree.nodes?.length ? (
            <Empty title="Nothing yet">Its objects show up here once they are applied.</Empty>
          ) : (
            <Objects nodes={tree.nodes} total={tree.total} state={state} selected={selected} select={select} />
          )}
        </section>
        {state.object && (
          <ObjectPanel
            key={state.object}
            path={path}
            id={state.object}
            node={selected}
            state={state}
            close={() => state.set({ object: undefined })}
          />
        )}
      </div>
    </div>
  )
}

interface ObjectsProps {
  nodes: ObjectNode[]
  total: number
  state: ExplorerState
  selected?: ObjectNode
  select(node: ObjectNode): void
}

function Objects({ nodes, total, state, selected, select }: ObjectsProps) {
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const { text, kind, state: wanted } = state
  const rows = useMemo(() => {
    const open = new Map(toggled)
    for (const id of above(nodes, selected)) if (!open.has(id)) open.set(id, true)
    return rowsOf(nodes, { text, kind, state: wanted }, open)
  }, [nodes, toggled, selected, text, kind, wanted])
  const toggle = (row: Row) => setToggled(new Map(toggled).set(row.node.id, !row.open))
  const shown = useMemo(() => rowsOf(nodes, { text, kind, state: wanted }, everything(nodes)), [nodes, text, kind, wanted])
  return (
    <>
      <Filters nodes={nodes} state={state} />
      <p role="status" className="dim small flat">
        {shown.length < nodes.length ? `${shown.length} of ${count(total, 'object')}` : count(total, 'object')}
      </p>
      {shown.length === 0 && <Empty title="No object fits">Choose another kind or state, or search for something else.</Empty>}
      {state.view === 'graph' ? (
        <GraphView nodes={shown.map((row) => row.node)} selected={state.object} select={select} />
      ) : (
        <TreeView rows={rows} selected={state.object} toggle={toggle} select={select} />
      )}
    </>
  )
}

const everything = (nodes: ObjectNode[]) => new Map(nodes.map((node) => [node.id, true]))

/** above are the ids of what stands above an object. */
function above(nodes: ObjectNode[], node?: ObjectNode): string[] {
  const found: string[] = []
  let parent = node?.parent
  while (parent && !found.includes(parent)) {
    found.push(parent)
    const id = parent
    parent = nodes.find((one) => one.id === id)?.parent
  }
  return found
}

const distinct = (all: string[]) => [...new Set(all)].sort()

function Filters({ nodes, state }: { nodes: ObjectNode[]; state: ExplorerState }) {
  const kinds = distinct([...nodes.map((node) => node.kind), ...(state.kind ? [state.kind] : [])])
  const states = distinct([...nodes.map(stateOf), ...(state.state ? [state.state] : [])])
  const named = (one: string) => presenceWords[one as keyof typeof presenceWords] || one
  return (
    <div className="row">
      <TextSearch label="Find an object" value={state.text} change={(find) => state.set({ find }, true)} />
      <NativeSelect
        aria-label="Kind"
        value={state.kind}
        data={[{ value: '', label: 'All kinds' }, ...kinds.map((one) => ({ value: one, label: one }))]}
        onChange={(event) => state.set({ kind: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label="State of objects"
        value={state.state}
        data={[{ value: '', label: 'All states' }, ...states.map((one) => ({ value: one, label: named(one) }))]}
        onChange={(event) => state.set({ state: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label="How to show it"
        value={state.view}
        onChange={(view) => state.set({ view: (view as View) === 'graph' ? 'graph' : undefined })}
        data={[
          { value: 'tree', label: 'Tree' },
          { value: 'graph', label: 'Graph' },
        ]}
      />
    </div>
  )
}
