// The requests of the OpenAPI document as types: which paths there are below /api/v1, what each is sent, and what it answers.
import type { paths } from '../apischema'

/** Query is the address of a GET that is answered with T. */
export type Query<T> = string & { readonly answer?: T }

export type Value = string | number | boolean | string[] | undefined

type Method = 'get' | 'post' | 'delete'
/** PathOf are the paths that have a method. */
type PathOf<M extends Method, Shape> = {
  [P in keyof paths]: paths[P] extends Record<M, Shape> ? (P extends `/api/v1${infer Path}` ? Path : never) : never
}[keyof paths]
type Requested<P extends string, M extends Method> =
  `/api/v1${P}` extends keyof paths ? (paths[`/api/v1${P}`] extends Record<M, infer Request> ? Request : never) : never
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined
type Names<T> = T extends object ? keyof T & string : never
type Part<P extends string, M extends Method, Where extends 'path' | 'query'> =
  Requested<P, M> extends { parameters: infer All } ? (Where extends keyof All ? Names<All[Where]> : never) : never

export type GetPath = PathOf<'get', { responses: { 200: { content: { 'application/json': unknown } } } }>
export type PostPath = PathOf<'post', object>
export type DeletePath = PathOf<'delete', object>

export type AnswerTo<P extends GetPath> = Requested<P, 'get'> extends { responses: { 200: infer Ok } } ? Json<Ok> : never

/** PathParameters are those that a path names. */
export type PathParameters<P extends string, M extends Method> = Record<Part<P, M, 'path'>, string>
/** Parameters are those of the path of a GET, which must be there, and those of its query. */
export type Parameters<P extends GetPath> = PathParameters<P, 'get'> & Partial<Record<Part<P, 'get', 'query'>, Value>>
/** Needed are the arguments that a GET takes: none where its path names nothing. */
export type Needed<P extends GetPath> = object extends Parameters<P> ? [parameters?: Parameters<P>] : [parameters: Parameters<P>]
export type Deleted<P extends DeletePath> = PathParameters<P, 'delete'>

export type BodyOf<P extends PostPath> = Requested<P, 'post'> extends { requestBody: infer Body } ? Json<Body> : undefined
/** Reply is what a POST answers when it succeeds. */
export type Reply<P extends PostPath> =
  Requested<P, 'post'> extends { responses: infer All } ? Json<All[keyof All & (200 | 201 | 202)]> : never
