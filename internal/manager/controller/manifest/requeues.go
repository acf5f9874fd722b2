package manifest

import "github.com/kyma-project/lifecycle-manager/api/v1beta2"

// Upstream's reasons for a reconcile without an event, for the steps that exist here.
const (
	requeueRetrieval    = "manifest_retrieval"
	requeueFinalizer    = "manifest_add_finalizer"
	requeueSource       = "manifest_parse_spec"
	requeueRender       = "manifest_render_resources"
	requeueUnauthorized = "manifest_unauthorized"
	requeueConnection   = "manifest_client_init"
	requeueObjects      = "manifest_sync_resources"
	requeueWaiting      = "manifest_sync_resources_enqueue_required"
	requeueRemoval      = "manifest_pre_delete"
	requeueRemoving     = "manifest_pre_delete_enqueue_required"
	requeueRelease      = "manifest_labels_removal"
	requeueStatus       = "manifest_sync_state"
)

// requeued counts a reconcile that will follow without an event.
func (r *Reconciler) requeued(reason string, unexpected bool) {
	if r.Requeues != nil {
		r.Requeues.Requeued(reason, unexpected)
	}
}

// renderReasons concern rendering the content, not fetching it.
var renderReasons = map[string]bool{
	v1beta2.ReasonContentInvalid: true, v1beta2.ReasonValuesInvalid: true, v1beta2.ReasonNonDeterministic: true,
	v1beta2.ReasonHooksRefused: true, v1beta2.ReasonRemoteBaseRefused: true,
}

// accessReasons concern access to the runtime.
var accessReasons = map[string]bool{
	v1beta2.ReasonRuntimeConnecting: true, v1beta2.ReasonRuntimeUnreachable: true, v1beta2.ReasonRuntimeForbidden: true,
	v1beta2.ReasonMissingPermissions: true, v1beta2.ReasonRuntimeClaimed: true,
	v1beta2.ReasonAccessSecretNotFound: true, v1beta2.ReasonAccessSecretAmbiguous: true, v1beta2.ReasonKubeconfigInvalid: true,
	v1beta2.ReasonKubeconfigRefused: true, v1beta2.ReasonLocalAccessMissing: true, v1beta2.ReasonLocalNamespaceRefused: true,
}

// requeueReason returns upstream's reason for a pause. The first that applies:
//
//  1. The runtime refuses our credentials, or cannot be reached.
//  2. Something is being deleted.
//  3. Content cannot be rendered or fetched.
//  4. Objects are waited for, or refused.
func requeueReason(found passResult) string {
	switch {
	case found.reason == v1beta2.ReasonRuntimeUnauthorized:
		return requeueUnauthorized
	case accessReasons[found.reason]:
		return requeueConnection
	case found.state == v1beta2.StateDeleting:
		return requeueRemoving
	case renderReasons[found.reason]:
		return requeueRender
	case contentReasons[found.reason]:
		return requeueSource
	default:
		return requeueWaiting
	}
}
