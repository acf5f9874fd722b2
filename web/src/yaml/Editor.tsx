// The YAML editor: CodeMirror with the colors of the page. It is loaded when it is opened.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { nonce } from '../app/nonce'
import { fill } from '../fill'
import { messages } from '../messages'

const colors = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--busy-fg)', fontWeight: '600' },
  { tag: [tags.string, tags.content], color: 'var(--ok-fg)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn-fg)' },
  { tag: tags.comment, color: 'var(--mantine-color-dimmed)' },
  { tag: tags.invalid, color: 'var(--bad-fg)' },
])

const look = EditorView.theme({
  '&': { color: 'var(--mantine-color-text)', backgroundColor: 'transparent' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)', padding: '10px 0' },
  '.cm-gutters': { backgroundColor: 'var(--soft)', color: 'var(--mantine-color-dimmed)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--soft)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused': { outline: '3px solid var(--mantine-color-kyma-5)', outlineOffset: '-3px' },
})

interface Props {
  label: string
  text: string
  readOnly?: boolean
  change(text: string): void
}

export function Editor({ label, text, readOnly = false, change }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const say = useRef(change)
  useEffect(() => {
    say.current = change
  })
  const first = useRef(text)
  useEffect(() => {
    if (!host.current) return
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({ doc: first.current, extensions: extensionsOf(label, readOnly, (now) => say.current(now)) }),
    })
    view.current = made
    return () => made.destroy()
  }, [label, readOnly])
  useEffect(() => {
    first.current = text
    const now = view.current
    if (now && now.state.doc.toString() !== text) now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: text } })
  }, [text])
  return <div ref={host} className="editor" />
}

function extensionsOf(label: string, readOnly: boolean, changed: (text: string) => void) {
  return [
    EditorView.cspNonce.of(nonce()),
    lineNumbers(),
    history(),
    drawSelection(),
    bracketMatching(),
    highlightActiveLine(),
    indentUnit.of('  '),
    yaml(),
    syntaxHighlighting(colors),
    look,
    EditorView.lineWrapping,
    keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
    EditorView.contentAttributes.of({ 'aria-label': fill(messages.editor.pressEscapeTabLeaveEditor, { label }) }),
    EditorState.readOnly.of(readOnly),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) changed(update.state.doc.toString())
    }),
  ]
}
