package manifest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize/english"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// workers bounds the writes of one Manifest that are under way at once.
	workers = 8
	// definitionTimeout is how long a definition may take to be established within a pass; what takes longer is left to the watch.
	definitionTimeout = time.Second
)

var (
	namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
)

// act applies stage by stage and phase by phase, and prunes after a complete success. What was done is in w.recorded in any case. See
// engine.ApplyBatches for what waits and what a failure stops.
func (r *Reconciler) act(ctx context.Context, w *scope, decision inventory.Decision, options apply.Options) error {
	if err := r.ensureNamespaces(ctx, w); err != nil {
		return err
	}
	writer := &batchWriter{reconciler: r, scope: w, options: options}
	failed, held, err := engine.ApplyBatches(ctx, w.order.Batches(decision.Apply), w.order.FirstUnplaced(), writer)
	switch {
	case err != nil:
		return err
	case len(failed) > 0:
		if cleared := r.clearWebhook(ctx, w, decision.Apply, failed); cleared != nil {
			return cleared
		}
		return w.refused(ctx, failed)
	case held != nil:
		return held
	}
	if err := r.awaitHooksBefore(ctx, w); err != nil {
		return err
	}
	return r.prune(ctx, w, decision.Prune, options)
}

// batchWriter is the engine.Writer of a Manifest.
type batchWriter struct {
	reconciler *Reconciler
	scope      *scope
	options    apply.Options
}

// Write implements engine.Writer.
func (b *batchWriter) Write(ctx context.Context, steps []inventory.Step) ([]apply.Outcome, error) {
	outcomes := b.scope.runtime.Cluster().Apply(ctx, steps, b.options)
	b.reconciler.tellOverruled(ctx, b.scope, outcomes)
	b.reconciler.countRestored(steps, outcomes)
	b.scope.recordOutcomes(steps, outcomes)
	return outcomes, nil
}

// countRestored counts the definitions that were deleted in the cluster, and are there again.
func (r *Reconciler) countRestored(steps []inventory.Step, outcomes []apply.Outcome) {
	if r.Repairs == nil {
		return
	}
	for i, outcome := range outcomes {
		last := steps[i].Entry
		if outcome.Err == nil && last.GroupKind() == inventory.CRDKind && last.UID != "" && outcome.UID != "" && last.UID != outcome.UID {
			r.Repairs.DefinitionRestored()
		}
	}
}

// AwaitStart implements engine.Writer. Why a hook cannot be written is told like what is waited for: what runs is repaired meanwhile.
func (b *batchWriter) AwaitStart(ctx context.Context, part int) (*passResult, error) {
	held, err := b.reconciler.awaitStart(ctx, b.scope, part)
	if problem := problemOf(err); problem != nil {
		refused := failed(problem)
		refused.parsed = true
		return &refused, nil
	}
	return held, err
}

// AwaitDefinitions implements engine.Writer.
func (b *batchWriter) AwaitDefinitions(ctx context.Context, steps []inventory.Step) *passResult {
	missing := engine.AwaitDefinitions(ctx, steps, definitionTimeout, b.scope.established)
	if missing == nil {
		return nil
	}
	return &passResult{
		state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForCRDs, retry: retryTransient, parsed: true,
		message: inventory.IDOf(missing).String() + " is not yet established",
	}
}

// tellOverruled reports whose values were put back: users may wonder why a change does not last.
func (r *Reconciler) tellOverruled(ctx context.Context, w *scope, outcomes []apply.Outcome) {
	for _, outcome := range outcomes {
		if len(outcome.Overruled) == 0 {
			continue
		}
		if !w.fought { // an edit of many objects is one
			w.fought = true
			r.recordConflict(w.key)
		}
		first := outcome.Overruled[0]
		note := fmt.Sprintf("%s: %s was set by %s and is put back", outcome.ID, first.Field, first.Manager)
		if more := len(outcome.Overruled) - 1; more > 0 {
			note += fmt.Sprintf(" (and %d more %s)", more, english.PluralWord(more, "field", ""))
		}
		logf.FromContext(ctx).V(1).Info("Fields put back", "object", outcome.ID.String(), "field", first.Field, "manager", first.Manager)
		r.Events.Eventf(w.manifest, nil, corev1.EventTypeNormal, v1beta2.ReasonFieldsPutBack, "Apply", "%s", conditions.Note(note))
	}
}

func (r *Reconciler) options(ctx context.Context, w *scope) apply.Options {
	ownership := apply.Ownership(w.manifest.Spec.Ownership)
	if ownership == "" {
		ownership = apply.Prevent
		if KymaOf(w.manifest) != nil {
			ownership = apply.AdoptIfUnowned
		}
	}
	return apply.Options{
		Manager:        v1beta2.FieldManagerModule,
		Owner:          w.owner(),
		OwnerKey:       v1beta2.AnnotationOwnedBy,
		Ownership:      ownership,
		Relation:       r.appliedRelation(ctx, w),
		Claim:          installable.ClaimedDirectly,
		Predecessors:   []string{installable.FieldManagerDirect},
		Workers:        workers,
		Live:           w.runtime.Live,
		Autoscaled:     apply.Autoscalers(w.desired),
		Kept:           w.runtime.Kept,
		Successor:      r.findSuccessor(ctx, w),
		KeepNamespaces: []string{v1beta2.RuntimeNamespace},
	}
}

// recordOutcomes records what an apply did. A failed object is marked as planned, so that the next pass tries again.
func (w *scope) recordOutcomes(steps []inventory.Step, outcomes []apply.Outcome) {
	for i, outcome := range outcomes {
		if outcome.Err == nil {
			w.loseModuleCR(steps[i], outcome.UID)
			continue
		}
		w.runtime.Report(outcome.Err)
		if outcome.Class == apply.ClassNamespaceMissing {
			w.runtime.ResetOnce("namespace/" + outcome.ID.Namespace)
		}
	}
	w.recorded = inventory.Merge(w.recorded, engine.Applied(steps, outcomes), nil)
}

// loseModuleCR detects that the default custom resource was deleted with its definition: the cluster deletes both together, and no user
// requested that. It is created again. The UID shows it, since a definition can be deleted and recreated between a read and a write; the
// recorded UID is the earlier one until the status is written that reports the custom resource as not created.
func (w *scope) loseModuleCR(step inventory.Step, now types.UID) {
	if before := step.Entry.UID; before == "" || before == now || !w.hasModuleCR() || !w.moduleCRCreated() {
		return
	}
	if defines(step.Object, w.manifest.Spec.Resource.GroupVersionKind().GroupKind()) {
		w.setCondition(v1beta2.ConditionModuleCR, metav1.ConditionFalse, v1beta2.ReasonApplying, v1beta2.MessageModuleCRNotCreated)
		w.lostCR = true
	}
}

// defines reports whether an object is the definition of a kind.
func defines(object *unstructured.Unstructured, kind schema.GroupKind) bool {
	if object.GroupVersionKind().GroupKind() != inventory.CRDKind {
		return false
	}
	group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
	name, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
	return group == kind.Group && name == kind.Kind
}

// established reports whether a definition can be used, without a call where the streams show it: they tell of a new one within moments.
func (w *scope) established(ctx context.Context, definition *unstructured.Unstructured) bool {
	if found, kept := w.runtime.Health(inventory.IDOf(definition)); kept && found.Status != health.Unknown {
		return found.Status == health.Ready
	}
	live, err := get(ctx, w.runtime.Cluster(), definition)
	return err == nil && health.Of(live).Status == health.Ready
}

func get(ctx context.Context, cluster *apply.Cluster, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, err := cluster.Resource(ctx, object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	objects := cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(object.GetNamespace())
	live, err := objects.Get(ctx, object.GetName(), metav1.GetOptions{})
	if err == nil && cluster.Learn != nil {
		cluster.Learn(live)
	}
	return live, err
}

// namespaceOnce is the once key of ensureNamespaces. It is reset when an object does not find its namespace.
const namespaceOnce = "namespace/" + v1beta2.RuntimeNamespace

// ensureNamespaces creates the namespace that modules expect, and those that an installation requests, once for each connection and before
// the first write. They get no owner: any user's objects may live in them.
func (r *Reconciler) ensureNamespaces(ctx context.Context, w *scope) error {
	var problems []error
	if KymaOf(w.manifest) != nil {
		problems = append(problems, w.runtime.Once(ctx, namespaceOnce, func() error {
			return w.makeNamespace(ctx, w.runtime.Own(), v1beta2.RuntimeNamespace, map[string]string{
				"istio-injection": "enabled", "namespaces.warden.kyma-project.io/validate": "enabled",
				v1beta2.LabelManagedBy: v1beta2.ManagedByKyma,
			})
		}))
	}
	for _, name := range w.namespaces {
		problems = append(problems, w.runtime.Once(ctx, "namespace/"+name, func() error {
			return w.makeNamespace(ctx, w.runtime.Cluster(), name, nil)
		}))
	}
	return errors.Join(problems...)
}

func (w *scope) makeNamespace(ctx context.Context, cluster *apply.Cluster, name string, labels map[string]string) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetGroupVersionKind(namespaceKind)
	namespace.SetName(name)
	id := inventory.IDOf(namespace)
	_, err := get(ctx, cluster, namespace)
	if err == nil || !apierrors.IsNotFound(err) {
		return w.clusterProblem(id, err)
	}
	namespace.SetLabels(labels)
	resource, err := cluster.Resource(ctx, namespaceKind)
	if err == nil {
		objects := cluster.Dynamic.Resource(resource.GroupVersionResource)
		_, err = apply.Create(ctx, objects, resource, namespace, metav1.CreateOptions{FieldManager: "kyma-sync-context"})
	}
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return w.clusterProblem(id, err)
}

// createModuleCR creates the default custom resource once. A user may change or delete it afterwards. An existing one is accepted as it is,
// unless it is being deleted.
func (r *Reconciler) createModuleCR(ctx context.Context, w *scope) error {
	if !w.hasModuleCR() || w.moduleCRCreated() {
		return nil
	}
	object := w.moduleCR()
	id, cluster := inventory.IDOf(object), w.runtime.Cluster()
	resource, err := cluster.Resource(ctx, object.GroupVersionKind())
	if err != nil {
		return w.clusterProblem(id, fmt.Errorf("the default custom resource: %w", err))
	}
	if !resource.Namespaced {
		object.SetNamespace("")
	} else if err := r.ensureNamespaces(ctx, w); err != nil { // nothing else may have been applied in this pass
		return err
	}
	objects := cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(object.GetNamespace())
	found, err := apply.Create(ctx, objects, resource, object, metav1.CreateOptions{FieldManager: v1beta2.FieldManagerModuleCR})
	if apierrors.IsAlreadyExists(err) {
		if found, err = objects.Get(ctx, object.GetName(), metav1.GetOptions{}); err == nil && found.GetDeletionTimestamp() != nil {
			err = apply.Terminating(found) // its end wakes us
		}
	}
	if err != nil {
		if apply.Classify(err) == apply.ClassNamespaceMissing {
			w.runtime.ResetOnce("namespace/" + object.GetNamespace()) // it was deleted since
		}
		return w.clusterProblem(id, fmt.Errorf("the default custom resource: %w", err))
	}
	if cluster.Learn != nil {
		cluster.Learn(found)
	}
	w.setCondition(v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated, v1beta2.MessageModuleCRCreated)
	return nil
}

func (w *scope) moduleCR() *unstructured.Unstructured {
	object := w.manifest.Spec.Resource.DeepCopy()
	if object.GetName() == "" {
		object.SetName(w.manifest.Name)
	}
	if namespaced, known := w.runtime.Namespaced(object.GroupVersionKind()); object.GetNamespace() == "" && (namespaced || !known) {
		object.SetNamespace(v1beta2.RuntimeNamespace)
	}
	return object
}
