// Ten breakages, from the address of a module and its symptom alone: the page names the cause of each in one sentence, and what can be
// repaired there is. Controllers, scheduler, quota, admission and garbage collection are real; what a kubelet would report of an image
// or a container is written into the status of a pod, since the node of the playground runs nothing (tests/node has a real one).
import type { Page } from '@playwright/test'
import { apply, kubectl, kyma } from './cluster'
import { agree, finished, patience } from './hands'
import { picture } from './look'
import { expect, settled, test } from './test'

test.describe.configure({ mode: 'serial' })

const space = 'kyma-system'
const hub = ['patient', 'needy', 'astray', 'asked', 'held', 'behind']

/** unfit is a version whose pod asks for a node that there is not; it is in the registry of the playground. */
const unfit = {
  apiVersion: 'operator.kyma-project.io/v1beta2',
  kind: 'ModuleTemplate',
  metadata: { name: 'charted-1.2.0', namespace: 'kcp-system' },
  spec: { moduleName: 'charted', version: '1.2.0', rollbackTo: '>=1.0.0', descriptor: {} },
}

test.afterAll(async () => {
  await kubectl(['delete', 'moduletemplate', unfit.metadata.name, '-n', 'kcp-system', '--ignore-not-found'])
  await kubectl(['delete', 'validatingwebhookconfiguration', 'unreachable', '--ignore-not-found'])
  await kubectl(['delete', 'resourcequota', 'none', '-n', space, '--ignore-not-found'])
  await kubectl(['delete', 'kyma', ...hub, '-n', 'kcp-system', '--wait=false', '--ignore-not-found'])
})

const field = async (name: string, path: string) =>
  (await kubectl(['get', 'kyma', name, '-n', 'kcp-system', '-o', `jsonpath={${path}}`])).text
const ready = (name: string) => expect.poll(() => field(name, '.status.state'), patience).toBe('Ready')
const modules = (name: string, list: object[]) => apply([kyma(name, list)])

/** cause goes to the page of a module, and expects the sentence that names what is wrong. */
async function cause(page: Page, name: string, module: string, sentence: RegExp) {
  await page.goto(`/modules/kcp-system/${name}/${module}`)
  await settled(page)
  await expect(page.getByRole('region', { name: 'Why' }).getByText(sentence).first()).toBeVisible(patience)
  await picture(page, `breakage-${test.info().title.split(':')[0]?.replaceAll(' ', '-') ?? ''}`)
}

/** fix presses the button that helps, looks at what would change, and does it. */
async function fix(page: Page, title: string, begun: RegExp) {
  await page.getByRole('group', { name: 'What helps' }).getByRole('button', { name: title }).click(patience)
  await page.getByRole('dialog').getByRole('button', { name: title, exact: true }).click()
  await finished(page, begun)
  await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click()
}

/** pod is the newest pod of the patient's Deployment. */
async function pod(): Promise<string> {
  const newest = ['get', 'pods', '-n', space, '-l', 'app=charted', '--sort-by=.metadata.creationTimestamp', '-o', 'name']
  const { text } = await kubectl(newest)
  return text.trim().split('\n').at(-1) ?? ''
}

/** reported has the kubelet of a pod report its container. */
async function reported(state: object, more: object = {}) {
  const name = await pod()
  const of = { name: 'lantern', image: 'lantern', imageID: '', ready: false, started: false, restartCount: 0 }
  const container = { ...of, state: { running: null, ...state }, ...more }
  const conditions = ['Ready', 'ContainersReady'].map((type) => ({
    type,
    status: 'False',
    reason: 'ContainersNotReady',
    lastTransitionTime: new Date(Date.now() - 120_000).toISOString(),
  }))
  const status = JSON.stringify({ status: { containerStatuses: [container], conditions } })
  await kubectl(['patch', name, '-n', space, '--subresource=status', '--type=strategic', '-p', status])
}

/** healed lets the controllers make the pod anew, and waits until the patient is well again. */
async function healed() {
  await kubectl(['delete', await pod(), '-n', space, '--wait=false', '--ignore-not-found'])
  await ready('patient')
}

test('1 no node: an upgrade whose pod fits nowhere, and the way back', async ({ page }) => {
  await apply([unfit])
  await modules('patient', [{ name: 'charted', version: '1.1.0' }])
  await ready('patient')
  await modules('patient', [{ name: 'charted', version: '1.2.0' }])
  await cause(page, 'patient', 'charted', /^Pod \S+ has been Pending for .*: no node matches its selector/)
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByRole('button', { name: 'Roll back to 1.1.0' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('charted')
  await dialog.getByRole('button', { name: 'Roll back to 1.1.0' }).click()
  await finished(page, /charted/)
  await expect.poll(() => field('patient', '.status.modules[0].version'), patience).toBe('1.1.0')
  await expect.poll(() => field('patient', '.status.modules[0].state'), patience).toBe('Ready')
})

test('2 image: a registry that does not have it', async ({ page }) => {
  await modules('patient', [{ name: 'charted', version: '1.1.0' }])
  await ready('patient')
  const message = 'Back-off pulling image "lantern": rpc error: code = NotFound desc = failed to resolve reference: lantern: not found'
  await reported({ waiting: { reason: 'ImagePullBackOff', message } })
  const absent = /^Container lantern of Pod \S+ has been waiting for its image for 2 min: image lantern is not in its registry/
  await cause(page, 'patient', 'charted', absent)
  await healed()
})

test('3 crash: a container that ends again and again', async ({ page }) => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
  const terminated = { exitCode: 2, reason: 'Error', startedAt: ago(40), finishedAt: ago(30) }
  await reported(
    { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container=lantern' } },
    { restartCount: 4, lastState: { terminated } },
  )
  await cause(page, 'patient', 'charted', /^Container lantern of Pod \S+ has been crashing for .*: exit code 2 after 4 restarts/)
  await healed()
})

test('4 quota: a namespace that has no pod left', async ({ page }) => {
  await apply([{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none', namespace: space }, spec: { hard: { pods: '0' } } }])
  await expect
    .poll(async () => (await kubectl(['get', 'resourcequota', 'none', '-n', space, '-o', 'jsonpath={.status.hard.pods}'])).text, patience)
    .toBe('0')
  await kubectl(['delete', await pod(), '-n', space, '--wait=false'])
  await cause(page, 'patient', 'charted', /^Deployment charted has not been able to create its pods for .*: quota none allows pods=0/)
  await kubectl(['delete', 'resourcequota', 'none', '-n', space])
  await kubectl(['rollout', 'restart', 'deployment', '-n', space, '-l', 'app=charted'])
  await ready('patient')
})

test('5 webhook: one that does not answer keeps objects from being written', async ({ page }) => {
  await apply([
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'unreachable' },
      webhooks: [
        {
          name: 'unreachable.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Fail',
          timeoutSeconds: 1,
          clientConfig: { url: 'https://127.0.0.1:1/check' },
          objectSelector: { matchLabels: { app: 'charted' } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
      ],
    },
  ])
  await kubectl(['delete', await pod(), '-n', space, '--wait=false'])
  await cause(page, 'patient', 'charted', /^Deployment charted has not .*: admission webhook unreachable\.example\.com does not answer/)
  await kubectl(['delete', 'validatingwebhookconfiguration', 'unreachable'])
  await kubectl(['rollout', 'restart', 'deployment', '-n', space, '-l', 'app=charted'])
  await ready('patient')
})

test('6 channel: one that does not exist', async ({ page }) => {
  await modules('astray', [{ name: 'istio', channel: 'nightly' }])
  await cause(page, 'astray', 'istio', /^Module istio has had no version to install for .*: no version found for channel "nightly"/)
  await fix(page, "Follow the Kyma's channel regular (1.0.0)", /follow the channel/)
  await ready('astray')
})

test('7 requirement: a module that is not there', async ({ page }) => {
  await modules('needy', [{ name: 'courier' }])
  const lacks = /^Version 1\.0\.0 of module courier has been waiting for what it requires for .*: version 1\.0\.0 needs module warden/
  await cause(page, 'needy', 'courier', lacks)
  await fix(page, 'Add warden', /Add warden/)
  await ready('needy')
})

test('8 consent: a version that asks for more', async ({ page }) => {
  await modules('needy', [{ name: 'courier' }, { name: 'warden', channel: 'fast', upgradeStrategy: 'Manual' }])
  await expect.poll(() => field('needy', '.status.modules[?(@.name=="warden")].pending.version'), patience).toBe('1.1.0')
  await page.goto('/modules/kcp-system/needy/warden')
  await settled(page)
  await expect(page.getByText(/1\.1\.0 also wants to read every Secret/).first()).toBeVisible(patience)
  await page.getByRole('button', { name: /Approve/ }).first().click(patience)
  await page.getByRole('dialog').getByRole('button', { name: /Approve/ }).click()
  await finished(page, /Approve warden 1\.1\.0/)
  await expect.poll(() => field('needy', '.status.modules[?(@.name=="warden")].version'), patience).toBe('1.1.0')
})

test('9 deletion: objects of users hold a module', async ({ page }) => {
  await modules('held', [{ name: 'ledger' }])
  await ready('held')
  const metadata = { name: 'savings', namespace: 'default' }
  await apply([{ apiVersion: 'samples.kyma-project.io/v1', kind: 'Account', metadata, spec: { owner: 'a user' } }])
  await modules('held', [])
  await cause(page, 'held', 'ledger', /^The deletion of module ledger has been held for .*: delete the Account default\/savings/)
  await page.getByRole('group', { name: 'What helps' }).getByRole('link', { name: 'See what holds the deletion' }).click(patience)
  await expect(page.getByRole('heading', { name: '1 object in the way' })).toBeVisible(patience)
  await expect(page.getByText('default/savings')).toBeVisible()
  await page.getByRole('checkbox', { name: 'Delete this object too, before the module' }).check()
  await agree(page, 'Delete 1 object and ledger')
  await finished(page, /ledger/)
  await expect.poll(() => field('held', '.status.modules[*].name'), patience).toBe('')
})

test('10 version: one that is not published', async ({ page }) => {
  await modules('behind', [{ name: 'serverless', version: '9.9.9' }])
  await cause(page, 'behind', 'serverless', /^Module serverless has had no version to install.*"serverless-9\.9\.9" not found/)
  await fix(page, "Follow the Kyma's channel regular (1.0.0)", /serverless/)
  await ready('behind')
})
