// What stands on a page while its data is on the way, when it does not come, and when it may not be seen.
import { Button, Skeleton } from '@mantine/core'
import { CircleAlert, Lock, SearchX, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Failure } from '../live/live'
import { useConnection, type Answer } from '../live/useLive'
import { sentence } from '../words'
import { Empty } from './basics'
import { messages } from '../messages'

/** Loading is the shape of what will be there. */
export function Loading({ rows = 5 }: { rows?: number }) {
  return (
    <div className="card pad stack" role="status" aria-label={messages.common.loading}>
      {Array.from({ length: rows }, (_, i) => (
        <Skeleton key={i} height={22} width={`${94 - ((i * 17) % 40)}%`} />
      ))}
    </div>
  )
}

interface Said {
  icon: ReactNode
  title: string
  text: string
  retry: boolean
}

function said(error: Failure): Said {
  switch (error.status) {
    case 403:
      return {
        icon: <Lock size={40} aria-hidden />,
        title: messages.loaded.youMayNotSeeThis,
        retry: false,
        text: `${sentence(error.message)} ${messages.loaded.standsSettings}`,
      }
    case 404:
      return { icon: <SearchX size={40} aria-hidden />, title: messages.common.notFound, text: sentence(error.message), retry: false }
    case 0:
    case 502:
    case 503:
    case 504:
      return {
        icon: <Unplug size={40} aria-hidden />,
        title: messages.loaded.theClusterDoesNotAnswer,
        text: sentence(error.message),
        retry: true,
      }
  }
  return {
    icon: <CircleAlert size={40} aria-hidden />,
    title: messages.loaded.thisCouldNotBeShown,
    text: sentence(error.message),
    retry: true,
  }
}

/** Trouble says what went wrong, and what can be done about it. */
export function Trouble({ error, again }: { error: Failure; again?: () => void }) {
  const { icon, title, text, retry } = said(error)
  return (
    <div className="card" role="alert">
      <Empty
        icon={icon}
        title={title}
        action={
          retry &&
          again && (
            <Button variant="light" onClick={again}>
              {messages.common.tryAgain}
            </Button>
          )
        }
      >
        {text}
      </Empty>
    </div>
  )
}

/** Loaded shows an answer: a skeleton before it is there, trouble instead of it, and paler while it is not of this moment. */
export function Loaded<T>({ answer, rows, children }: { answer: Answer<T>; rows?: number; children: (data: T) => ReactNode }) {
  const { connection, retry } = useConnection()
  if (answer.error) return <Trouble error={answer.error} again={retry} />
  if (answer.data === undefined) return <Loading rows={rows} />
  const pale = answer.stale && (connection === 'lost' || answer.loading)
  return (
    <div className={'stack' + (pale ? ' stale' : '')} aria-busy={answer.loading || undefined}>
      {children(answer.data)}
    </div>
  )
}
