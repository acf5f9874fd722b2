// What users of a community module must know.
import { Notice } from '../parts/basics'

export function CommunityNotice() {
  return (
    <Notice tone="warn" title="Community modules come without guarantees">
      <p>
        They come without support, may change, and are not upgraded automatically: you maintain them. Add only those whose
        makers you trust.
      </p>
    </Notice>
  )
}
