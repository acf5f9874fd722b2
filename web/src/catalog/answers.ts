// What the server answers about the catalog, as types. The names are those of internal/dashboard/server.
import type { List, Offer, Vouched } from '../api'

/** OfferRow is a module in the catalog. */
export interface OfferRow extends Offer {
  /** description is one line of plain text. */
  description?: string
  /** vouched says who answers for its newest version. */
  vouched?: Vouched
}

/** SourceLine is a source beside the modules of the catalog, and how reading it went. */
export interface SourceLine {
  name: string
  url?: string
  /** trust is what vouches for its content. */
  trust: 'Key' | 'Digest' | 'Address'
  state: 'Reading' | 'Read' | 'Failed'
  /** read is when the content that is shown was read; without content, when it could be read last. */
  read?: string
  /** shown says that the catalog has content of it: in state Failed, that is what was read before. */
  shown: boolean
  modules: number
  error?: string
}

export interface CatalogList extends List<OfferRow> {
  sources?: SourceLine[] | null
}
