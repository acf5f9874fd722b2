import type { ObjectNode } from '../api'
import { describe, expect, it } from 'vitest'
import { factLink, objectLink } from './evidence'
import { box, layout, neighbour } from './graph'
import { harmless } from './harmless'
import { describeCommand, getCommand, logsCommand, quoted } from './kubectl'
import { messagesIn, nothingRead, taken } from './log'
import { containerOf } from './Logs'
import { changed } from './state'
import { idOf, refOf, rowsOf, stepOf, type Filter } from './tree'

const everything: Filter = { text: '', kind: '', state: '' }

function node(name: string, parent = '', over: Partial<ObjectNode> = {}): ObjectNode {
  const fine = { presence: 'Present', state: 'Ready', worst: 'Ready' } as const
  return { apiVersion: 'v1', kind: 'Pod', name, id: name, parent, origin: 'Owned', ...fine, ...over }
}

const names = (nodes: ObjectNode[], filter = everything, toggled = new Map<string, boolean>()) =>
  rowsOf(nodes, filter, toggled).map((row) => '-'.repeat(row.depth) + row.node.name + (row.open === undefined ? '' : row.open ? '▾' : '▸'))

describe('the tree', () => {
  const bad = node('bad', 'set', { state: 'Error', worst: 'Error', message: 'no image' })
  const set = node('set', 'deployment', { worst: 'Error' })
  const nodes = [node('deployment', '', { worst: 'Error' }), set, bad, node('fine'), node('below', 'fine'), node('deep', 'below')]
  it('opens what needs a look, and leaves the rest folded below the first level', () => {
    expect(names(nodes)).toEqual(['deployment▾', '-set▾', '--bad', 'fine▾', '-below▸'])
  })
  it('keeps what the user opened and closed', () => {
    const toggled = new Map([
      ['set', false],
      ['below', true],
    ])
    expect(names(nodes, everything, toggled)).toEqual(['deployment▾', '-set▸', 'fine▾', '-below▾', '--deep'])
  })
  it('shows what fits with all that stands above it', () => {
    expect(names(nodes, { ...everything, text: 'NO IMAGE' })).toEqual(['deployment▾', '-set▾', '--bad'])
    expect(names(nodes, { ...everything, state: 'Error' })).toEqual(['deployment▾', '-set▾', '--bad'])
    expect(names(nodes, { ...everything, kind: 'Service' })).toEqual([])
  })
  it('ends with parents in a circle, or that are not there', () => {
    expect(names([node('a', 'b'), node('b', 'a'), node('c', 'gone'), node('d', 'd')])).toEqual(['c', 'd'])
  })
  it('goes where the keys lead', () => {
    const rows = rowsOf(nodes, everything, new Map())
    expect(stepOf(rows, 0, 'ArrowDown')).toEqual({ to: 1 })
    expect(stepOf(rows, 0, 'ArrowUp')).toEqual({ to: 0 })
    expect(stepOf(rows, 0, 'End')).toEqual({ to: 4 })
    expect(stepOf(rows, 2, 'ArrowLeft')).toEqual({ to: 1 })
    expect(stepOf(rows, 1, 'ArrowLeft')).toEqual({ toggle: 'set' })
    expect(stepOf(rows, 4, 'ArrowRight')).toEqual({ toggle: 'below' })
    expect(stepOf(rows, 1, 'ArrowRight')).toEqual({ to: 2 })
    expect(stepOf(rows, 2, 'ArrowRight')).toEqual({})
    expect(stepOf(rows, 2, 'x')).toBeUndefined()
    expect(stepOf([], 0, 'End')).toBeUndefined()
  })
})

describe('the graph', () => {
  const many = Array.from({ length: 60 }, (_, i) => node(String(i), i === 0 ? '' : String(Math.floor((i - 1) / 3))))
  it('places every object once, without overlap, each right of the one above it', () => {
    for (const nodes of [many, [], [node('a', 'b'), node('b', 'a')], [node('a', 'a')], many.slice().reverse()]) {
      const graph = layout(nodes)
      expect(graph.boxes.map((one) => one.node.id).sort()).toEqual(nodes.map((one) => one.id).sort())
      const places = new Set(graph.boxes.map((one) => `${one.x} ${one.y}`))
      expect(places.size).toBe(nodes.length)
      for (const a of graph.boxes) {
        expect(a.x + box.width <= graph.width && a.y + box.height <= graph.height).toBe(true)
        for (const b of graph.boxes) if (a !== b && a.x === b.x) expect(Math.abs(a.y - b.y)).toBeGreaterThanOrEqual(box.height)
      }
      for (const edge of graph.edges) expect(edge.to.x).toBeGreaterThan(edge.from.x)
    }
  })
  it('goes along its lines', () => {
    const graph = layout(many)
    expect(neighbour(graph, '0', 'ArrowRight')).toBe('1')
    expect(neighbour(graph, '1', 'ArrowLeft')).toBe('0')
    expect(neighbour(graph, '1', 'ArrowDown')).toBe('2')
    expect(neighbour(graph, '1', 'ArrowUp')).toBeUndefined()
    expect(neighbour(graph, 'gone', 'ArrowUp')).toBeUndefined()
  })
})

describe('kubectl', () => {
  it('is quoted for a shell', () => {
    expect(quoted('kyma-system')).toBe('kyma-system')
    expect(quoted(`a'; rm -rf /`)).toBe(`'a'\\''; rm -rf /'`)
    expect(quoted('')).toBe(`''`)
    expect(getCommand({ resource: 'jobs.batch', namespace: 'ns', name: 'web' })).toBe('kubectl get jobs.batch/web -n ns -o yaml')
    expect(describeCommand({ resource: 'namespaces', name: 'ns' })).toBe('kubectl describe namespaces/ns')
    expect(getCommand({ resource: 'pods', namespace: '--as=admin', name: '$(id)' })).toBe(
      `kubectl get 'pods/$(id)' --namespace=--as=admin -o yaml`,
    )
    const log = { namespace: 'ns', pod: 'p', container: 'c', previous: true, follow: true }
    expect(logsCommand(log)).toBe('kubectl logs pod/p -n ns -c c --previous')
    expect(logsCommand({ namespace: 'ns', pod: 'p', follow: true })).toBe('kubectl logs pod/p -n ns -f')
  })
})

describe('text', () => {
  it('shows what would trick the reader as its code', () => {
    expect(harmless('a\u202eb\u200bc\u0000\u001b[31m\n\tü <b>')).toBe('a<U+202E>b<U+200B>c<U+0000><U+001B>[31m\n\tü <b>')
  })
})

describe('a log', () => {
  it('is put together of pieces', () => {
    const { messages, rest } = messagesIn('{"lines":[{"text":"a"}]}\n\n{broken\nnull\n7\n{"end":"Comp')
    expect(messages).toEqual([{ lines: [{ text: 'a' }] }])
    expect(rest).toBe('{"end":"Comp')
    expect(messagesIn(rest + 'lete"}\n').messages).toEqual([{ end: 'Complete' }])
  })
  it('keeps the last lines, and counts those that it drops', () => {
    const lines = (n: number) => ({ lines: Array.from({ length: n }, (_, i) => ({ text: String(i) })) })
    const read = taken(taken(taken(nothingRead, lines(5), 6), lines(4), 6), { end: 'Bytes' }, 6)
    expect(read.lines.map((line) => line.text).join('')).toBe('340123')
    expect(read).toMatchObject({ dropped: 3, end: 'Bytes' })
  })
  it('is that of the container in the address, else of one that is not ready', () => {
    const one = (name: string, over = {}) => ({ name, kind: 'container' as const, ready: true, restarts: 0, previous: false, ...over })
    const all = [one('setup', { kind: 'init', ready: false }), one('main'), one('bad', { ready: false })]
    expect(containerOf(all, 'setup')?.name).toBe('setup')
    expect(containerOf(all, 'gone')?.name).toBe('bad')
    expect(containerOf(all.slice(0, 2), '')?.name).toBe('main')
    expect(containerOf(all.slice(0, 1), '')?.name).toBe('setup')
    expect(containerOf([], '')).toBeUndefined()
  })
})

describe('addresses', () => {
  it('name an object in any version of its kind', () => {
    for (const ref of [
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'ns', name: 'web' },
      { apiVersion: 'v1', kind: 'Namespace', name: 'ns' },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'system:a:b' },
    ]) {
      const group = ref.apiVersion.includes('/') ? ref.apiVersion.split('/')[0] : ''
      expect(refOf(idOf(ref))).toEqual({ kind: ref.kind, group, namespace: ref.namespace ?? '', name: ref.name })
    }
    for (const text of ['', 'Pod', 'Pod/x', '//', 'Pod/ns/']) expect(refOf(text)).toBeUndefined()
  })
  it('begin with the summary for another object, and keep the filter', () => {
    const old = new URLSearchParams('tab=parts&kind=Pod&object=a&panel=logs&container=c&follow=true')
    expect(changed(old, { object: 'b', version: 'v1' }).toString()).toBe('tab=parts&kind=Pod&object=b&version=v1')
    expect(changed(old, { object: 'a' }).get('panel')).toBe('logs')
    expect(changed(old, { object: undefined }).toString()).toBe('tab=parts&kind=Pod')
  })
  it('lead from the evidence to the object, and from a line of a log to the log', () => {
    expect(objectLink({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'ns', name: 'web' })).toBe(
      '?object=Deployment.apps%2Fns%2Fweb&tab=parts&version=apps%2Fv1',
    )
    const manifest = { apiVersion: 'operator.kyma-project.io/v1beta2', kind: 'Manifest', namespace: 'kcp-system', name: 'a' }
    expect(objectLink(manifest)).toBe('') // it lies on the hub
    const log = factLink({ source: 'log', object: 'Pod ns/web-1, container main', text: 'x' })
    const want = { object: 'Pod/ns/web-1', tab: 'parts', version: 'v1', panel: 'logs', container: 'main' }
    expect(Object.fromEntries(new URLSearchParams(log))).toEqual(want)
    for (const object of ['', 'Greeter ns/x', 'Pod', 'a b c d']) expect(factLink({ source: 'event', object, text: '' })).toBe('')
  })
})
