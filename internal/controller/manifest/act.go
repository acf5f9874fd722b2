package manifest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// workers bounds the writes of one Manifest that are under way at once.
const workers = 8

var (
	crdKind       = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
)

// act applies the phases in order and prunes after a complete success. What was done is in w.recorded in any case.
func (r *Reconciler) act(ctx context.Context, w *work, decision inventory.Decision) error {
	if err := r.ensureNamespace(ctx, w); err != nil {
		return err
	}
	cluster, options := w.runtime.Cluster(), r.options(ctx, w)
	var bad []apply.Outcome
	for _, phase := range inventory.StepPhases(decision.Apply) {
		outcomes := cluster.Apply(ctx, phase, options)
		bad = append(bad, w.took(phase, outcomes)...)
		if lost(outcomes) {
			break
		}
		if pending := r.awaitCRDs(ctx, w, phase); pending != "" {
			return &stopped{
				state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForCRDs, message: pending, retry: retryTransient, parsed: true,
			}
		}
	}
	if len(bad) > 0 {
		return w.refused(ctx, bad)
	}
	return r.prune(ctx, w, decision.Prune, options)
}

func (r *Reconciler) options(ctx context.Context, w *work) apply.Options {
	ownership := apply.Ownership(w.manifest.Spec.Ownership)
	if ownership == "" {
		ownership = apply.Prevent
		if kymaOf(w.manifest) != nil {
			ownership = apply.AdoptIfUnowned
		}
	}
	return apply.Options{
		Manager:        v1beta2.FieldManagerModule,
		Owner:          w.owner(),
		OwnerKey:       v1beta2.AnnotationOwnedBy,
		Ownership:      ownership,
		Relation:       r.relation(ctx, w),
		Workers:        workers,
		Live:           w.runtime.Live,
		Heirs:          r.heirs(ctx, w),
		KeepNamespaces: []string{v1beta2.RuntimeNamespace},
	}
}

// took records what an apply did and returns what failed. A failed object is marked as planned, so that the next pass tries again.
func (w *work) took(steps []inventory.Step, outcomes []apply.Outcome) []apply.Outcome {
	var done []inventory.Entry
	var bad []apply.Outcome
	for i, outcome := range outcomes {
		entry := steps[i].Entry
		entry.Hash = ""
		if outcome.Err == nil {
			entry.Hash, entry.UID, entry.Fields = inventory.ContentHash(steps[i].Object), outcome.UID, outcome.Fields
		} else {
			w.runtime.Report(outcome.Err)
			if outcome.Class == apply.ClassNamespaceMissing {
				w.runtime.Again(namespaceOnce)
			}
			bad = append(bad, outcome)
		}
		done = append(done, entry)
	}
	w.recorded = inventory.Merge(w.recorded, done, nil)
	return bad
}

// lost tells that the cluster does not answer or does not let us in, so that trying the next phase is pointless.
func lost(outcomes []apply.Outcome) bool {
	return slices.ContainsFunc(outcomes, func(o apply.Outcome) bool {
		return o.Class == apply.ClassUnreachable || o.Class == apply.ClassUnauthorized
	})
}

// awaitCRDs waits a moment for definitions that were just applied, since what follows needs them. It usually takes some tens of
// milliseconds; what takes longer is left to the watch, and the name of the first is returned.
func (r *Reconciler) awaitCRDs(ctx context.Context, w *work, phase []inventory.Step) string {
	for _, step := range phase {
		if step.Entry.GroupKind() != crdKind {
			return ""
		}
		if found, ok := w.runtime.Health(step.Entry.ID); ok && found.Status == health.Ready {
			continue
		}
		established := func(ctx context.Context) (bool, error) {
			live, err := get(ctx, w.runtime.Cluster(), step.Object)
			return err == nil && health.Of(live).Status == health.Ready, nil
		}
		if wait.PollUntilContextTimeout(ctx, 25*time.Millisecond, time.Second, true, established) != nil {
			return step.Entry.String() + " is not yet established"
		}
	}
	return ""
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

// namespaceOnce is the errand of ensureNamespace. It is repeated when an object does not find its namespace.
const namespaceOnce = "namespace/" + v1beta2.RuntimeNamespace

// ensureNamespace makes the namespace that modules expect, once for each connection, before the first write.
func (r *Reconciler) ensureNamespace(ctx context.Context, w *work) error {
	if kymaOf(w.manifest) == nil {
		return nil
	}
	return w.runtime.Once(namespaceOnce, func() error { return w.makeNamespace(ctx) })
}

func (w *work) makeNamespace(ctx context.Context) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetGroupVersionKind(namespaceKind)
	namespace.SetName(v1beta2.RuntimeNamespace)
	id := inventory.IDOf(namespace)
	_, err := get(ctx, w.runtime.Cluster(), namespace)
	if err == nil || !apierrors.IsNotFound(err) {
		return w.clusterProblem(id, err)
	}
	namespace.SetLabels(map[string]string{
		"istio-injection": "enabled", "namespaces.warden.kyma-project.io/validate": "enabled",
		v1beta2.LabelManagedBy: v1beta2.ManagedByKyma,
	})
	resource := corev1.SchemeGroupVersion.WithResource("namespaces")
	_, err = w.runtime.Cluster().Dynamic.Resource(resource).Create(ctx, namespace, metav1.CreateOptions{FieldManager: "kyma-sync-context"})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return w.clusterProblem(id, err)
}

// prune deletes what is recorded and no longer asked for. It comes last, so that an upgrade never takes down what it could not replace.
func (r *Reconciler) prune(ctx context.Context, w *work, entries []inventory.Entry, options apply.Options) error {
	var waiting []apply.Outcome
	for _, wave := range inventory.Teardown(entries, nil) {
		waiting = append(waiting, w.delete(ctx, wave, options)...)
	}
	if len(waiting) == 0 {
		return nil
	}
	if firstError(waiting) != nil {
		return w.refused(ctx, waiting)
	}
	return nil // finalizers hold them; their deletion event brings us back
}

// delete deletes one wave and returns what is still there. Most objects are gone at once, so it looks again for a moment before it
// leaves the rest to the watch.
func (w *work) delete(ctx context.Context, wave []inventory.Entry, options apply.Options) []apply.Outcome {
	waiting := w.left(wave, w.runtime.Cluster().Delete(ctx, wave, w.runtime.Live, options))
	for pause := 20 * time.Millisecond; len(waiting) > 0 && firstError(waiting) == nil && pause < 500*time.Millisecond; pause *= 3 {
		select {
		case <-ctx.Done():
			return waiting
		case <-time.After(pause):
		}
		wave = slices.DeleteFunc(slices.Clone(wave), func(entry inventory.Entry) bool {
			return !slices.ContainsFunc(waiting, func(o apply.Outcome) bool { return o.ID == entry.ID })
		})
		waiting = w.left(wave, w.runtime.Cluster().Delete(ctx, wave, nil, options))
	}
	return waiting
}

// left records what a delete did and returns what is still there, marked so that the next pass deletes it again.
func (w *work) left(entries []inventory.Entry, outcomes []apply.Outcome) []apply.Outcome {
	var gone []inventory.ID
	var still []inventory.Entry
	var waiting []apply.Outcome
	for i, outcome := range outcomes {
		if outcome.Action == apply.Gone || outcome.Action == apply.Kept {
			gone = append(gone, outcome.ID)
			continue
		}
		if outcome.Err != nil {
			w.runtime.Report(outcome.Err)
		}
		entry := entries[i]
		entry.Hash = ""
		still = append(still, entry)
		waiting = append(waiting, outcome)
	}
	w.recorded = inventory.Merge(w.recorded, still, gone)
	return waiting
}

// createModuleCR creates the default custom resource once. A user may change or delete it afterwards.
func (r *Reconciler) createModuleCR(ctx context.Context, w *work) error {
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
	}
	created, err := cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(object.GetNamespace()).
		Create(ctx, object, metav1.CreateOptions{FieldManager: v1beta2.FieldManagerModuleCR})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return w.clusterProblem(id, fmt.Errorf("the default custom resource: %w", err))
	}
	if err == nil && cluster.Learn != nil {
		cluster.Learn(created)
	}
	w.setCondition(v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated, v1beta2.MessageModuleCRCreated)
	return nil
}

func (w *work) moduleCR() *unstructured.Unstructured {
	object := w.manifest.Spec.Resource.DeepCopy()
	if object.GetName() == "" {
		object.SetName(w.manifest.Name)
	}
	if namespaced, known := w.runtime.Namespaced(object.GroupVersionKind()); object.GetNamespace() == "" && (namespaced || !known) {
		object.SetNamespace(v1beta2.RuntimeNamespace)
	}
	return object
}

// heirs finds another Manifest of the same Kyma that lists an object too: it takes the object over instead of losing it. What it returns is
// called by several workers at once.
func (r *Reconciler) heirs(ctx context.Context, w *work) func(inventory.ID) string {
	claims := sync.OnceValue(func() map[inventory.ID]string { return r.siblingClaims(ctx, w) })
	return func(id inventory.ID) string { return claims()[id] }
}

func (r *Reconciler) siblingClaims(ctx context.Context, w *work) map[inventory.ID]string {
	claims := map[inventory.ID]string{}
	list := &v1beta2.ManifestList{}
	err := r.Client.List(ctx, list, client.InNamespace(w.key.Namespace), client.UnsafeDisableDeepCopy,
		client.MatchingFields{indexKyma: w.manifest.Labels[v1beta2.LabelKymaName]})
	if err != nil {
		return claims // our time is up, and the calls that would need an answer fail for the same reason
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.UID == w.manifest.UID || !other.DeletionTimestamp.IsZero() || !sameKyma(w.manifest, other) {
			continue
		}
		entries, err := r.loadInventory(ctx, other)
		if err != nil {
			entries = fromStatus(other.Status.Synced) // that Manifest tells what is wrong, and makes again what it then misses
		}
		for _, entry := range entries {
			claims[entry.ID] = other.Namespace + "/" + other.Name
		}
	}
	return claims
}
