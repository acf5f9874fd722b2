// Where things are: the checkout, its programs, and what a run leaves for users to look at.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** program is one of those that make builds. */
export const program = (name: string) => join(root, 'bin', name)

/** artifacts is a path in what is kept of a run. */
export const artifacts = (...parts: string[]) => join(root, 'dist', 'browser', ...parts)

/** World is what the tests know of the playground that runs. */
export interface World {
  /** link lets in whoever has it; base is the address without its code. */
  link: string
  base: string
  kubectl: string
  hub: string
  runtime: string
  /** catalog is the address of a list of community modules. */
  catalog: string
}

const variable = 'KYMA_BROWSER_WORLD'

/** tell leaves the world to the workers, which inherit the environment. */
export function tell(world: World) {
  process.env[variable] = JSON.stringify(world)
}

/** world is the playground that runs. */
export function world(): World {
  const told = process.env[variable]
  if (!told) throw new Error('no playground runs: begin with make test-browser')
  return JSON.parse(told) as World
}

/** sessionFile has the cookie of somebody who logged in once. */
export const sessionFile = artifacts('state', 'session.json')
