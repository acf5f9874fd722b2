// How reading the sources went, where a page shows what they hold.
import { Loader } from '@mantine/core'
import type { SourceLine } from '../api'
import { count, sentence } from '../words'
import { Notice, To } from './basics'
import { Ago } from './details'

/** Reads says which sources are read still, and which cannot be: what they hold is missing on the page, or as old as it is said to be. */
export function Reads({ sources }: { sources: SourceLine[] }) {
  const waiting = sources.filter(({ state }) => state === 'Reading')
  return (
    <div role="status" className="stack tight">
      {waiting.length > 0 && (
        <span className="row dim">
          <Loader size="xs" />
          Reading {waiting.map(({ name }) => name).join(', ')}…
        </span>
      )}
      {sources
        .filter(({ state }) => state === 'Failed')
        .map((source) => (
          <Notice key={source.name} tone="warn" title={`Source ${source.name} cannot be read`}>
            <p>
              {sentence(source.error)} <Left source={source} /> <To to="/sources">Sources</To> reads it again.
            </p>
          </Notice>
        ))}
    </div>
  )
}

/** Left says what there is of a source that cannot be read. */
function Left({ source }: { source: SourceLine }) {
  if (source.shown)
    return (
      <>
        What is shown of it was read <Ago at={source.read} />.
      </>
    )
  if (!source.read) return <>What it holds is missing here.</>
  return (
    <>
      What it holds is missing here: {count(source.modules, 'module')} when it could be read last, <Ago at={source.read} />.
    </>
  )
}
