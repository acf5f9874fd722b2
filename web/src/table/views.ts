// Saved views: a name for an address. The browser remembers them.
import { Stored } from './stored'

export interface View {
  name: string
  /** path with its parameters, within the dashboard. */
  path: string
}

export const mostViews = 50
export const longestName = 60
const longestPath = 4000

/** viewsOf reads what was stored, and leaves out what is no view. */
export function viewsOf(value: unknown): View[] {
  if (!Array.isArray(value)) return []
  const views: View[] = []
  for (const one of value as unknown[]) {
    const { name, path } = (one ?? {}) as Partial<Record<keyof View, unknown>>
    if (typeof name !== 'string' || typeof path !== 'string' || !isPath(path) || nameOf(name) === '') continue
    if (views.length < mostViews && !views.some((view) => view.name === nameOf(name))) views.push({ name: nameOf(name), path })
  }
  return views
}

/** isPath says whether an address is one of the dashboard: one slash, and no other host. */
function isPath(path: string): boolean {
  return path.length <= longestPath && /^\/(?![/\\])[\x21-\x7e]*$/.test(path)
}

/** nameOf is a name without space around it, and not too long. */
export function nameOf(name: string): string {
  return name.trim().replace(/\s+/g, ' ').slice(0, longestName)
}

/** addressOf is the address that a view keeps: filters and order, and not the page. */
export function addressOf(pathname: string, search: string): string {
  const parameters = new URLSearchParams(search)
  for (const name of ['page', 'operation', 'also']) parameters.delete(name)
  const text = parameters.toString()
  return pathname + (text && '?' + text)
}

/** withView adds a view, or gives a name that there is another address; undefined when there are too many. */
export function withView(views: View[], name: string, path: string): View[] | undefined {
  const view = { name: nameOf(name), path }
  if (view.name === '' || !isPath(path)) return undefined
  if (views.some((one) => one.name === view.name)) return views.map((one) => (one.name === view.name ? view : one))
  return views.length < mostViews ? [...views, view] : undefined
}

export function withoutView(views: View[], name: string): View[] {
  return views.filter((view) => view.name !== name)
}

export const savedViews = new Stored('kyma.views', viewsOf)
