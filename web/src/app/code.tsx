// Code that is loaded at its first use: that of pages, and that of large parts of them.
import { lazy, Suspense, useState, type ComponentType, type ReactNode } from 'react'
import { Loading } from '../parts/loaded'
import { Failsafe, NotLoaded } from './failsafe'
import { messages } from '../messages'

/** Code is a page, or a part of one, that is loaded when it is shown. */
export interface Code<P extends object> {
  page: ComponentType<P>
  /** ahead loads it before it is shown, and ends with it, or with the failure that showing it will tell. */
  ahead(): Promise<void>
}

interface Props<P extends object> {
  code: Code<P>
  children: (Page: ComponentType<P>) => ReactNode
}

/**
 * codeOf loads code when it is shown. What could not be loaded is forgotten, so that a return to the page loads it again. Not every
 * browser asks the server then: some keep a failed import() until the whole page is loaded again, which Failsafe offers.
 */
export function codeOf<P extends object>(load: () => Promise<{ Page: ComponentType<P> }>): Code<P> {
  const fresh = (): ComponentType<P> =>
    lazy(async () => {
      try {
        return { default: (await load()).Page }
      } catch (error) {
        code.page = fresh()
        throw new NotLoaded(messages.code.codePageNotLoaded, { cause: error })
      }
    })
  const ahead = async () => {
    try {
      code.page = (await load()).Page // React shows at once what is no lazy component, and holds back what follows a skeleton
    } catch {
      // It is loaded again when it is shown.
    }
  }
  const code: Code<P> = { page: fresh(), ahead }
  return code
}

/** Opened shows code. It keeps to one try as long as it is there: a server that is away would be asked without end. */
export function Opened<P extends object>({ code, children }: Props<P>) {
  const [Page] = useState(() => code.page)
  return <Suspense fallback={<Loading />}>{children(Page)}</Suspense>
}

/** Part loads the code of a part of a page. When that fails, the rest of the page stays, with the user's input. */
export function Part<P extends object>(props: Props<P>) {
  return (
    <Failsafe part>
      <Opened {...props} />
    </Failsafe>
  )
}
