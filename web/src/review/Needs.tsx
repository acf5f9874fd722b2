// What a version needs before it is installed: modules, definitions, a version of Kubernetes. A tick for what is there.
import { Check, CircleHelp, X } from 'lucide-react'
import type { AddModule } from '../api'
import { sentence } from '../words'
import type { Need } from './answers'

const marks = {
  Met: { icon: Check, tone: 'ok', said: 'is there' },
  Missing: { icon: X, tone: 'bad', said: 'is missing' },
  Unknown: { icon: CircleHelp, tone: 'idle', said: 'is not known' },
} as const

/** markOf returns the mark of a need; an unknown one counts as not known. */
const markOf = (met: string) => (Object.hasOwn(marks, met) ? marks[met as keyof typeof marks] : marks.Unknown)

/** missing are the modules that can be added to make the version installable. */
export function missing(needs: Need[] | null | undefined): AddModule[] {
  const found: AddModule[] = []
  for (const need of needs ?? []) {
    if (!need.module || !need.addable || found.some((one) => one.name === need.module)) continue
    found.push({
      name: need.module,
      policy: 'CreateAndDelete',
      ...(need.addChannel ? { channel: need.addChannel } : {}),
      ...(need.addVersion ? { version: need.addVersion } : {}),
    })
  }
  return found
}

/** NeedList lists what is needed. What was chosen to be added counts as there. */
export function NeedList({ needs, chosen = [], plain }: { needs: Need[]; chosen?: string[]; plain?: boolean }) {
  return (
    <ul className="needs" aria-label="Requirements">
      {needs.map((need) => {
        const comes = need.met !== 'Met' && need.module !== undefined && chosen.includes(need.module)
        const { icon: Icon, tone, said } = comes ? marks.Met : markOf(need.met)
        return (
          <li key={need.text}>
            {!plain && (
              <span className={`mark tone-${tone}`}>
                <Icon size={15} aria-hidden />
              </span>
            )}
            <span>
              {capitalOf(need.text)}
              {!plain && <span className="hidden-text"> {comes ? 'is added along' : said}</span>}
              {comes && <span className="dim small"> added along</span>}
              {!comes && !plain && need.met !== 'Met' && need.why && <span className="dim small"> {sentence(need.why)}</span>}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

const capitalOf = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
