package apply

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// replicasField is the path of the field that an autoscaler sets, as server-side apply writes it.
const replicasField = ".spec.replicas"

var autoscalerResource = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}

// scalers caches the targets of the autoscalers of each namespace, so that a run lists each namespace once.
type scalers struct {
	mutex      sync.Mutex
	namespaces map[string]func() (sets.Set[inventory.ID], error)
}

func (s *scalers) of(namespace string, list func() (sets.Set[inventory.ID], error)) (sets.Set[inventory.ID], error) {
	s.mutex.Lock()
	if s.namespaces == nil {
		s.namespaces = map[string]func() (sets.Set[inventory.ID], error){}
	}
	once, found := s.namespaces[namespace]
	if !found {
		once = sync.OnceValues(list)
		s.namespaces[namespace] = once
	}
	s.mutex.Unlock()
	return once()
}

// autoscaled reports whether an autoscaler in the content, or else in the cluster, targets the object.
func (r *run) autoscaled(ctx context.Context, id inventory.ID) (bool, error) {
	if r.Autoscaled != nil && r.Autoscaled(id) {
		return true, nil
	}
	targets, err := r.scalers.of(id.Namespace, func() (sets.Set[inventory.ID], error) { return r.scaledIn(ctx, id.Namespace) })
	if err != nil {
		why := "could not determine whether an autoscaler sets its replicas: " + explain(err, id)
		return false, &Error{ID: id, Class: Classify(err), Message: why}
	}
	return targets.Has(id), nil
}

// scaledIn returns the targets of the autoscalers in a namespace.
func (r *run) scaledIn(ctx context.Context, namespace string) (sets.Set[inventory.ID], error) {
	targets := sets.New[inventory.ID]()
	err := visit(ctx, r.Dynamic.Resource(autoscalerResource).Namespace(namespace), func(scaler *unstructured.Unstructured) bool {
		dropped := r.Autoscaled != nil && r.relation(r.mark(scaler)) == OwnerSelf && !kept(scaler)
		if !dropped && scaler.GetDeletionTimestamp() == nil {
			targets.Insert(targetOf(scaler))
		}
		return true
	})
	if apierrors.IsNotFound(err) { // a cluster without autoscaling/v2
		err = nil
	}
	return targets, err
}

func targetOf(scaler *unstructured.Unstructured) inventory.ID {
	reference := func(field string) string {
		text, _, _ := unstructured.NestedString(scaler.Object, "spec", "scaleTargetRef", field)
		return text
	}
	return inventory.ID{
		Group: schema.FromAPIVersionAndKind(reference("apiVersion"), "").Group, Kind: reference("kind"),
		Namespace: scaler.GetNamespace(), Name: reference("name"),
	}
}

// undeclaredReplicas reports whether the content leaves the replicas to an autoscaler: it holds one and declares no replicas. A server-side
// apply would remove replicas where we are still their only owner, and scale the workload down to 1 until the autoscaler reacts.
func (w *writing) undeclaredReplicas() bool {
	if w.Autoscaled == nil || !w.Autoscaled(w.id) {
		return false
	}
	_, declared, _ := unstructured.NestedFieldNoCopy(w.object.Object, "spec", "replicas")
	return !declared
}

// handOver returns the content to apply to such a workload: while no other manager has set the replicas, it declares the current number.
func (w *writing) handOver(live *unstructured.Unstructured, ours sets.Set[string]) *unstructured.Unstructured {
	replicas, found, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "replicas")
	if !found || !w.undeclaredReplicas() || !ownReplicas(live, ours) {
		return w.object
	}
	return withSpec(w.object, func(spec map[string]any) { spec["replicas"] = replicas })
}

// ownReplicas reports whether the given managers, and no other, have set the replicas of an object.
func ownReplicas(live *unstructured.Unstructured, managers sets.Set[string]) bool {
	own := false
	for _, entry := range live.GetManagedFields() {
		if !setsReplicas(entry) {
			continue
		}
		if !managers.Has(entry.Manager) || entry.Subresource != "" {
			return false
		}
		own = true
	}
	return own
}

func setsReplicas(entry metav1.ManagedFieldsEntry) bool {
	var fields struct {
		Spec struct {
			Replicas *struct{} `json:"f:replicas"`
		} `json:"f:spec"`
	}
	return entry.FieldsV1 != nil && json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil && fields.Spec.Replicas != nil
}

func withoutReplicas(obj *unstructured.Unstructured) *unstructured.Unstructured {
	return withSpec(obj, func(spec map[string]any) { delete(spec, "replicas") })
}

// withSpec returns a shallow copy of the object with a changed spec; the object itself is not changed.
func withSpec(obj *unstructured.Unstructured, change func(spec map[string]any)) *unstructured.Unstructured {
	spec, _ := obj.Object["spec"].(map[string]any)
	if spec = maps.Clone(spec); spec == nil {
		spec = map[string]any{}
	}
	change(spec)
	content := maps.Clone(obj.Object)
	content["spec"] = spec
	return &unstructured.Unstructured{Object: content}
}
