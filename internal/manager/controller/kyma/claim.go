package kyma

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// claimedID is the object that carries the claim.
var claimedID = inventory.ID{Kind: namespaceKind.Kind, Name: v1beta2.RuntimeNamespace}

// The users of a runtime may remove the claim this often at once, and then this often, so that it is written again at once.
const (
	claimsAtOnce  = 5
	claimInterval = 10 * time.Second
)

// takeOverAsked passes updates by which a person asks for a take-over; no other annotation of a Kyma matters.
var takeOverAsked = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	asked := e.ObjectNew.GetAnnotations()[v1beta2.AnnotationTakeOverFrom]
	return asked != "" && asked != e.ObjectOld.GetAnnotations()[v1beta2.AnnotationTakeOverFrom]
}}

// claim makes sure that the runtime is this hub's, before anything is written there; nil where it is. At rest the answer is known from the
// runtime's streams and costs no call. A Kyma that is being deleted claims nothing, but leaves the runtime of another hub alone.
func (r *Reconciler) claim(ctx context.Context, s *remoteScope, runtime Runtime) *runtimes.Problem {
	if r.HubID == "" || module.ClaimRuleOf(s.hub) == module.ClaimIgnored && s.hub.DeletionTimestamp == nil {
		return nil
	}
	from := s.hub.Annotations[v1beta2.AnnotationTakeOverFrom]
	if s.hub.DeletionTimestamp != nil {
		from = ""
	}
	holder, known := runtime.Claim()
	step := module.NextClaim(r.HubID, holder, from)
	switch {
	case known && step == module.ClaimHeld:
		return r.endTakeOver(ctx, s.hub)
	case s.hub.DeletionTimestamp != nil && known && holder == "":
		return nil
	case known && step == module.ClaimForeign && runtime.Live(claimedID).Presence == inventory.Present:
		return runtimes.ClaimedBy(r.HubID, holder, client.ObjectKeyFromObject(s.hub)) // the stream tells when that changes
	}
	if known && holder == "" && r.claimLimit(s.hub).TokensAt(r.Now().Time) < 1 {
		return claimUndone()
	}
	return r.readAndClaim(runtimes.Claiming(ctx), s.hub, runtime, from)
}

// readAndClaim reads whose the runtime is, and claims it where it is no hub's, or taken over.
func (r *Reconciler) readAndClaim(ctx context.Context, hub *v1beta2.Kyma, runtime Runtime, from string) *runtimes.Problem {
	namespaces, live, err := readClaimed(ctx, runtime)
	if err != nil {
		return claimFailed(runtime, err)
	}
	holder := holderOf(live)
	switch step := module.NextClaim(r.HubID, holder, from); {
	case hub.DeletionTimestamp != nil && step == module.ClaimTake:
		return nil
	case step == module.ClaimForeign:
		return runtimes.ClaimedBy(r.HubID, holder, client.ObjectKeyFromObject(hub))
	case step == module.ClaimTake:
		written, err := writeClaim(ctx, namespaces, live, r.HubID)
		if err != nil {
			return claimFailed(runtime, err)
		}
		r.claimLimit(hub).AllowN(r.Now().Time, 1)
		runtime.Cluster().Learn(written)
		runtime.SetClaim(written)
		r.recordTakeOver(ctx, hub, holder)
	}
	return r.endTakeOver(ctx, hub)
}

// claimLimit returns the limit on how often the runtime of a Kyma is claimed.
func (r *Reconciler) claimLimit(hub *v1beta2.Kyma) *rate.Limiter {
	known, _ := r.claims.LoadOrStore(client.ObjectKeyFromObject(hub), rate.NewLimiter(rate.Every(claimInterval), claimsAtOnce))
	return known.(*rate.Limiter) //nolint:forcetypeassert,errcheck // only these are stored
}

func claimUndone() *runtimes.Problem {
	return &runtimes.Problem{
		Reason: v1beta2.ReasonRuntimeForbidden, Retry: claimInterval,
		Message: fmt.Sprintf("the annotation %s of the namespace %s in the runtime is removed again and again; it is written again in %s, "+
			"and nothing else before", v1beta2.AnnotationHub, v1beta2.RuntimeNamespace, claimInterval),
	}
}

// readClaimed reads the namespace that carries the claim; live is nil when there is none.
func readClaimed(ctx context.Context, runtime Runtime) (dynamic.ResourceInterface, *unstructured.Unstructured, error) {
	resource, err := runtime.Cluster().Resource(ctx, namespaceKind)
	if err != nil {
		return nil, nil, err
	}
	namespaces := runtime.Cluster().Dynamic.Resource(resource.GroupVersionResource)
	live, err := namespaces.Get(ctx, v1beta2.RuntimeNamespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		live, err = nil, nil
	}
	if err == nil {
		runtime.SetClaim(live)
	}
	return namespaces, live, err
}

func holderOf(namespace *unstructured.Unstructured) string {
	if namespace == nil {
		return ""
	}
	return namespace.GetAnnotations()[v1beta2.AnnotationHub]
}

// writeClaim writes the claim if the namespace is as it was read: of several hubs, one succeeds. A new namespace is made with the claim.
func writeClaim(
	ctx context.Context, namespaces dynamic.ResourceInterface, live *unstructured.Unstructured, self string,
) (*unstructured.Unstructured, error) {
	if live == nil {
		wanted := runtimeNamespace().Object.DeepCopy()
		wanted.SetAnnotations(map[string]string{v1beta2.AnnotationHub: self})
		return namespaces.Create(ctx, wanted, metav1.CreateOptions{FieldManager: v1beta2.FieldManagerSync})
	}
	return patchClaim(ctx, namespaces, live, map[string]any{
		"annotations": map[string]any{v1beta2.AnnotationHub: self},
		"labels":      map[string]any{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}, // by which it is watched
	})
}

func patchClaim(
	ctx context.Context, namespaces dynamic.ResourceInterface, live *unstructured.Unstructured, metadata map[string]any,
) (*unstructured.Unstructured, error) {
	metadata["resourceVersion"], metadata["uid"] = live.GetResourceVersion(), string(live.GetUID())
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, fmt.Errorf("encode the claim: %w", err)
	}
	return namespaces.Patch(ctx, live.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: v1beta2.FieldManagerSync})
}

// claimFailed reports a claim that could not be read or written. Another hub that was faster is one of the causes, and is read next time.
func claimFailed(runtime Runtime, err error) *runtimes.Problem {
	runtime.Report(err)
	problem := &runtimes.Problem{
		Reason: v1beta2.ReasonRuntimeConnecting, Retry: retryDelay(err), Err: err,
		Message: conditions.Cut("the runtime is being claimed for this hub: " + err.Error()),
	}
	if class := apply.Classify(err); class == apply.ClassForbidden || class == apply.ClassAdmissionDenied || class == apply.ClassRefused {
		problem.Reason = v1beta2.ReasonRuntimeForbidden
		problem.Message = conditions.Cut(fmt.Sprintf("the runtime cannot be claimed for this hub, and nothing is written there before: the "+
			"credentials of the access Secret need the verbs get, create and patch for the namespace %s: %s", v1beta2.RuntimeNamespace, err))
	}
	return problem
}

func (r *Reconciler) recordTakeOver(ctx context.Context, hub *v1beta2.Kyma, from string) {
	if from == "" {
		return
	}
	logf.FromContext(ctx).Info("Took the runtime over from another hub", "from", from, "to", r.HubID)
	note := conditions.Note("The runtime was taken over from hub " + from)
	r.Events.Eventf(hub, nil, corev1.EventTypeNormal, "RuntimeTakenOver", "Claim", "%s", note)
}

// endTakeOver removes the annotation that asked for the take-over: it applies once, or two hubs would take the runtime in turns for ever.
func (r *Reconciler) endTakeOver(ctx context.Context, hub *v1beta2.Kyma) *runtimes.Problem {
	if _, asked := hub.Annotations[v1beta2.AnnotationTakeOverFrom]; !asked {
		return nil
	}
	before, status := hub.DeepCopy(), hub.Status
	delete(hub.Annotations, v1beta2.AnnotationTakeOverFrom)
	err := r.Client.Patch(ctx, hub, client.MergeFrom(before))
	hub.Status = status
	if client.IgnoreNotFound(err) == nil {
		return nil
	}
	hub.Annotations = before.Annotations
	return &runtimes.Problem{
		Reason: v1beta2.ReasonInternal, Retry: retrySoon, Err: err,
		Message: conditions.Cut("the annotation " + v1beta2.AnnotationTakeOverFrom + " could not be removed: " + err.Error()),
	}
}

// releaseClaim lets go of the runtime of a Kyma whose deletion ends, so that another hub may claim it, unless another Kyma of this hub has
// the runtime by now: a hub that waits for the claim would be faster than that Kyma. What may not be written stays.
func (r *Reconciler) releaseClaim(ctx context.Context, s *remoteScope) error {
	if r.HubID == "" || s.runtime == nil || !s.remote {
		return nil
	}
	if holder, known := s.runtime.Claim(); !known || holder != r.HubID || r.hasSuccessor(ctx, s) {
		return nil
	}
	ctx = runtimes.Claiming(ctx)
	namespaces, live, err := readClaimed(ctx, s.runtime)
	if err != nil || holderOf(live) != r.HubID {
		return err
	}
	written, err := patchClaim(ctx, namespaces, live, map[string]any{"annotations": map[string]any{v1beta2.AnnotationHub: nil}})
	switch class := apply.Classify(err); {
	case apierrors.IsNotFound(err), class == apply.ClassForbidden, class == apply.ClassAdmissionDenied, class == apply.ClassRefused:
		return nil
	case err != nil:
		return fmt.Errorf("release the claim on the runtime: %w", err)
	}
	s.runtime.Cluster().Learn(written)
	s.runtime.SetClaim(written)
	return nil
}
