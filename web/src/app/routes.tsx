// Which address shows which page. Every page but the first is loaded on its first visit.
import type { ReactNode } from 'react'
import { createBrowserRouter, matchPath, Navigate, Route, RouterProvider, Routes, useLocation } from 'react-router'
import { Overview } from '../pages/Overview'
import { codeOf, Opened } from './code'
import { Failsafe } from './failsafe'
import { Entrance, Shell } from './shell'

const login = codeOf(() => import('../pages/Login'))

/** pages are all addresses below the frame, and what each shows. */
export const pages = {
  kymas: codeOf(() => import('../pages/Kymas')),
  'kymas/new': codeOf(() => import('../pages/NewKyma')),
  'kymas/:ns/:kyma': codeOf(() => import('../pages/Kyma')),
  modules: codeOf(() => import('../pages/Modules')),
  'modules/:name': codeOf(() => import('../pages/FindModule')),
  'modules/:name/delete': codeOf(async () => ({ Page: (await import('../pages/FindModule')).DeletePage })),
  'modules/:ns/:kyma/:name': codeOf(() => import('../pages/Module')),
  'modules/:ns/:kyma/:name/delete': codeOf(() => import('../pages/DeleteModule')),
  'direct/:name': codeOf(() => import('../pages/Module')),
  'direct/:name/delete': codeOf(() => import('../pages/DeleteModule')),
  catalog: codeOf(() => import('../pages/Catalog')),
  'catalog/:name': codeOf(() => import('../pages/Offer')),
  add: codeOf(() => import('../pages/Add')),
  upgrade: codeOf(() => import('../pages/Upgrade')),
  sources: codeOf(() => import('../pages/Sources')),
  rollouts: codeOf(() => import('../pages/Rollouts')),
  'rollouts/:ns/:name': codeOf(() => import('../pages/Rollout')),
  fleet: codeOf(() => import('../pages/Fleet')),
  releases: codeOf(() => import('../pages/Releases')),
  operations: codeOf(() => import('../pages/Operations')),
  'operations/:id': codeOf(() => import('../pages/Operation')),
  settings: codeOf(() => import('../pages/Settings')),
  '*': codeOf(() => import('../pages/NotFound')),
}

/** loadAhead loads the page of an address while it is not known yet who is logged in. It never fails. */
export async function loadAhead(pathname: string): Promise<void> {
  const [, code] = Object.entries(pages).find(([path]) => path !== '*' && matchPath('/' + path, pathname)) ?? []
  await code?.ahead()
}

function Framed({ children }: { children: ReactNode }) {
  const { pathname } = useLocation()
  return <Failsafe key={pathname}>{children}</Failsafe>
}

/** ToLogin remembers the requested address. */
function ToLogin() {
  const { pathname, search } = useLocation()
  return <Navigate to="/login" replace state={{ from: pathname + search }} />
}

/** Pages are the routes, without the router: tests bring their own. */
export function Pages() {
  return (
    <Routes>
      <Route
        path="/login"
        element={
          <Failsafe>
            <Opened code={login}>{(Page) => <Page />}</Opened>
          </Failsafe>
        }
      />
      <Route
        element={
          <Entrance login={<ToLogin />}>
            <Shell />
          </Entrance>
        }
      >
        <Route
          index
          element={
            <Framed>
              <Overview />
            </Framed>
          }
        />
        {Object.entries(pages).map(([path, code]) => (
          <Route
            key={path}
            path={path}
            element={
              <Framed>
                <Opened code={code}>{(Page) => <Page />}</Opened>
              </Framed>
            }
          />
        ))}
      </Route>
    </Routes>
  )
}

/** router knows one route, since Pages has them all: it is there to ask before a page is left. */
const router = createBrowserRouter([{ path: '*', element: <Pages /> }])

export function App() {
  return <RouterProvider router={router} />
}
