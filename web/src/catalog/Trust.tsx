// Who answers for what a source offers, in one word.
import { Tag } from '../parts/basics'
import type { SourceLine } from '../api'
import { messages } from '../messages'

/** trusts are the words for what vouches for a source. */
const trusts: Record<SourceLine['trust'], { label: string; means: string; tone: 'strong' | 'warn' }> = {
  Key: { label: messages.common.byKey, means: messages.trust.onlyKeySourceSignedTaken, tone: 'strong' },
  Digest: { label: messages.common.byDigest, means: messages.trust.onlyExactlyOneContentSource, tone: 'strong' },
  Address: { label: messages.common.addressOnly, means: messages.trust.whateverStandsAddressSourceTaken, tone: 'warn' },
}

export function Trust({ trust }: { trust: SourceLine['trust'] }) {
  const { label, means, tone } = Object.hasOwn(trusts, trust) ? trusts[trust] : trusts.Address
  return (
    <Tag tone={tone} means={means}>
      {label}
    </Tag>
  )
}
