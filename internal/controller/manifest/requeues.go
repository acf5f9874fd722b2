package manifest

import "github.com/kyma-project/lifecycle-manager/api/v1beta2"

// Upstream's words for why a Manifest comes back, as far as there are such steps here.
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

// requeued counts that a Manifest comes back without an event.
func (r *Reconciler) requeued(reason string, unexpected bool) {
	if r.Requeues != nil {
		r.Requeues.Requeued(reason, unexpected)
	}
}

// renderReasons speak of what content is made into, not of where it comes from.
var renderReasons = map[string]bool{
	v1beta2.ReasonContentInvalid: true, v1beta2.ReasonValuesInvalid: true, v1beta2.ReasonNonDeterministic: true,
	v1beta2.ReasonHooksRefused: true, v1beta2.ReasonRemoteBaseRefused: true,
}

// accessReasons speak of the way to the runtime.
var accessReasons = map[string]bool{
	v1beta2.ReasonRuntimeConnecting: true, v1beta2.ReasonRuntimeUnreachable: true, v1beta2.ReasonRuntimeForbidden: true,
	v1beta2.ReasonAccessSecretNotFound: true, v1beta2.ReasonAccessSecretAmbiguous: true, v1beta2.ReasonKubeconfigInvalid: true,
	v1beta2.ReasonKubeconfigRefused: true, v1beta2.ReasonLocalAccessMissing: true, v1beta2.ReasonLocalNamespaceRefused: true,
}

// requeueReason says by upstream's words what a pause is for. The first that applies:
//
//  1. The runtime does not let us in, or cannot be reached.
//  2. Something is being deleted.
//  3. Content cannot be rendered, or not be fetched.
//  4. Objects are waited for, or refused.
func requeueReason(found finding) string {
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
