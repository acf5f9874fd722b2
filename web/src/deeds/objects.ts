// Which objects in the runtime a deed changes, and where a preview shows them: what a Kyma says is only the request.
import type { Deed } from '../api'
import { messages } from '../messages'

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
        says: messages.objects.objectsRuntimeChangeCannotTold,
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
        says: messages.objects.objectsRuntimeChangeKnownWhen,
      }
    case 'manage':
      return {
        says: messages.objects.lifecycleManagerPutsBackDiffers,
      }
    case 'unmanage':
    case 'strategy':
      return { says: messages.objects.noObjectRuntimeChanges }
    case 'rollout':
      return { says: messages.objects.noObjectChangesOnceKymas }
    default:
      return undefined // tried by the server, or compared by the page
  }
}
