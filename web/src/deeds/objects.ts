// Which objects in the runtime a deed changes, and where a preview shows them: what a Kyma says is only the request.
import type { Deed } from '../api'

/** Objects is what is known of the objects: a version to compare with what is installed, or a sentence. */
export type Objects = { module: string; kyma: string; version: string } | { says: string } | undefined

/**
 * objectsOf decides what a preview shows beside the changes that the server has tried. Nothing for deeds whose tried changes are the
 * objects themselves, and for those whose page compares the versions already. version is what the deed leads to, where its page knows that.
 */
export function objectsOf(deed: Deed, version = ''): Objects {
  switch (deed.kind) {
    case 'channel': {
      const to = deed.version ?? version
      if (deed.module && to) return { kyma: deed.kyma ?? '', module: deed.module, version: to }
      return {
        says: 'Which objects in the runtime change cannot be told here: each module that gets another version changes as its page shows.',
      }
    }
    case 'back':
      return { kyma: deed.kyma ?? '', module: deed.module, version: deed.version ?? '' }
    case 'approve': {
      const [to = ''] = (deed.target ?? '').split(/[@ ]/)
      return to ? { kyma: deed.kyma ?? '', module: deed.module, version: to } : undefined
    }
    case 'retry':
      return {
        says: 'Which objects in the runtime change is known when the lifecycle manager has chosen the version: its page shows them then.',
      }
    case 'manage':
      return {
        says: 'The lifecycle manager puts back what differs from what it installed. Which objects those are cannot be told before.',
      }
    case 'unmanage':
    case 'strategy':
      return { says: 'No object in the runtime changes by that.' }
    case 'rollout':
      return { says: 'No object changes at once: the Kymas that may go on are upgraded, each as the page of its module shows.' }
    default:
      return undefined // tried by the server, or compared by the page
  }
}
