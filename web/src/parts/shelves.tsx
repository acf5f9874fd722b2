// How reading the sources went, where a page shows what they hold.
import { Loader } from '@mantine/core'
import type { Shelves } from '../add/allSources'
import { sentence } from '../words'
import { Notice } from './basics'

/** Reads says which sources are read still, and which cannot be: what they hold is missing on the page. */
export function Reads({ kept: { shelves, error: unlisted } }: { kept: Shelves }) {
  const waiting = shelves.filter(({ offers, error }) => !offers && !error)
  return (
    <div role="status" className="stack tight">
      {waiting.length > 0 && (
        <span className="row dim">
          <Loader size="xs" />
          Reading {waiting.map(({ source }) => source.name).join(', ')}…
        </span>
      )}
      {unlisted && unlisted.status !== 404 && (
        <Notice tone="warn" title="The sources of community modules cannot be listed">
          <p>{sentence(unlisted.message)} What they hold is missing here.</p>
        </Notice>
      )}
      {shelves.map(
        ({ source, error }) =>
          error && (
            <Notice key={source.name} tone="warn" title={`Source ${source.name} cannot be read`}>
              <p>{sentence(error.message)}</p>
            </Notice>
          ),
      )}
    </div>
  )
}
