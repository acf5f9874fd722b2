package manifest

import (
	"context"
	"errors"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// definitions returns the kinds whose definitions are deleted with the module: they are in the inventory, carry the owner mark, must not be
// kept, and have no successor. Those that could not be read are returned in unseen.
func (r *Reconciler) definitions(
	ctx context.Context, w *scope, successor func(inventory.ID) string,
) (defined []apply.KindResource, unseen []module.Look, err error) {
	for _, entry := range w.recorded {
		if entry.GroupKind() != inventory.CRDKind || successor(entry.ID) != "" {
			continue
		}
		kind, err := r.definition(ctx, w, entry)
		_, silent := errors.AsType[*apply.Error](err) // it serves no version
		switch {
		case silent, apierrors.IsForbidden(err):
			_, group, _ := strings.Cut(entry.Name, ".")
			look := module.Look{Kind: schema.GroupVersionKind{Group: group, Kind: entry.Name}, Problem: conditions.Note(err.Error())}
			unseen = append(unseen, look)
		case err != nil:
			return nil, nil, w.clusterProblem(entry.ID, err)
		case kind != nil:
			defined = append(defined, *kind)
		}
	}
	return defined, unseen, nil
}

// definition reads what a recorded definition defines; nil where it is not deleted with the module, or cannot have objects. A definition
// that is unchanged according to the streams is not read again: its kind cannot change.
func (r *Reconciler) definition(ctx context.Context, w *scope, entry inventory.Entry) (*apply.KindResource, error) {
	live := w.runtime.Live(entry.ID)
	if kind, known := r.defined.get(w.key, live.UID); known && live.Presence == inventory.Present && live.Owner == w.owner() {
		if w.runtime.Kept(entry.ID) {
			return nil, nil
		}
		return &kind, nil
	}
	definition, err := w.runtime.Cluster().Dynamic.Resource(inventory.CRDResource).Get(ctx, entry.Name, metav1.GetOptions{})
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	marks := definition.GetAnnotations()
	if marks[v1beta2.AnnotationOwnedBy] != w.owner() || marks[apply.AnnotationKeep] == "true" || rejected(definition) {
		return nil, nil
	}
	kind, err := apply.DefinedKind(definition)
	if err != nil {
		return nil, err
	}
	r.defined.put(w.key, definition.GetUID(), kind)
	return &kind, nil
}

// definedKinds caches what definitions define while their Manifest waits to be deleted.
type definedKinds struct {
	mu    sync.Mutex
	known map[types.NamespacedName]map[types.UID]apply.KindResource
}

func (d *definedKinds) get(key types.NamespacedName, uid types.UID) (apply.KindResource, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kind, known := d.known[key][uid]
	return kind, known
}

func (d *definedKinds) put(key types.NamespacedName, uid types.UID, kind apply.KindResource) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = map[types.NamespacedName]map[types.UID]apply.KindResource{}
	}
	if d.known[key] == nil {
		d.known[key] = map[types.UID]apply.KindResource{}
	}
	d.known[key][uid] = kind
}

func (d *definedKinds) forget(key types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, key)
}
