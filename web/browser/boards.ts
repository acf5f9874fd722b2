// Dashboards beside that of the playground, and hubs with many Kymas for them.
import { mkdirSync, rmSync } from 'node:fs'
import { artifacts, program, root } from './places'
import { start, type Running } from './processes'

/** dashboardOf is the dashboard of a user with this kubeconfig. */
export function dashboardOf(name: string, kubeconfig: string, ...flags: string[]): Promise<Running> {
  return start({
    program: program('kyma'),
    args: ['dashboard', '--kubeconfig', kubeconfig, ...flags],
    cwd: root,
    log: artifacts(`dashboard-${name}.log`),
    until: /(http:\/\/127\.0\.0\.1:\d+)\/#code=\S+/,
  })
}

export interface Fleet {
  /** kubeconfig of an administrator of the hub. */
  kubeconfig: string
  board: Running
  stop(): Promise<void>
}

/** fleetOf starts a hub with Kymas, as tests/bench/hubserver says, and a dashboard of it. */
export async function fleetOf(name: string, args: string[]): Promise<Fleet> {
  const dir = artifacts(name)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  const hub = await start({
    program: program('hubserver'),
    args: ['-dir', dir, '-manager', program('manager'), ...args],
    cwd: root,
    log: artifacts(`${name}.log`),
    until: /^ready after \S+: (\S+) (\S+)$/,
  })
  const [, kubeconfig = '', registry = ''] = hub.found
  const board = await dashboardOf(name, kubeconfig, '--registry', registry).catch(async (error: unknown) => {
    await hub.stop()
    throw error
  })
  const stop = async () => {
    await board.stop()
    await hub.stop()
  }
  return { kubeconfig, board, stop }
}
