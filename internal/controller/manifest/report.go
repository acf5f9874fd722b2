package manifest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// stopped ends a pass early with a finding that is no failure of the program.
type stopped finding

// Error makes stopped an error, so that it can end a pass from any depth.
func (s *stopped) Error() string { return s.reason + ": " + s.message }

// classes says for each class of failed write how it is told and when it is worth another try without an event.
var classes = map[apply.Class]struct {
	reason string
	retry  time.Duration
}{
	apply.ClassRefused:              {v1beta2.ReasonObjectRefused, 5 * time.Minute},
	apply.ClassUnauthorized:         {v1beta2.ReasonRuntimeUnauthorized, 30 * time.Second},
	apply.ClassForbidden:            {v1beta2.ReasonRuntimeForbidden, 2 * time.Minute},
	apply.ClassKindUnknown:          {v1beta2.ReasonKindUnknown, 30 * time.Second},
	apply.ClassOwnershipConflict:    {v1beta2.ReasonOwnershipConflict, 5 * time.Minute},
	apply.ClassNamespaceTerminating: {v1beta2.ReasonNamespaceTerminating, 30 * time.Second},
	apply.ClassNamespaceMissing:     {v1beta2.ReasonObjectRefused, 30 * time.Second},
	apply.ClassUnreachable:          {v1beta2.ReasonRuntimeUnreachable, 5 * time.Second},
	apply.ClassThrottled:            {v1beta2.ReasonApplying, 5 * time.Second},
	apply.ClassConflict:             {v1beta2.ReasonApplying, retryTransient},
	apply.ClassInternal:             {v1beta2.ReasonInternal, 10 * time.Second},
}

// refused sums up failed writes: the first one's reason stands for all, the message names it and counts the rest.
func (w *work) refused(bad []apply.Outcome) error {
	first := bad[0]
	for _, outcome := range bad {
		if outcome.Err != nil && (first.Err == nil || lost([]apply.Outcome{outcome})) {
			first = outcome
		}
	}
	if first.Class == apply.ClassCanceled {
		return &stopped{gone: true}
	}
	problem := w.problemOfClass(first.Class, fmt.Errorf("%s: %w", first.ID, first.Err))
	if len(bad) > 1 {
		problem.Message += fmt.Sprintf(" (and %d more)", len(bad)-1)
	}
	if problem.Reason == v1beta2.ReasonApplying || (first.Class == apply.ClassKindUnknown && w.bringsKind(first.ID)) {
		return &stopped{state: v1beta2.StateProcessing, reason: problem.Reason, message: problem.Message, retry: retryTransient, parsed: true}
	}
	return problem
}

// bringsKind tells that a definition of the object's kind comes with the same content, so that the kind will be known soon.
func (w *work) bringsKind(id inventory.ID) bool {
	for _, object := range w.desired {
		if object.GroupVersionKind().GroupKind() == crdKind && strings.HasSuffix(object.GetName(), "."+id.Group) {
			return true
		}
	}
	return false
}

// clusterProblem tells why a single call to the cluster failed; nil stays nil.
func (w *work) clusterProblem(err error) error {
	if err == nil {
		return nil
	}
	w.runtime.Report(err)
	class := apply.Classify(err)
	if class == apply.ClassCanceled {
		return &stopped{gone: true}
	}
	return w.problemOfClass(class, err)
}

func (w *work) problemOfClass(class apply.Class, err error) *Problem {
	told, ok := classes[class]
	if !ok {
		told = classes[apply.ClassInternal]
	}
	problem := &Problem{Reason: told.reason, Message: err.Error(), Retry: told.retry}
	if w.target.Local && class == apply.ClassForbidden && strings.Contains(err.Error(), "impersonate") {
		problem.Reason = v1beta2.ReasonLocalAccessMissing
		problem.Message = "the operator may not install into its own cluster: apply the kustomize component config/components/local; " + problem.Message
	}
	return problem
}

func firstError(outcomes []apply.Outcome) error {
	for _, outcome := range outcomes {
		if outcome.Err != nil {
			return outcome.Err
		}
	}
	return nil
}

// healthy looks at what is installed:
//
//  1. An object reports that it failed: Error.
//  2. An object is not ready, or of a workload nothing was heard yet: Processing; but what was Ready stays so until something is heard.
//  3. An object that left the content is not gone yet: Processing.
//  4. Otherwise Ready.
func (w *work) healthy() finding {
	found := finding{state: v1beta2.StateReady, reason: v1beta2.ReasonReady, message: v1beta2.OperationResourcesReady, parsed: true}
	wasReady := w.before.Status.State == v1beta2.StateReady && w.before.Status.ObservedGeneration == w.manifest.Generation
	for _, entry := range w.recorded {
		result, kept := w.runtime.Health(entry.ID)
		heard := kept && result.Status != health.Unknown
		switch {
		case heard && result.Status == health.Failed:
			return finding{state: v1beta2.StateError, reason: v1beta2.ReasonObjectFailed, message: entry.String() + ": " + result.Message, parsed: true}
		case found.state != v1beta2.StateReady:
		case heard && result.Status != health.Ready:
			found = waitingFor(entry.String() + ": " + result.Message)
		case !heard && (kept || modeOf(entry.GroupKind()) == Workload) && !wasReady:
			found = waitingFor(entry.String() + ": its status was not seen yet")
		case entry.Hash == "":
			found = waitingFor(entry.String() + ": is being removed")
		}
	}
	return found
}

func waitingFor(what string) finding {
	return finding{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForObjects, message: what, parsed: true}
}

// report writes a finding into the status of the copy; flush sends it.
func (w *work) report(found finding) {
	status := &w.manifest.Status
	status.State, status.ObservedGeneration = found.state, w.manifest.Generation
	ready := found.state == v1beta2.StateReady
	w.setCondition(v1beta2.ConditionReady, truth(ready), found.reason, found.message)
	switch {
	case found.parsed || ready:
		w.setCondition(v1beta2.ConditionResources, metav1.ConditionTrue, v1beta2.ReasonParsed, v1beta2.MessageResourcesParsed)
	case contentReasons[found.reason] || conditions.Find(status.Conditions, v1beta2.ConditionResources) == nil:
		w.setCondition(v1beta2.ConditionResources, metav1.ConditionFalse, found.reason, v1beta2.MessageResourcesNotParsed)
	}
	if ready {
		w.setCondition(v1beta2.ConditionInstallation, metav1.ConditionTrue, found.reason, v1beta2.MessageInstallationReady)
	} else {
		w.setCondition(v1beta2.ConditionInstallation, metav1.ConditionFalse, found.reason, v1beta2.MessageInstallationNotReady)
	}
	if w.hasModuleCR() && !isTrue(status.Conditions, v1beta2.ConditionModuleCR) {
		w.setCondition(v1beta2.ConditionModuleCR, metav1.ConditionFalse, found.reason, v1beta2.MessageModuleCRNotCreated)
	}
	w.reportModuleCR()
	if status.LastOperation.Operation != found.message {
		status.LastOperation = v1beta2.LastOperation{Operation: found.message, LastUpdateTime: w.now}
	}
}

// contentReasons are the reasons that speak of the content, not of the cluster.
var contentReasons = map[string]bool{
	v1beta2.ReasonRegistryUnreachable: true, v1beta2.ReasonRegistryUnauthorized: true, v1beta2.ReasonContentNotFound: true,
	v1beta2.ReasonDigestMismatch: true, v1beta2.ReasonContentTooLarge: true, v1beta2.ReasonContentInvalid: true,
	v1beta2.ReasonArchiveRefused: true, v1beta2.ReasonSourceInvalid: true, v1beta2.ReasonSourceUnsupported: true,
}

// reportModuleCR repeats what the module's own CR says of itself, once it was heard.
func (w *work) reportModuleCR() {
	if w.runtime == nil || w.manifest.Spec.Resource == nil || len(w.manifest.Spec.Resource.Object) == 0 {
		return
	}
	crs, synced := w.runtime.ModuleCRs(w.manifest.Spec.Resource.GroupVersionKind().GroupKind())
	if !synced {
		return
	}
	want := w.moduleCR()
	w.manifest.Status.ResourceState, w.manifest.Status.ResourceMessage = "", ""
	for _, cr := range crs {
		if cr.Name == want.GetName() && (cr.Namespace == want.GetNamespace() || cr.Namespace == "") {
			w.manifest.Status.ResourceState, w.manifest.Status.ResourceMessage = knownState(cr.State), cr.Message
		}
	}
}

// knownState maps words that our API does not know to Processing: the enum of our CRD would refuse them.
func knownState(state string) v1beta2.State {
	switch s := v1beta2.State(state); s {
	case "", v1beta2.StateReady, v1beta2.StateProcessing, v1beta2.StateError, v1beta2.StateDeleting, v1beta2.StateWarning:
		return s
	default:
		return v1beta2.StateProcessing
	}
}

func (w *work) setCondition(kind string, status metav1.ConditionStatus, reason, message string) {
	conditions.Set(&w.manifest.Status.Conditions, kind, status, reason, message, w.manifest.Generation, w.now)
}

func isTrue(list []metav1.Condition, kind string) bool { return conditions.IsTrue(list, kind) }

func truth(b bool) metav1.ConditionStatus {
	if b {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// flush writes the status when it differs from what the API server has. The inventory goes with it.
func (r *Reconciler) flush(ctx context.Context, w *work) error {
	if err := r.storeInventory(ctx, w); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(w.before.Status, w.manifest.Status) {
		return nil
	}
	status := w.manifest.Status
	err := r.patchStatus(ctx, w)
	if apierrors.IsConflict(err) {
		// The spec or the metadata moved meanwhile. This status still tells what was done, for the generation that it names.
		fresh := &v1beta2.Manifest{}
		if getErr := r.Reader.Get(ctx, w.key, fresh); getErr != nil || fresh.UID != w.manifest.UID {
			return errors.Join(err, getErr)
		}
		w.before = fresh
		w.manifest = fresh.DeepCopy()
		w.manifest.Status = status
		err = r.patchStatus(ctx, w)
	}
	if err != nil {
		return fmt.Errorf("patch status of Manifest %s: %w", w.key, err)
	}
	r.tell(ctx, w)
	w.before = w.manifest.DeepCopy()
	return r.dropStaleShards(ctx, w)
}

func (r *Reconciler) patchStatus(ctx context.Context, w *work) error {
	base := w.before.DeepCopy()
	base.ResourceVersion = w.manifest.ResourceVersion
	status := w.manifest.Status.DeepCopy()
	err := r.Client.Status().Patch(ctx, w.manifest, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		w.manifest.Status = *status
	}
	return err
}

// tell says once what happened: an event and a log line when state or reason moved.
func (r *Reconciler) tell(ctx context.Context, w *work) {
	before, after := conditions.Find(w.before.Status.Conditions, v1beta2.ConditionReady), conditions.Find(w.manifest.Status.Conditions, v1beta2.ConditionReady)
	if after == nil || (before != nil && before.Reason == after.Reason && w.before.Status.State == w.manifest.Status.State) {
		return
	}
	logf.FromContext(ctx).Info("State changed", "from", w.before.Status.State, "to", w.manifest.Status.State, "reason", after.Reason, "message", after.Message)
	kind := corev1.EventTypeNormal
	if w.manifest.Status.State == v1beta2.StateError || w.manifest.Status.State == v1beta2.StateWarning {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(w.manifest, nil, kind, after.Reason, "Reconcile", "State is now %s: %s", w.manifest.Status.State, after.Message)
}

func parseOwner(owner string) (types.NamespacedName, bool) {
	namespace, name, ok := strings.Cut(owner, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}, ok && namespace != "" && name != "" && !strings.Contains(name, "/")
}
