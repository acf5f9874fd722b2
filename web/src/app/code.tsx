// The code of pages: each is loaded when somebody goes there.
import { lazy, Suspense, useState, type ComponentType } from 'react'
import { Loading } from '../parts/loaded'

/** Code is a page that is loaded at its first use. */
export interface Code {
  page: ComponentType
}

/** codeOf loads a page when it is shown. What could not be loaded is forgotten, so that whoever comes back tries again. */
export function codeOf(load: () => Promise<{ Page: ComponentType }>): Code {
  const fresh = () =>
    lazy(async () => {
      try {
        return { default: (await load()).Page }
      } catch (error) {
        code.page = fresh()
        throw error
      }
    })
  const code: Code = { page: fresh() }
  return code
}

/** Opened shows a page. It keeps to one try as long as it is there: a server that is away would be asked without end. */
export function Opened({ code }: { code: Code }) {
  const [Page] = useState(() => code.page)
  return (
    <Suspense fallback={<Loading />}>
      <Page />
    </Suspense>
  )
}
