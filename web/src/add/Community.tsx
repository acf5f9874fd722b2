// What users of a community module must know.
import { Notice } from '../parts/basics'
import { messages } from '../messages'

export function CommunityNotice() {
  return (
    <Notice tone="warn" title={messages.community.communityModulesComeWithoutGuarantees}>
      <p>{messages.community.comeWithoutSupportChangeNot}</p>
    </Notice>
  )
}
