// Why the mock's module beacon is not ready.
import type { Cause, Why } from '../src/api'

const minutesAgo = (n: number) => new Date(Date.now() - n * 60_000).toISOString()

export const why: Why[] = [
  { what: 'Kyma kcp-system/demo', state: 'Error', reason: 'ModuleError', message: 'module beacon is in state Error' },
  {
    what: 'Module beacon',
    state: 'Error',
    reason: 'ManagerNotReady',
    message: 'version 1.1.0 is being installed, and its operator does not start',
  },
  { what: 'Deployment beacon-system/beacon-manager', state: 'Error', reason: 'Failed', message: '0 of 1 replicas are available' },
  {
    what: 'Pod beacon-system/beacon-manager-5d8c',
    state: 'Error',
    reason: 'ErrImagePull',
    message: 'the image registry.example.com/beacon:1.1.0 cannot be pulled',
    remedy: 'see that the image exists and that the cluster may pull it; the old version 1.0.0 runs on meanwhile',
  },
]

export const cause: Cause = {
  object: { apiVersion: 'v1', kind: 'Pod', namespace: 'beacon-system', name: 'beacon-manager-5d8c' },
  reason: 'ImageNotFound',
  sentence:
    'Container manager of Pod beacon-manager-5d8c has been waiting for its image for 34 min: ' +
    'image registry.example.com/beacon:1.1.0 is not in its registry',
  since: minutesAgo(34),
  remedy: "Correct the image in the module's content, or publish it.",
  evidence: [
    { source: 'owners', text: 'Deployment beacon-manager > ReplicaSet beacon-manager-5d8 > Pod beacon-manager-5d8c' },
    {
      source: 'event',
      object: 'Pod beacon-system/beacon-manager-5d8c',
      text: 'Failed: Failed to pull image "registry.example.com/beacon:1.1.0": not found',
      at: minutesAgo(1),
      count: 14,
    },
    { source: 'unread', text: 'you may not list Event in namespace beacon-jobs' },
  ],
  also: ['Service beacon is missing: the module installs it, and the cluster does not have it'],
}
