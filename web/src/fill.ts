// Messages with their values. The messages are those of messages.ts.
import { createElement, Fragment, type ReactNode } from 'react'

/** Names are the placeholders of a message: "{name} in {kyma}" has name and kyma. */
type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Values<Text extends string, Value> = Record<Names<Text>, Value>

/** Noun is a noun in the two forms that count chooses from. */
export interface Noun {
  one: string
  other: string
}

/** formOf chooses the form of a message that has two, by the number that it is about. */
export function formOf<One extends string, Other extends string>(n: number, forms: { one: One; other: Other }): One | Other {
  return n === 1 ? forms.one : forms.other
}

const placeholder = /\{(\w+)\}/

/** fill puts values in the place of the placeholders; undefined leaves it empty. A value is never looked at for placeholders of its own. */
export function fill<Text extends string>(text: Text, values: Values<Text, string | number | undefined>): string {
  const all: Record<string, string | number | undefined> = values
  return text
    .split(placeholder)
    .map((part, i) => (i % 2 ? (all[part] ?? '') : part))
    .join('')
}

/** fillNodes is fill for values that are not only text, such as a link in the middle of a sentence. */
export function fillNodes<Text extends string>(text: Text, values: Values<Text, ReactNode>): ReactNode {
  const all: Record<string, ReactNode> = values
  return text.split(placeholder).map((part, i) => createElement(Fragment, { key: i }, i % 2 ? all[part] : part))
}
