// YAML text and objects. What a user writes is checked before anything is sent.
import { parseDocument, stringify } from 'yaml'
import type { Json, JsonObject } from '../api'
import { messages } from '../messages'

export type Parsed = { value: JsonObject } | { error: string; line?: number }

const longest = 512 * 1024

/** toYaml writes an object. */
export function toYaml(value: Json): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** fromYaml reads one object. No aliases: a few lines of them can make gigabytes. */
export function fromYaml(text: string): Parsed {
  if (text.length > longest) return { error: messages.text.longer512KiBTooMuch }
  const document = parseDocument(text, { maxAliasCount: 0, uniqueKeys: true, version: '1.2', schema: 'core' } as never)
  const wrong = document.errors[0]
  if (wrong) return { error: firstLine(wrong.message), line: wrong.linePos?.[0].line }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 0 })
  } catch (error) {
    return { error: firstLine((error as Error).message) }
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return { error: messages.text.oneObjectNeededLinesName }
  return { value: value as JsonObject }
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? text).replace(/:$/, '')
}
