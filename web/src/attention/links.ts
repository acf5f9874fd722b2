// Where the numbers of the fleet lead: to the list of exactly the modules that were counted.
import { search, type Parameters } from '../live/http'
import type { FleetCause, FleetModule } from '../api'

const modules = (parameters: Parameters<'/modules'>) => '/modules' + search(parameters)

interface Cell {
  /** version is empty where none is installed yet. */
  version?: string
  /** attention leaves those that need attention. */
  attention?: boolean
}

/** modulesOf is the address of a module in the Kymas that have it, or that have a version of it. */
export function modulesOf({ namespace, name }: FleetModule, { version, attention }: Cell = {}): string {
  return modules({ namespace, module: name, version: version === undefined ? undefined : version || 'none', attention })
}

/** otherVersionsOf is the address of a module in the versions that have no cell of their own. */
export function otherVersionsOf({ namespace, name, versions }: FleetModule): string {
  return modules({ namespace, module: name, notVersion: (versions ?? []).map(({ version }) => version || 'none') })
}

/** modulesWith is the address of the modules that need attention for a cause. */
export function modulesWith({ id, module, reason }: FleetCause): string {
  return modules({ cause: id, module, reason })
}
