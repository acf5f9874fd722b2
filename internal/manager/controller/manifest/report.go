package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// classes maps each class of failed write to its reason and to the pause before it is worth another try without an event.
var classes = map[apply.Class]struct {
	reason string
	retry  time.Duration
}{
	apply.ClassRefused:              {v1beta2.ReasonObjectRefused, retryRefused},
	apply.ClassAdmissionDenied:      {v1beta2.ReasonAdmissionDenied, retryRefused},
	apply.ClassQuotaExceeded:        {v1beta2.ReasonQuotaExceeded, retryRefused},
	apply.ClassFieldImmutable:       {v1beta2.ReasonFieldImmutable, retryRefused},
	apply.ClassUnauthorized:         {v1beta2.ReasonRuntimeUnauthorized, 30 * time.Second},
	apply.ClassForbidden:            {v1beta2.ReasonRuntimeForbidden, retryRefused},
	apply.ClassKindUnknown:          {v1beta2.ReasonKindUnknown, 30 * time.Second},
	apply.ClassOwnershipConflict:    {v1beta2.ReasonOwnershipConflict, retryRefused},
	apply.ClassNamespaceTerminating: {v1beta2.ReasonNamespaceTerminating, 30 * time.Second},
	apply.ClassNamespaceMissing:     {v1beta2.ReasonObjectRefused, 30 * time.Second},
	apply.ClassUnreachable:          {v1beta2.ReasonRuntimeUnreachable, 5 * time.Second},
	apply.ClassThrottled:            {v1beta2.ReasonApplying, 5 * time.Second},
	apply.ClassConflict:             {v1beta2.ReasonApplying, retryTransient},
	apply.ClassInternal:             {v1beta2.ReasonInternal, 10 * time.Second},
}

// refused sums up failed writes: the first one's reason represents all, the message names it and counts the rest.
func (w *scope) refused(ctx context.Context, bad []apply.Outcome) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		message := "the writes take longer than one pass may; the next one continues"
		return &runtimes.Problem{Reason: v1beta2.ReasonApplying, Message: message, Retry: retryTransient, Passing: true}
	}
	first := bad[0]
	for _, outcome := range bad {
		if outcome.Err != nil && (first.Err == nil || outcome.Class != apply.ClassCanceled && engine.Lost(outcome)) {
			first = outcome
		}
	}
	if first.Class == apply.ClassCanceled {
		return &passResult{cut: true}
	}
	problem := w.problemOfClass(first.Class, first.ID, first.Err) // which names the object
	if len(bad) > 1 {
		problem.Message += fmt.Sprintf(" (and %d more)", len(bad)-1)
	}
	return problem
}

// bringsKind reports whether the same content includes a definition of the object's kind, so that the kind will be known soon.
func (w *scope) bringsKind(id inventory.ID) bool {
	for _, object := range w.desired {
		if object.GroupVersionKind().GroupKind() == inventory.CRDKind && strings.HasSuffix(object.GetName(), "."+id.Group) {
			return true
		}
	}
	return false
}

// clusterProblem returns why a single call for an object failed; nil stays nil.
func (w *scope) clusterProblem(id inventory.ID, err error) error {
	if err == nil {
		return nil
	}
	w.runtime.Report(err)
	class := apply.Classify(err)
	if class == apply.ClassCanceled {
		return &passResult{cut: true}
	}
	if class == apply.ClassUnreachable {
		err = errUnanswered // its text has a port or a time in it that differs at each attempt, and each would be a write of the status
	}
	if _, told := errors.AsType[*apply.Error](err); !told { // which names its object
		err = fmt.Errorf("%s: %w", id, err)
	}
	return w.problemOfClass(class, id, err)
}

var errUnanswered = errors.New("the API server did not answer")

func (w *scope) problemOfClass(class apply.Class, id inventory.ID, err error) *runtimes.Problem {
	told, ok := classes[class]
	if !ok {
		told = classes[apply.ClassInternal]
	}
	problem := &runtimes.Problem{Reason: told.reason, Message: err.Error(), Retry: told.retry, Passing: told.reason == v1beta2.ReasonApplying}
	if class == apply.ClassKindUnknown && w.bringsKind(id) {
		problem.Retry, problem.Passing = retryTransient, true
	}
	if unready := w.firstUnready(); class == apply.ClassInternal && unready != "" {
		// A webhook or an APIService of this very content does not answer before what runs it is ready.
		problem.Reason, problem.Message = v1beta2.ReasonWaitingForObjects, unready+"; then this is tried again: "+problem.Message
		problem.Retry, problem.Passing = retryTransient, true
	}
	if class == apply.ClassForbidden {
		w.explainForbidden(problem)
	}
	return problem
}

// firstUnready names an object of this content that was applied and is not ready yet, and may become so; "" when there is none, or the
// Manifest is being deleted.
func (w *scope) firstUnready() string {
	if w.runtime == nil || !w.manifest.DeletionTimestamp.IsZero() {
		return ""
	}
	for _, entry := range w.recorded {
		if w.passesBy(entry) {
			continue
		}
		result, kept := w.runtime.Health(entry.ID)
		switch heard := kept && result.Status != health.Unknown; {
		case entry.Hash == "", heard && (result.Status == health.Ready || result.Status == health.Failed):
		case heard:
			return entry.String() + ": " + result.Message
		case kept || modeOf(entry.GroupKind()) == runtimes.Workload:
			return entry.String() + ": " + v1beta2.MessageNotSeenYet
		}
	}
	return ""
}

func firstError(outcomes []apply.Outcome) error {
	for _, outcome := range outcomes {
		if outcome.Err != nil {
			return outcome.Err
		}
	}
	return nil
}

// healthy checks what is installed:
//
//  1. A kind cannot be observed: Error, since the state of its objects is unknown.
//  2. An object reports that it failed: Error.
//  3. An object is not ready, or a workload was not observed yet: Processing; but what was Ready stays so until something is observed.
//  4. An object that left the content is not gone yet: Processing.
//  5. Otherwise Ready.
func (w *scope) healthy() passResult {
	if problem := w.runtime.Hidden(w.key); problem != nil {
		hidden := failed(problem)
		hidden.parsed = true
		return hidden
	}
	found := passResult{state: v1beta2.StateReady, reason: v1beta2.ReasonReady, message: v1beta2.OperationResourcesReady, parsed: true}
	wasReady := w.wasReady()
	for _, entry := range w.recorded {
		if w.passesBy(entry) {
			continue
		}
		result, kept := w.runtime.Health(entry.ID)
		heard := kept && result.Status != health.Unknown
		switch {
		case heard && result.Status == health.Failed && entry.Hash != "":
			message := entry.String() + ": " + result.Message
			return passResult{state: v1beta2.StateError, reason: v1beta2.ReasonObjectFailed, message: message, parsed: true}
		case found.state != v1beta2.StateReady:
		case entry.Hash == "":
			found = waitingFor(entry.String() + ": is being removed")
		case w.runtime.Live(entry.ID).Terminating:
			found = waitingFor(entry.String() + ": is being deleted; it is recreated when it is gone")
		case heard && result.Status != health.Ready:
			found = waitingFor(entry.String() + ": " + result.Message)
		case !heard && (kept || modeOf(entry.GroupKind()) == runtimes.Workload) && !wasReady:
			found = waitingFor(entry.String() + ": " + v1beta2.MessageNotSeenYet)
		}
	}
	return found
}

// wasReady reports whether the status was Ready for this very spec when the pass began.
func (w *scope) wasReady() bool {
	return w.before.Status.State == v1beta2.StateReady && w.before.Status.ObservedGeneration == w.generation
}

func waitingFor(what string) passResult {
	return passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForObjects, message: what, parsed: true}
}

// report writes a finding into the status of the copy; flush sends it.
func (w *scope) report(found passResult) {
	w.beginRevision()
	status := &w.manifest.Status
	status.State, status.ObservedGeneration = found.state, w.generation
	if w.compared {
		status.AppliedGeneration = w.generation
	}
	ready := found.state == v1beta2.StateReady
	w.setCondition(v1beta2.ConditionReady, truth(ready), found.reason, found.message)
	switch {
	case found.parsed || ready:
		w.setCondition(v1beta2.ConditionResources, metav1.ConditionTrue, v1beta2.ReasonParsed, v1beta2.MessageResourcesParsed)
	case contentReasons[found.reason] || conditions.Find(status.Conditions, v1beta2.ConditionResources) == nil:
		w.setCondition(v1beta2.ConditionResources, metav1.ConditionFalse, found.reason, v1beta2.MessageResourcesNotParsed)
	}
	w.reportInstallation(found)
	w.reportModuleCR()
	w.endRevision(found)
	if w.hasModuleCR() && !w.moduleCRCreated() {
		w.setCondition(v1beta2.ConditionModuleCR, metav1.ConditionFalse, found.reason, v1beta2.MessageModuleCRNotCreated)
	}
	module.SetAbnormal(&status.Conditions, found.state, w.now)
	if operation := conditions.Cut(found.message); status.LastOperation.Operation != operation {
		status.LastOperation = v1beta2.LastOperation{Operation: operation, LastUpdateTime: w.now}
	}
}

// reportInstallation reports whether this spec was installed completely. Once it was, it stays so, whatever is wrong with it or its
// runtime, until other content is applied or it is removed: clients can tell that from an installation that is not finished.
func (w *scope) reportInstallation(found passResult) {
	if found.state == v1beta2.StateReady {
		if !w.wasReady() { // what was Ready before there was this field costs no write of its own
			w.manifest.Status.InstalledVersion = w.manifest.Spec.Version
		}
		w.setCondition(v1beta2.ConditionInstallation, metav1.ConditionTrue, found.reason, v1beta2.MessageInstallationReady)
		return
	}
	stays := !found.brings && found.state != v1beta2.StateDeleting
	if stays && conditions.IsTrueAt(w.manifest.Status.Conditions, v1beta2.ConditionInstallation, w.generation) {
		return
	}
	w.setCondition(v1beta2.ConditionInstallation, metav1.ConditionFalse, found.reason, v1beta2.MessageInstallationNotReady)
}

// contentReasons are the reasons that concern the content, not the cluster.
var contentReasons = map[string]bool{
	v1beta2.ReasonRegistryUnreachable: true, v1beta2.ReasonRegistryUnauthorized: true, v1beta2.ReasonContentNotFound: true,
	v1beta2.ReasonDigestMismatch: true, v1beta2.ReasonContentTooLarge: true, v1beta2.ReasonContentInvalid: true,
	v1beta2.ReasonArchiveRefused: true, v1beta2.ReasonSourceInvalid: true, v1beta2.ReasonSourceUnsupported: true,
	v1beta2.ReasonValuesInvalid: true, v1beta2.ReasonValuesNotFound: true, v1beta2.ReasonNonDeterministic: true,
	v1beta2.ReasonHooksRefused: true, v1beta2.ReasonRemoteBaseRefused: true,
}

// reportModuleCR copies the state that the module's own CR reports, once it was observed.
func (w *scope) reportModuleCR() {
	if w.runtime == nil || !w.seesModuleCRs() || !w.mayShow() {
		return
	}
	crs, synced := w.moduleCRs()
	if !synced {
		return
	}
	want := w.moduleCR()
	w.manifest.Status.ResourceState, w.manifest.Status.ResourceMessage = "", ""
	for _, cr := range crs {
		if cr.Name == want.GetName() && (cr.Namespace == want.GetNamespace() || cr.Namespace == "") {
			w.manifest.Status.ResourceState, w.manifest.Status.ResourceMessage = w.stateOf(cr)
		}
	}
}

// stateOf returns the state that a custom resource reports: as the spec maps it, else its status.state. Without a match it is Processing.
func (w *scope) stateOf(cr runtimes.ModuleCRStatus) (state v1beta2.State, message string) {
	if len(w.manifest.Spec.CustomStateCheck) == 0 || cr.Object == nil {
		return knownState(cr.State), cr.Message
	}
	mapped, found := health.MapState(cr.Object, w.stateChecks())
	if !found {
		return v1beta2.StateProcessing, "no customStateCheck holds"
	}
	return knownState(mapped), cr.Message
}

func (w *scope) stateChecks() []health.StateCheck {
	checks := make([]health.StateCheck, 0, len(w.manifest.Spec.CustomStateCheck))
	for _, check := range w.manifest.Spec.CustomStateCheck {
		checks = append(checks, health.StateCheck{JSONPath: check.JSONPath, Value: check.Value, State: string(check.MappedState)})
	}
	return checks
}

// knownState maps states that our API does not have to Processing: the enum of our CRD would refuse them.
func knownState(state string) v1beta2.State {
	switch s := v1beta2.State(state); s {
	case "", v1beta2.StateReady, v1beta2.StateProcessing, v1beta2.StateError, v1beta2.StateDeleting, v1beta2.StateWarning:
		return s
	default:
		return v1beta2.StateProcessing
	}
}

func (w *scope) setCondition(kind string, status metav1.ConditionStatus, reason, message string) {
	conditions.Set(&w.manifest.Status.Conditions, kind, status, reason, message, w.generation, w.now)
}

func (w *scope) moduleCRCreated() bool {
	return conditions.IsTrue(w.manifest.Status.Conditions, v1beta2.ConditionModuleCR)
}

func truth(b bool) metav1.ConditionStatus {
	if b {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// flush writes the status and the inventory when they differ from what the API server has.
func (r *Reconciler) flush(ctx context.Context, w *scope) error {
	if w.runtime == nil || slices.Equal(w.recorded, w.stored) {
		return r.writeStatus(ctx, w) // the inventory was not read, or is the one of the status
	}
	_, err := engine.SaveRecord(ctx, w.recorded, w.before.Status.InventoryShards, &recordStore{reconciler: r, scope: w})
	return err
}

// writeStatus writes the status when it differs from what the API server has.
func (r *Reconciler) writeStatus(ctx context.Context, w *scope) error {
	if equality.Semantic.DeepEqual(w.before.Status, w.manifest.Status) {
		return nil
	}
	status := w.manifest.Status
	err := r.putStatus(ctx, w)
	if apierrors.IsConflict(err) {
		// Where only the spec or the metadata changed meanwhile, this status still reports what was done, for the generation that it names. Where
		// another client wrote the status, another pass must start from that.
		fresh := &v1beta2.Manifest{}
		getErr := r.Reader.Get(ctx, w.key, fresh)
		if getErr != nil || fresh.UID != w.before.UID || !equality.Semantic.DeepEqual(fresh.Status, w.before.Status) {
			return errors.Join(err, getErr)
		}
		w.before = fresh
		w.manifest = fresh.DeepCopy()
		w.manifest.Status = status
		err = r.putStatus(ctx, w)
	}
	if err != nil {
		return fmt.Errorf("write status of Manifest %s: %w", w.key, err)
	}
	r.recordTransition(ctx, w)
	w.before = w.manifest.DeepCopy()
	return nil
}

// putStatus replaces the status as a whole, which spares the API server the merge of a patch. The resourceVersion is sent with it, and the
// other fields of the object do not count.
func (r *Reconciler) putStatus(ctx context.Context, w *scope) error {
	status := w.manifest.Status.DeepCopy()
	w.manifest.ManagedFields = nil // none in a request means that they are not spoken of
	err := r.Client.Status().Update(ctx, w.manifest)
	if err != nil {
		w.manifest.Status = *status
	}
	return err
}

// recordTransition reports a change once: a log line when state or reason changed, and an event unless it is a step of an installation
// that goes well so far.
func (r *Reconciler) recordTransition(ctx context.Context, w *scope) {
	from, to := &w.before.Status, &w.manifest.Status
	before, after := conditions.Find(from.Conditions, v1beta2.ConditionReady), conditions.Find(to.Conditions, v1beta2.ConditionReady)
	if after == nil || (before != nil && before.Reason == after.Reason && from.State == to.State) {
		return
	}
	logf.FromContext(ctx).Info("State changed", "from", from.State, "to", to.State, "reason", after.Reason, "message", after.Message)
	if KymaOf(w.manifest) != nil && (before == nil || course[before.Reason]) && course[after.Reason] &&
		!conditions.IsTrueAt(from.Conditions, v1beta2.ConditionInstallation, w.generation) {
		return // an installation that goes well: its Kyma tells that it is ready
	}
	kind := corev1.EventTypeNormal
	if to.State == v1beta2.StateError || to.State == v1beta2.StateWarning {
		kind = corev1.EventTypeWarning
	}
	note := fmt.Sprintf("State is now %s: %s", to.State, after.Message)
	r.Events.Eventf(w.manifest, nil, kind, after.Reason, "Reconcile", "%s", conditions.Note(note))
}

// course are the reasons of an installation that goes well. An event of each for each module would cost the hub of a fleet half as many
// writes again as the installation does.
var course = map[string]bool{
	v1beta2.ReasonPending: true, v1beta2.ReasonApplying: true, v1beta2.ReasonWaitingForObjects: true, v1beta2.ReasonReady: true,
	v1beta2.ReasonWaitingForHook: true,
}

func parseOwner(owner string) (types.NamespacedName, bool) {
	namespace, name, ok := strings.Cut(owner, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}, ok && namespace != "" && name != "" && !strings.Contains(name, "/")
}
