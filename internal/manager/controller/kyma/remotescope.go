package kyma

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var (
	kymaKind      = v1beta2.GroupVersion.WithKind("Kyma")
	namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	secretKind    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

	// copyID is the Kyma in a runtime.
	copyID = inventory.ID{
		Group: kymaKind.Group, Kind: kymaKind.Kind, Namespace: v1beta2.RuntimeNamespace, Name: v1beta2.RuntimeKymaName,
	}
)

// remoteScope is the runtime's side of one remote Kyma in one pass. That of a local Kyma is zero.
type remoteScope struct {
	module.RemoteState
	remote    bool
	hubID     string                     // identity of this hub
	hub       *v1beta2.Kyma              // as it stands on the hub
	runtime   Runtime                    // nil when it cannot be used
	found     *unstructured.Unstructured // the runtime's Kyma as it was when we looked whose it is; nil when it held none
	copy      *v1beta2.Kyma              // the same, read; also what a write of ours returned
	merged    *module.Merged
	deletions *deletionTracker // of a Kyma that goes
	now       time.Time
	retry     time.Duration
}

// prepareRuntime determines the runtime's side of a Kyma, and creates what the runtime needs before it can hold a Kyma.
//
//  1. A local Kyma has no remote side, nor has one whose label disables the sync. The first is held where its namespace may not install
//     into the hub itself.
//  2. Without a connection, or with one to a runtime that another hub has claimed, the runtime's spec that was seen last counts. A runtime
//     that no hub has claimed is claimed before anything else is written there.
//  3. It also counts until the kinds that matter there were listed once.
//  4. A runtime that belongs to another Kyma of this hub is left alone; also one that another takes over during rule 5.
//  5. The namespace, the definitions and the pull Secret exist and are unchanged, or are written.
//  6. The spec of the runtime's Kyma is checked and merged with the hub's.
func (r *Reconciler) prepareRuntime(ctx context.Context, kyma *v1beta2.Kyma) *remoteScope {
	s := &remoteScope{hub: kyma, remote: module.Synced(kyma), hubID: r.HubID, now: r.Now().Time}
	if !s.remote {
		r.untrack(client.ObjectKeyFromObject(kyma)) // it may have been synchronised before
		s.Access = r.refuseLocal(kyma)
		r.identify(ctx, s)
		return s
	}
	if !r.connect(ctx, s) || r.shared(ctx, s) {
		return s
	}
	r.syncPrerequisites(ctx, s)
	if !r.shared(ctx, s) {
		r.readRuntimeKyma(s)
	}
	return s
}

// refuseLocal returns why a Kyma may not install its modules into the hub itself; nil when it may, or does not request it, or names a
// ServiceAccount of its namespace, whose rights its modules get. Its Manifests would be refused for the same reason: here the refusal is
// reported before there are any.
func (r *Reconciler) refuseLocal(kyma *v1beta2.Kyma) *module.Access {
	local := kyma.Spec.Remote != nil && !*kyma.Spec.Remote
	if !local || r.InstallsLocally != nil && r.InstallsLocally(kyma.Namespace, kyma.Spec.ServiceAccountName) {
		return nil
	}
	return &module.Access{
		Reason: v1beta2.ReasonLocalNamespaceRefused,
		Message: fmt.Sprintf("namespace %s may not install into the hub itself with the operator's rights: name a ServiceAccount of it in "+
			"spec.serviceAccountName, or the namespace in the operator's flag --local-namespaces, or delete this Kyma", kyma.Namespace),
	}
}

// identify binds a Kyma to its cluster where nothing else is synchronised. Its Manifests report problems of the connection.
func (r *Reconciler) identify(ctx context.Context, s *remoteScope) {
	if s.hub.Status.RuntimeID != "" || s.hub.Spec.Remote != nil && !*s.hub.Spec.Remote {
		return
	}
	if runtime, err := r.Clusters.Get(ctx, client.ObjectKeyFromObject(s.hub)); err == nil {
		s.ID = runtime.ID()
	}
}

// connect applies rules 2 and 3.
func (r *Reconciler) connect(ctx context.Context, s *remoteScope) bool {
	key := client.ObjectKeyFromObject(s.hub)
	runtime, err := r.Clusters.Get(ctx, key)
	if problem, known := errors.AsType[*runtimes.Problem](err); known {
		s.unusable(problem)
		return false
	}
	if err != nil {
		s.unusable(&runtimes.Problem{Reason: v1beta2.ReasonInternal, Message: err.Error(), Retry: retrySoon})
		return false
	}
	if problem := r.track(ctx, s.hub, runtime); problem != nil {
		s.unusable(problem)
		return false
	}
	if problem := r.claim(ctx, s, runtime); problem != nil {
		s.unusable(problem)
		return false
	}
	known, problem := runtime.Known(key)
	if problem != nil {
		s.unusable(problem)
		return false
	}
	s.ID = runtime.ID()
	if !known {
		if reason, _ := readyReason(s.hub); reason == v1beta2.ReasonOwnershipConflict {
			s.ID = "" // it was another Kyma's
		}
		s.Access = &module.Access{
			Reason: v1beta2.ReasonRuntimeConnecting, Message: "what the runtime holds is being read for the first time", Passing: true,
		}
		s.retry = soonest(s.retry, retryFailed) // the end of a list that another owner asked for is no event of this one
		return false
	}
	s.runtime = runtime
	return true
}

// shared applies rule 4. The mark of a Kyma that is gone, or is being deleted, does not count: the runtime has changed hands. Later steps
// use only the object that was read here: a Kyma that is created after that may be another's.
func (r *Reconciler) shared(ctx context.Context, s *remoteScope) bool {
	s.found = nil
	object, ok := s.runtime.Object(copyID)
	if !ok {
		return false
	}
	s.found = object
	namespace, name, _ := strings.Cut(object.GetAnnotations()[v1beta2.AnnotationOwnedBy], "/")
	key := types.NamespacedName{Namespace: namespace, Name: name}
	other := &v1beta2.Kyma{}
	if key == client.ObjectKeyFromObject(s.hub) {
		return false
	}
	if !r.alive(ctx, key, other) || !module.Synced(other) || isOwnCopy(other) {
		return false
	}
	if other.Status.RuntimeID != "" && s.ID != "" && other.Status.RuntimeID != s.ID {
		return false // it has another runtime: the users of this one wrote the mark
	}
	s.unusable(&runtimes.Problem{
		Reason: v1beta2.ReasonOwnershipConflict, Retry: retryHeld,
		Message: fmt.Sprintf("the runtime belongs to Kyma %s: correct the access Secret of one of the two, or label this one %s=false "+
			"to have modules installed only", key, v1beta2.LabelSync),
	})
	s.runtime, s.ID, s.Foreign = nil, "", true // or the Kyma would be bound to a cluster that is not its own
	s.Syncs = nil
	return true
}

// alive reads the Kyma of a mark, unless it is gone or being deleted. The API server is read for what a late cache does not have.
func (r *Reconciler) alive(ctx context.Context, key types.NamespacedName, into *v1beta2.Kyma) bool {
	found, err := r.get(ctx, key, into)
	if err == nil && !found && key.Name != "" && !strings.ContainsAny(key.Name, "/%") {
		err = r.Reader.Get(ctx, key, into)
		found = err == nil
	}
	return found && err == nil && into.DeletionTimestamp == nil
}

// dropConnection ends the use of a connection that was replaced or withdrawn during the pass: what it shows no longer counts.
func (s *remoteScope) dropConnection() {
	s.unusable(&runtimes.Problem{
		Reason: v1beta2.ReasonRuntimeConnecting, Message: "the connection to the runtime is being replaced", Retry: retrySoon,
	})
	s.runtime, s.Syncs = nil, nil
}

func (s *remoteScope) unusable(problem *runtimes.Problem) {
	s.Access = &module.Access{
		Reason: problem.Reason, Message: problem.Message, Passing: problem.Reason == v1beta2.ReasonRuntimeConnecting,
	}
	s.retry = soonest(s.retry, problem.Retry)
}

// track requests the events of what a runtime needs for its Kyma, after it has checked once that the runtime is not the hub itself.
func (r *Reconciler) track(ctx context.Context, hub *v1beta2.Kyma, runtime Runtime) *runtimes.Problem {
	key := client.ObjectKeyFromObject(hub)
	old, _ := r.tracked.Load(key)
	if before, ok := old.(Runtime); !ok || before != runtime {
		if problem := checkRuntimeIsNotHub(ctx, hub, runtime); problem != nil {
			return problem
		}
		r.untrack(key)
		r.tracked.Store(key, runtime)
	}
	runtime.Track(key, r.interests())
	return nil
}

// checkRuntimeIsNotHub refuses a runtime in which the Kyma of the hub is found: what is written to and deleted from a runtime, its
// definitions above all, would be the hub's own.
func checkRuntimeIsNotHub(ctx context.Context, hub *v1beta2.Kyma, runtime Runtime) *runtimes.Problem {
	resource, err := runtime.Cluster().Resource(ctx, kymaKind)
	if apply.Classify(err) == apply.ClassKindUnknown {
		return nil
	}
	var found *unstructured.Unstructured
	if err == nil {
		kymas := runtime.Cluster().Dynamic.Resource(resource.GroupVersionResource).Namespace(hub.Namespace)
		found, err = kymas.Get(ctx, hub.Name, metav1.GetOptions{})
	}
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil
	case err != nil:
		runtime.Report(err)
		return &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Message: err.Error(), Retry: retryDelay(err)}
	case found.GetUID() != hub.UID:
		return nil
	}
	return &runtimes.Problem{
		Reason: v1beta2.ReasonKubeconfigRefused, Retry: retryRefused,
		Message: "the access Secret leads to the hub itself; a Kyma for the cluster that it lives in has spec.remote: false",
	}
}

func (r *Reconciler) untrack(key types.NamespacedName) {
	old, _ := r.tracked.LoadAndDelete(key)
	if before, ok := old.(Runtime); ok {
		before.Untrack(key)
		r.Syncer.Forget(before)
	}
}

func (r *Reconciler) interests() []runtimes.Interest {
	interests := []runtimes.Interest{
		{
			GroupVersionKind: kymaKind, Mode: runtimes.ModuleCR, Keep: true,
			Only: types.NamespacedName{Namespace: copyID.Namespace, Name: copyID.Name},
		},
		{GroupVersionKind: namespaceKind, Mode: runtimes.Copy},
		{GroupVersionKind: inventory.CRDKind.WithVersion("v1"), Mode: runtimes.Copy},
	}
	if r.PullSecret != nil {
		interests = append(interests, runtimes.Interest{GroupVersionKind: secretKind, Mode: runtimes.Copy})
	}
	return interests
}

// effective returns the Kyma with the spec in force, and whether that spec is known.
func (s *remoteScope) effective() (*v1beta2.Kyma, bool) {
	last := s.hub.Status.LastSeen
	switch {
	case !s.remote:
		return s.hub, s.Access == nil
	case s.merged != nil:
		kyma := s.hub.DeepCopy()
		module.Apply(&kyma.Spec, s.merged.Effective)
		if s.copy != nil {
			module.AddOwn(&kyma.Spec, &s.copy.Spec)
		}
		return kyma, true
	case last != nil && last.Runtime != nil:
		kyma := s.hub.DeepCopy()
		module.Apply(&kyma.Spec, *last.Runtime)
		return kyma, true
	default:
		return s.hub, false
	}
}

// refusedValues says why values of the hub's entries cannot be used, by module; nil for a Kyma whose spec is not merged.
func (s *remoteScope) refusedValues() map[string]string {
	if !s.remote {
		return nil
	}
	return module.RefusedOnHub(&s.hub.Spec, s.hub.Status.LastSeen)
}

// behind reports whether the hub's spec is not part of the spec in force: it changed since it was merged with the runtime's, and cannot be
// merged now.
func (s *remoteScope) behind() bool {
	return s.remote && s.merged == nil && module.Behind(&s.hub.Spec, s.hub.Status.LastSeen)
}

// withObservedGeneration returns the Kyma with the spec in force, in the generation that requested it: the status refers to that one, and a
// client that waits for a later one continues to wait. What is not available at all is reported for the latest.
func (s *remoteScope) withObservedGeneration(effective *v1beta2.Kyma) *v1beta2.Kyma {
	last := s.hub.Status.LastSeen
	if !s.behind() || last == nil || last.Runtime == nil || s.Access != nil && !s.Access.Passing {
		return effective
	}
	dated := effective.DeepCopy()
	dated.Generation = s.hub.Status.ObservedGeneration
	return dated
}

// isReportable reports whether a status may be written to the runtime as one of the spec that its Kyma has there: what is Ready must be
// what that spec requests. An edit by its users that waits, or that came back with a write of ours, is followed by another pass.
func (s *remoteScope) isReportable(status *v1beta2.KymaStatus) bool {
	if !conditions.IsTrue(status.Conditions, v1beta2.ConditionReady) {
		return true // also of a spec that is refused the users see what happened to it
	}
	return s.merged != nil && module.Asks(&s.copy.Spec, s.merged.Effective)
}
