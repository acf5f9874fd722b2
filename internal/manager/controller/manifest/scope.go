package manifest

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// scope is one reconcile's view of a Manifest.
type scope struct {
	key      types.NamespacedName
	manifest *v1beta2.Manifest // a copy whose status is written
	before   *v1beta2.Manifest // as the API server has it
	// generation is the one that this pass works on; that of manifest increases when the spec is changed meanwhile.
	generation int64
	now        metav1.Time
	found      []v1beta2.Revision // the history that the pass began with

	target   Target
	runtime  Runtime
	sources  []v1beta2.ResolvedSource     // what the spec names: name and reference
	recorded []inventory.Entry            // what the inventory says
	stored   []inventory.Entry            // what of it stands in the status already
	desired  []*unstructured.Unstructured // what the content says; nil while it is not needed
	order    *engine.Arrangement          // in which it is applied
	resolved []v1beta2.ResolvedSource     // what the sources were resolved to
	asked    bool                         // the content depends on what the cluster has
	compared bool                         // recorded tells of the present spec: it has no hash of what is to be applied
	// namespaces are created before the first write, if they do not exist.
	namespaces []string
	postponed  []inventory.Step         // webhooks that are put back when all else is ready
	injected   []v1beta2.InjectedSecret // what of the hub's was put into desired
	releases   engine.Releases          // the parts with hooks
	takenOver  []string                 // the sources that another installer has brought before
	generated  *generated.Store         // what the charts have generated; nil while it was not read
	hasSecret  bool                     // there is a Secret for it
	inherits   bool                     // it is that of a direct installation of the module, which let go of it
	leaves     bool                     // the module is being removed, and only hooks of that are still written

	// confined means that the namespace may not install into the hub itself, and that what it installed there before is being removed. Such a
	// removal touches only what the inventory and the owner mark both claim, and nothing that the spec alone names; ownCR means that they
	// claim the definition of the default custom resource.
	confined, ownCR bool

	permitted  bool                             // the account was found to have the rights for this spec
	discovered map[schema.GroupVersionKind]bool // kinds that were asked about in this pass, and whether they live in namespaces
	blocking   []schema.GroupVersionKind        // kinds of which objects block the deletion
	lostCR     bool                             // the default custom resource went with its definition
	fought     bool                             // values of others were overwritten in this pass
	confirmed  bool                             // the API server has what this pass reported, which is true now
}

func newScope(manifest *v1beta2.Manifest, now metav1.Time) *scope {
	return &scope{
		key:        types.NamespacedName{Namespace: manifest.Namespace, Name: manifest.Name},
		manifest:   manifest.DeepCopy(),
		before:     manifest,
		generation: manifest.Generation,
		now:        now,
		found:      manifest.Status.Revisions,
	}
}

// owner returns the value of the owner mark.
func (w *scope) owner() string { return w.key.Namespace + "/" + w.key.Name }

// hasModuleCR reports whether a default custom resource belongs to the installation.
func (w *scope) hasModuleCR() bool {
	return w.manifest.Spec.Resource != nil && len(w.manifest.Spec.Resource.Object) > 0 &&
		w.manifest.Spec.CustomResourcePolicy != v1beta2.CustomResourcePolicyIgnore
}

// passResult is the result of a pass, before it is reported in the status. As an error it ends a pass from any depth, for what is no
// failure of the program.
type passResult struct {
	state           v1beta2.State
	reason, message string
	retry           time.Duration // come back without an event; zero: an event will come
	gone            bool          // nothing must be told: the Manifest is gone or moved on, or its cluster is just being contacted
	cut             bool          // the manager ends: what was done is recorded, and nothing is told
	parsed          bool          // the content was fetched, verified, parsed and compared with what is installed
	brings          bool          // other content than before is about to be applied, or more of it
}

// Error returns the reason and the message.
func (p *passResult) Error() string { return p.reason + ": " + p.message }

// resultOf returns the result that an error is; nil for any other error.
func resultOf(err error) *passResult {
	result, _ := errors.AsType[*passResult](err)
	return result
}

// waits reports whether the result is that something is waited for, and not the end of the pass itself.
func (p *passResult) waits() bool { return p != nil && !p.gone && !p.cut }

// failed returns the finding of a cause. First contact with a cluster is no cause: its response brings us back.
func failed(p *runtimes.Problem) passResult {
	if p.Reason == v1beta2.ReasonRuntimeConnecting {
		return passResult{gone: true, retry: p.Retry}
	}
	found := passResult{state: v1beta2.StateError, reason: p.Reason, message: p.Message, retry: p.Retry}
	if p.Passing {
		found.state = v1beta2.StateProcessing
	}
	return found
}
