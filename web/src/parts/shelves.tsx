// How reading the sources went, where a page shows what they hold.
import { Loader } from '@mantine/core'
import type { SourceLine } from '../api'
import { count, sentence } from '../words'
import { Notice, To } from './basics'
import { Ago } from './details'
import { fill, fillNodes } from '../fill'
import { messages } from '../messages'

/** Reads says which sources are read still, and which cannot be: what they hold is missing on the page, or as old as it is said to be. */
export function Reads({ sources }: { sources: SourceLine[] }) {
  const waiting = sources.filter(({ state }) => state === 'Reading')
  return (
    <div role="status" className="stack tight">
      {waiting.length > 0 && (
        <span className="row dim">
          <Loader size="xs" />
          {fill(messages.shelves.reading, { sources: waiting.map(({ name }) => name).join(', ') })}
        </span>
      )}
      {sources
        .filter(({ state }) => state === 'Failed')
        .map((source) => (
          <Notice key={source.name} tone="warn" title={fill(messages.shelves.sourceCannotBeRead, { name: source.name })}>
            <p>
              {fillNodes(messages.shelves.readsItAgain, {
                error: sentence(source.error),
                left: <Left source={source} />,
                sources: <To to="/sources">{messages.common.sources}</To>,
              })}
            </p>
          </Notice>
        ))}
    </div>
  )
}

/** Left says what there is of a source that cannot be read. */
function Left({ source }: { source: SourceLine }) {
  if (source.shown) return <>{fillNodes(messages.shelves.shownRead, { ago: <Ago at={source.read} /> })}</>
  if (!source.read) return <>{messages.shelves.whatItHoldsIsMissingHere}</>
  return (
    <>
      {fillNodes(messages.shelves.holdsMissingHereWhenRead, {
        modules: count(source.modules, messages.nouns.module),
        ago: <Ago at={source.read} />,
      })}
    </>
  )
}
