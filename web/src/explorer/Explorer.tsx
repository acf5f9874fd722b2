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
import { fill } from '../fill'
import { messages } from '../messages'

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
        <Notice tone="warn" title={messages.explorer.notEverythingIsShown}>
          <ul className="flat">
            {cuts.map((cut, i) => (
              <li key={i}>{sentence(cut.text)}</li>
            ))}
          </ul>
        </Notice>
      )}
      <div className={'explorer' + (state.object ? ' split' : '')}>
        <section className="card pad stack tight" aria-label={messages.explorer.objectsOfTheModule}>
          {!tree.nodes?.length ? (
            <Empty title={messages.explorer.nothingYet}>{messages.explorer.objectsShowUpHereOnce}</Empty>
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
        {shown.length < nodes.length
          ? fill(messages.explorer.countOfObjects, { count: shown.length, objects: count(total, messages.nouns.object) })
          : count(total, messages.nouns.object)}
      </p>
      {shown.length === 0 && <Empty title={messages.explorer.noObjectFits}>{messages.explorer.chooseAnotherKindStateSearch}</Empty>}
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
      <TextSearch label={messages.explorer.findAnObject} value={state.text} change={(find) => state.set({ find }, true)} />
      <NativeSelect
        aria-label={messages.common.kind}
        value={state.kind}
        data={[{ value: '', label: messages.explorer.allKinds }, ...kinds.map((one) => ({ value: one, label: one }))]}
        onChange={(event) => state.set({ kind: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label={messages.explorer.stateOfObjects}
        value={state.state}
        data={[{ value: '', label: messages.explorer.allStates }, ...states.map((one) => ({ value: one, label: named(one) }))]}
        onChange={(event) => state.set({ state: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label={messages.explorer.howToShowIt}
        value={state.view}
        onChange={(view) => state.set({ view: (view as View) === 'graph' ? 'graph' : undefined })}
        data={[
          { value: 'tree', label: messages.explorer.tree },
          { value: 'graph', label: messages.explorer.graph },
        ]}
      />
    </div>
  )
}
