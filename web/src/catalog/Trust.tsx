// Who answers for what a source offers, in one word.
import { Tag } from '../parts/basics'
import type { SourceLine } from '../api'

/** trusts are the words for what vouches for a source. */
const trusts: Record<SourceLine['trust'], { label: string; means: string; tone: 'strong' | 'warn' }> = {
  Key: { label: 'by key', means: 'Only what the key of this source signed is taken.', tone: 'strong' },
  Digest: { label: 'by digest', means: 'Only exactly one content of this source is taken.', tone: 'strong' },
  Address: { label: 'address only', means: 'Whatever stands at the address of this source is taken.', tone: 'warn' },
}

export function Trust({ trust }: { trust: SourceLine['trust'] }) {
  const { label, means, tone } = Object.hasOwn(trusts, trust) ? trusts[trust] : trusts.Address
  return (
    <Tag tone={tone} means={means}>
      {label}
    </Tag>
  )
}
