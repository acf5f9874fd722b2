// Which address shows which page. Every page but the first is loaded when somebody goes there.
import { lazy, Suspense, type ComponentType } from 'react'
import { BrowserRouter, Navigate, Route, Routes, useLocation } from 'react-router'
import { Loading } from '../parts/loaded'
import { Overview } from '../pages/Overview'
import { Failsafe } from './failsafe'
import { Entrance, Shell } from './shell'

function page(load: () => Promise<{ Page: ComponentType }>) {
  const Page = lazy(async () => ({ default: (await load()).Page }))
  return <Page />
}

const login = page(() => import('../pages/Login'))

const pages = {
  kymas: page(() => import('../pages/Kymas')),
  'kymas/:ns/:kyma': page(() => import('../pages/Kyma')),
  modules: page(() => import('../pages/Modules')),
  'modules/:name': page(() => import('../pages/FindModule')),
  'modules/:name/delete': page(() => import('../pages/FindModule')),
  'modules/:ns/:kyma/:name': page(() => import('../pages/Module')),
  'modules/:ns/:kyma/:name/delete': page(() => import('../pages/DeleteModule')),
  'direct/:name': page(() => import('../pages/Module')),
  'direct/:name/delete': page(() => import('../pages/DeleteModule')),
  catalog: page(() => import('../pages/Catalog')),
  'catalog/:name': page(() => import('../pages/Offer')),
  add: page(() => import('../pages/Add')),
  upgrade: page(() => import('../pages/Upgrade')),
  sources: page(() => import('../pages/Sources')),
  releases: page(() => import('../pages/Releases')),
  operations: page(() => import('../pages/Operations')),
  'operations/:id': page(() => import('../pages/Operation')),
  settings: page(() => import('../pages/Settings')),
  '*': page(() => import('../pages/NotFound')),
}

function Framed({ element }: { element: React.ReactNode }) {
  const { pathname } = useLocation()
  return (
    <Failsafe key={pathname}>
      <Suspense fallback={<Loading />}>{element}</Suspense>
    </Failsafe>
  )
}

/** ToLogin remembers where somebody wanted to go. */
function ToLogin() {
  const { pathname, search } = useLocation()
  return <Navigate to="/login" replace state={{ from: pathname + search }} />
}

/** Pages are the routes, without the router: tests bring their own. */
export function Pages() {
  return (
    <Routes>
      <Route path="/login" element={<Suspense fallback={<Loading />}>{login}</Suspense>} />
      <Route
        element={
          <Entrance login={<ToLogin />}>
            <Shell />
          </Entrance>
        }
      >
        <Route index element={<Framed element={<Overview />} />} />
        {Object.entries(pages).map(([path, element]) => (
          <Route key={path} path={path} element={<Framed element={element} />} />
        ))}
      </Route>
    </Routes>
  )
}

export function App() {
  return (
    <BrowserRouter>
      <Pages />
    </BrowserRouter>
  )
}
