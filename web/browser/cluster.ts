// What somebody else does in the clusters meanwhile: kubectl.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { expect } from '@playwright/test'
import { artifacts, world, type World } from './places'

interface Asked {
  kubeconfig?: string
  stdin?: string
  from?: World
}

/** Answer is what kubectl said, and when it said the first of it: the moment of the change, but for a few milliseconds. */
export interface Answer {
  text: string
  at: number
}

/** kubectl runs one command, on the hub when nothing else is said. */
export function kubectl(args: string[], { kubeconfig, stdin, from }: Asked = {}): Promise<Answer> {
  const { kubectl: program, hub } = from ?? world()
  const env = { ...process.env, KUBECONFIG: kubeconfig ?? hub, KUBECACHEDIR: artifacts('state', 'kubectl') }
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  const answer: Answer = { text: '', at: 0 }
  let wrong = ''
  child.stdout.on('data', (data: Buffer) => {
    answer.at ||= Date.now()
    answer.text += data.toString()
  })
  child.stderr.on('data', (data: Buffer) => (wrong += data.toString()))
  child.stdin.end(stdin ?? '')
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => (code === 0 ? done(answer) : fail(new Error(`kubectl ${args.join(' ')}: ${wrong}`))))
  })
}

/** apply writes objects, on the hub when nothing else is said. */
export function apply(objects: object[], asked: Asked = {}): Promise<Answer> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects }
  return kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { ...asked, stdin: JSON.stringify(list) })
}

/** kyma is one for the hub itself. */
export function kyma(name: string, modules: object[] = [], channel = 'regular') {
  return {
    apiVersion: 'operator.kyma-project.io/v1beta2',
    kind: 'Kyma',
    metadata: { name, namespace: 'kcp-system' },
    spec: { channel, remote: false, modules },
  }
}

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

/** allowed waits until the API server, which learns of roles a moment after they were written, lets somebody do what the last rule says. */
async function allowed(name: string, rules: Rule[]) {
  const rule = rules.at(-1)
  if (!rule) return
  const what = [rule.verbs[0] ?? '', [rule.resources[0], rule.apiGroups[0]].filter(Boolean).join('.'), '--all-namespaces']
  const ask = ['auth', 'can-i', ...what, `--as=system:serviceaccount:default:${name}`]
  const can = () => kubectl(ask).then(({ text }) => text.trim(), () => 'no') // who may not is an error to kubectl
  await expect.poll(can, { timeout: 60_000 }).toBe('yes')
}

/** kubeconfigOf makes a ServiceAccount that may do what the rules say, and a kubeconfig with a token of it. */
export async function kubeconfigOf(name: string, rules: Rule[]): Promise<string> {
  const rbac = 'rbac.authorization.k8s.io'
  await apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'default' } },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
    },
  ])
  await allowed(name, rules)
  const token = (await kubectl(['create', 'token', name, '-n', 'default', '--duration', '1h'])).text.trim()
  const config = JSON.parse((await kubectl(['config', 'view', '--raw', '--minify', '-o', 'json'])).text) as {
    contexts: { context: { user: string } }[]
    users: { name: string; user: object }[]
  }
  config.users = [{ name, user: { token } }]
  for (const one of config.contexts) one.context.user = name
  const file = artifacts('state', `${name}.kubeconfig`)
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  return file
}
