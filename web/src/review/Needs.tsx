// What a version needs before it is installed: modules, definitions, a version of Kubernetes. A tick for what is there.
import { Check, CircleHelp, Hourglass, X } from 'lucide-react'
import type { AddModule, Need } from '../api'
import { capital, sentence } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

const marks = {
  Ready: { icon: Check, tone: 'ok', said: messages.needs.isThere },
  WrongVersion: { icon: X, tone: 'bad', said: messages.needs.isThereInAnotherVersion },
  NotReady: { icon: Hourglass, tone: 'warn', said: messages.needs.isNotReadyYet },
  Missing: { icon: X, tone: 'bad', said: messages.needs.isMissing },
  Unknown: { icon: CircleHelp, tone: 'idle', said: messages.needs.isNotKnown },
} as const

/** markOf returns the mark of a need; a state that the page does not know counts as not known. */
const markOf = (state: string) => (Object.hasOwn(marks, state) ? marks[state as keyof typeof marks] : marks.Unknown)

/** missing are the modules that can be added to make the version installable. */
export function missing(needs: Need[] | null | undefined): AddModule[] {
  const found: AddModule[] = []
  for (const { module, addable, addChannel } of needs ?? []) {
    if (!module || !addable || found.some((one) => one.name === module)) continue
    found.push({ name: module, policy: 'CreateAndDelete', ...(addChannel ? { channel: addChannel } : {}) })
  }
  return found
}

interface Props {
  needs: Need[]
  /** chosen are modules that are added along: they count as there. */
  chosen?: string[]
  /** reason is why the cluster was not looked at. */
  reason?: string
  /** plain lists what is needed where it is not known what is there. */
  plain?: boolean
}

/** NeedList lists what is needed, and says of each whether it is there. */
export function NeedList({ needs, chosen = [], reason, plain }: Props) {
  return (
    <>
      <ul className={plain ? 'flat-list' : 'needs'} aria-label={messages.common.requirements}>
        {needs.map((need) => (plain ? <li key={need.text}>{capital(need.text)}</li> : <One key={need.text} need={need} chosen={chosen} />))}
      </ul>
      {reason && <p className="dim small flat">{fill(messages.needs.notAllLooked, { reason: sentence(reason) })}</p>}
    </>
  )
}

function One({ need, chosen }: { need: Need; chosen: string[] }) {
  const comes = need.state === 'Missing' && need.module !== undefined && chosen.includes(need.module)
  const { icon: Icon, tone, said } = comes ? marks.Ready : markOf(need.state)
  const told = !comes && need.state !== 'Ready' && need.message
  return (
    <li>
      <span className={`mark tone-${tone}`}>
        <Icon size={15} aria-hidden />
      </span>
      <span>
        {told ? capital(sentence(need.message)) : capital(need.text)}
        {comes ? <span className="dim small"> {messages.needs.isAddedAlong}</span> : <span className="hidden-text"> {said}</span>}
      </span>
    </li>
  )
}
