// Requests that are no live query: what changes something, and what is asked once.
import type { Problem } from '../api'
import type { Failure } from './live'
import type { AnswerTo, BodyOf, Deleted, DeletePath, GetPath, Needed, PathParameters, PostPath, Query, Reply, Value } from './paths'
import { fill } from '../fill'
import { messages } from '../messages'

export type { AnswerTo, Parameters, Query } from './paths'

/** Refusal is an answer that is an error. Its message is written for users. */
export class Refusal extends Error implements Failure {
  readonly status: number
  readonly reason: string
  readonly details?: Problem['details']

  constructor(status: number, problem: Problem) {
    super(problem.message)
    this.status = status
    this.reason = problem.reason
    this.details = problem.details
  }
}

/** ask reads an answer once. It throws nothing but a Refusal. */
export const ask = <T>(of: Query<T>): Promise<T> => send<T>('GET', of)

/** send makes a request and reads its answer. It throws nothing but a Refusal. */
export async function send<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method, headers: { Accept: 'application/json' }, credentials: 'same-origin', redirect: 'error' }
  if (method !== 'GET') {
    init.headers = { Accept: 'application/json', 'Content-Type': 'application/json' }
    init.body = JSON.stringify(body ?? {})
  }
  let answer: Response
  try {
    answer = await fetch(path, init)
  } catch {
    throw new Refusal(0, { reason: 'Unreachable', message: messages.common.dashboardNotAnswerStillRunning })
  }
  const text = await answer.text()
  if (!answer.ok) throw new Refusal(answer.status, problemOf(answer.status, text))
  if (text === '') return undefined as T
  try {
    return JSON.parse(text) as T
  } catch {
    throw new Refusal(answer.status, { reason: 'Malformed', message: fill(messages.http.theAnswerToCannotBeRead, { path }) })
  }
}

/** problemOf finds the error in a body, and says something where there is none. */
export function problemOf(status: number, body: unknown): Problem {
  let value = body
  if (typeof body === 'string') {
    try {
      value = JSON.parse(body)
    } catch {
      value = undefined
    }
  }
  const error = (value as { error?: Partial<Problem> } | null | undefined)?.error
  if (error && typeof error.message === 'string' && error.message !== '') {
    return { reason: String(error.reason ?? ''), message: error.message, details: error.details }
  }
  return { reason: 'Failed', message: fill(messages.http.serverAnsweredStatusGaveNo, { status }) }
}

/** query writes the address of a GET: parameters that its path names are put there, each escaped, and the others after it. */
export function query<P extends GetPath>(path: P, ...[parameters]: Needed<P>): Query<AnswerTo<P>> {
  const all: Record<string, Value> = { ...parameters }
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  return addressOf(path, all) + search(Object.fromEntries(Object.entries(all).filter(([name]) => !inPath.includes(name))))
}

/** addressOf puts parameters into a path, each escaped. */
function addressOf(path: string, parameters: Record<string, Value>): string {
  return '/api/v1' + path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parameters[name])))
}

/** post sends what changes something, and reads the answer. It throws nothing but a Refusal. */
export function post<P extends PostPath>(path: P, body: BodyOf<P>, parameters: PathParameters<P, 'post'>): Promise<Reply<P>> {
  return send('POST', addressOf(path, parameters), body)
}

/** remove deletes what a path is about. It throws nothing but a Refusal. */
export function remove<P extends DeletePath>(path: P, parameters: Deleted<P>): Promise<void> {
  return send('DELETE', addressOf(path, parameters))
}

/** search writes parameters, sorted, so that the same question is always the same text; what is empty is left out. */
export function search(parameters: Record<string, Value>): string {
  const all = new URLSearchParams()
  for (const name of Object.keys(parameters).sort()) {
    const value = parameters[name]
    for (const one of Array.isArray(value) ? [...value].sort() : [value]) {
      if (one !== undefined && one !== '' && one !== false) all.append(name, String(one))
    }
  }
  const text = all.toString()
  return text && '?' + text
}

/** at joins parts of a path, each escaped. */
export function at(...parts: string[]): string {
  return parts.map((part) => '/' + encodeURIComponent(part)).join('')
}
