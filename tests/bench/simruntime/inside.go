package simruntime

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// otherManager is the field manager of changes that are made from inside.
const otherManager = "somebody"

// insideLocked begins a write that no call was made for. The caller holds the lock.
func (r *Runtime) insideLocked(gvr schema.GroupVersionResource, namespace, name string) (*writing, error) {
	t := r.findLocked(gvr.GroupResource())
	if t == nil || t.kind.version(gvr.Version) == "" {
		return nil, fmt.Errorf("%s does not serve %s", r.Name(), gvr)
	}
	return &writing{runtime: r, table: t, version: gvr.Version, at: place{namespace, name}, manager: otherManager, by: true}, nil
}

// Objects lists a resource, in the order of namespace and name.
func (r *Runtime) Objects(gvr schema.GroupVersionResource) []*unstructured.Unstructured {
	defer r.lock()()
	w, err := r.insideLocked(gvr, "", "")
	if err != nil {
		return nil
	}
	var all []*unstructured.Unstructured
	for _, o := range w.table.sorted() {
		all = append(all, w.whole(o))
	}
	return all
}

// Get reads one object; nil when there is none.
func (r *Runtime) Get(gvr schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	defer r.lock()()
	w, err := r.insideLocked(gvr, namespace, name)
	if err != nil || w.table.objects[w.at] == nil {
		return nil
	}
	return w.whole(w.table.objects[w.at])
}

// whole returns an object with its managed fields.
func (w *writing) whole(o *object) *unstructured.Unstructured {
	d, err := w.open(o)
	if err != nil {
		return nil
	}
	d.Unstructured.SetManagedFields(d.managed)
	return &d.Unstructured
}

// Create makes an object, status included, as a user in the runtime does: no call, but a revision.
func (r *Runtime) Create(gvr schema.GroupVersionResource, obj *unstructured.Unstructured) error {
	defer r.lock()()
	w, err := r.insideLocked(gvr, obj.GetNamespace(), "")
	if err != nil {
		return err
	}
	_, err = w.createLocked(&document{Unstructured: *obj.DeepCopy()})
	return err
}

// Mutate changes an object, status included, as a user in the runtime does.
func (r *Runtime) Mutate(gvr schema.GroupVersionResource, namespace, name string, change func(*unstructured.Unstructured)) error {
	defer r.lock()()
	w, err := r.insideLocked(gvr, namespace, name)
	if err != nil {
		return err
	}
	live := w.table.objects[w.at]
	if live == nil {
		return apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	before, err := w.open(live)
	if err != nil {
		return err
	}
	after := before.copied()
	change(&after.Unstructured)
	_, err = w.updateLocked(live, before, after)
	return err
}

// Delete deletes an object as a user in the runtime does; finalizers count.
func (r *Runtime) Delete(gvr schema.GroupVersionResource, namespace, name string) error {
	defer r.lock()()
	w, err := r.insideLocked(gvr, namespace, name)
	if err != nil {
		return err
	}
	_, _, err = w.removeLocked(nil)
	return err
}
