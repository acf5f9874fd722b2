// Programs that run beside the tests. They end with whoever started them, even when that is killed.
import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

export interface Running {
  /** found is what the pattern matched in the output. */
  found: RegExpExecArray
  pid: number
  stop(): Promise<void>
}

interface Start {
  program: string
  args: string[]
  cwd?: string
  env?: NodeJS.ProcessEnv
  /** log is the file that keeps its output. */
  log: string
  /** until is a line that says that it is ready. */
  until: RegExp
}

/** start runs a program until it says a line. */
export async function start({ program, args, cwd, env, log, until }: Start): Promise<Running> {
  mkdirSync(dirname(log), { recursive: true })
  const file = createWriteStream(log)
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', program, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stderr.pipe(file, { end: false })
  const stop = () => end(child)
  const ended = new Promise<never>((_, fail) => {
    child.once('error', fail)
    child.once('exit', (code) => fail(new Error(`${program} ended with code ${code}, see ${log}`)))
  })
  ended.catch(() => undefined) // later it is stop that asks
  const said = new Promise<RegExpExecArray>((found) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      file.write(line + '\n')
      const match = until.exec(line)
      if (match) found(match)
    })
  })
  return { found: await Promise.race([said, ended]), pid: child.pid ?? 0, stop }
}

/** end asks a process to end, and makes it end when it does not listen. */
function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((done) => {
    const last = setTimeout(() => child.kill('SIGKILL'), 60_000)
    child.once('exit', () => {
      clearTimeout(last)
      done()
    })
    child.kill('SIGTERM')
  })
}
