// The small parts that every page is made of.
import { Anchor, Button, Tooltip, type ButtonProps } from '@mantine/core'
import { Lock } from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { Unread } from '../api'
import { hue, initials, operationWord, phaseWord, safeLink, sentence, stateWord, types, type Tone, type Word } from '../words'
import { fill } from '../fill'
import { messages } from '../messages'

/** Said shows a term with its tone, and its meaning as a tooltip. */
function Said({ word, title }: { word: Word; title?: string }) {
  return (
    <Tooltip label={title ? sentence(title) : word.means}>
      <span className={`state tone-${word.tone}`}>{word.label}</span>
    </Tooltip>
  )
}

/** StateBadge is a state in its color. The message, if any, is what one reads on pointing at it. */
export function StateBadge({ state, message }: { state?: string; message?: string }) {
  return <Said word={stateWord(state)} title={message} />
}

export function PhaseBadge({ state, message }: { state?: string; message?: string }) {
  return <Said word={phaseWord(state)} title={message} />
}

export function OperationBadge({ state }: { state?: string }) {
  return <Said word={operationWord(state)} />
}

/** Tag is a small word beside a name. */
export function Tag({ children, means, tone }: { children: ReactNode; means?: string; tone?: 'strong' | 'warn' }) {
  const tag = <span className={'tag' + (tone ? ` tag-${tone}` : '')}>{children}</span>
  return means ? <Tooltip label={means}>{tag}</Tooltip> : tag
}

export function TypeTag({ type }: { type: string }) {
  const known = Object.hasOwn(types, type) ? types[type as keyof typeof types] : { label: type, means: messages.basics.typePageNotKnow }
  return (
    <Tag means={known.means} tone={type === 'community' ? undefined : 'strong'}>
      {known.label}
    </Tag>
  )
}

/** Avatar stands for a module's icon: two letters. Icons are links set by the module's author, and are never loaded. */
export function Avatar({ name, big }: { name: string; big?: boolean }) {
  return (
    <span aria-hidden="true" className={`avatar hue-${hue(name)}${big ? ' big' : ''}`}>
      {initials(name)}
    </span>
  )
}

/** Notice is a sentence with weight. */
export function Notice({ tone = 'idle', title, children }: { tone?: Tone; title?: string; children?: ReactNode }) {
  return (
    <div className={`notice tone-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      {title && (
        <p>
          <strong>{title}</strong>
        </p>
      )}
      {children}
    </div>
  )
}

const windowName = messages.common.kymaModules

/** useWindowName names the window as the page, so that tabs and what was visited can be told apart. */
function useWindowName(title: string) {
  useEffect(() => {
    document.title = `${title} · ${windowName}`
    return () => {
      document.title = windowName // the page that comes may have no header
    }
  }, [title])
}

/** Header is the first thing on a page: its name, one sentence, what can be done. */
export function Header(props: { title: string; lead?: ReactNode; mark?: ReactNode; actions?: ReactNode; badges?: ReactNode }) {
  useWindowName(props.title)
  return (
    <header className="page-head">
      <div className="page-title">
        {props.mark}
        <div>
          <div className="page-name">
            <h1>{props.title}</h1>
            {props.badges}
          </div>
          {props.lead && <p className="dim">{props.lead}</p>}
        </div>
      </div>
      {props.actions && <div className="actions">{props.actions}</div>}
    </header>
  )
}

/** Empty says that there is nothing, why that is no mistake, and what to do. */
export function Empty({ icon, title, children, action }: { icon?: ReactNode; title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      {icon}
      <h2>{title}</h2>
      {children && <p className="dim">{children}</p>}
      {action}
    </div>
  )
}

/** Outside is a link to the documentation: https only, and it learns nothing of where it was. Anything else is shown as text. */
export function Outside({ to, children }: { to?: string; children?: ReactNode }) {
  const href = safeLink(to)
  if (!href) return to ? <span className="mono small">{to}</span> : null
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer">
      {children ?? href}
      <span className="hidden-text"> {messages.basics.opensInANewTab}</span>
    </Anchor>
  )
}

/** To is a link within the dashboard. */
export function To({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to}>
      {children}
    </Anchor>
  )
}

type ActionProps = ButtonProps & { to?: string; onClick?: () => void; allowed?: boolean; why?: string; children: ReactNode }

/** Action is a button that says why it cannot be pressed. */
export function Action({ to, onClick, allowed = true, why, children, ...rest }: ActionProps) {
  if (!allowed) {
    return (
      <Tooltip label={why ?? messages.basics.notAskAdministratorClusterPermission}>
        <Button {...rest} data-disabled aria-disabled="true" onClick={(event) => event.preventDefault()}>
          {children}
        </Button>
      </Tooltip>
    )
  }
  if (to)
    return (
      <Button {...rest} component={Link} to={to}>
        {children}
      </Button>
    )
  return (
    <Button {...rest} onClick={onClick}>
      {children}
    </Button>
  )
}

/** hidden says that one of these kinds could not be read: what is not there may be there nevertheless. */
export function hidden(unread: Unread[] | null | undefined, ...kinds: string[]): boolean {
  return (unread ?? []).some((u) => kinds.includes(u.kind.split('.')[0] ?? ''))
}

/** Unseen replaces "nothing found" when the data could not be read. */
export function Unseen() {
  return (
    <Empty icon={<Lock size={40} aria-hidden />} title={messages.common.nothingThatYouMaySee}>
      {messages.basics.notReadSettingsListsPermissions}
    </Empty>
  )
}

/** NotRead lists what could not be read, so that missing data is not taken for an empty list. */
export function NotRead({ unread }: { unread?: Unread[] | null }) {
  if (!unread || unread.length === 0) return null
  return (
    <Notice tone="warn" title={messages.basics.notEverythingReadSomethingMissing}>
      <ul>
        {unread.slice(0, 5).map((u, i) => (
          <li key={i}>{sentence(u.message)}</li>
        ))}
      </ul>
      {unread.length > 5 && <p>{fill(messages.basics.andMore, { count: unread.length - 5 })}</p>}
    </Notice>
  )
}
