// Schemas of custom resources, as definitions have them.
import type { Json } from './api'

/** Schema is the part of OpenAPI v3 that CRDs use and forms are made of. */
export interface Schema {
  type?: string
  title?: string
  description?: string
  format?: string
  default?: Json
  enum?: Json[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  nullable?: boolean
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  not?: Schema
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
}
