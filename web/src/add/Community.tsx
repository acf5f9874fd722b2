// What everybody should know who takes a community module.
import { Notice } from '../parts/basics'

export function CommunityNotice() {
  return (
    <Notice tone="warn" title="Community modules come without guarantees">
      <p>
        Nobody promises that they work or stay as they are, and no upgrade comes by itself: you look after them. Add only those whose
        makers you trust.
      </p>
    </Notice>
  )
}
