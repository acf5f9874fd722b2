package simruntime

import (
	"errors"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// applyLocked returns a server-side apply: of a new object when there is none. The caller holds the lock.
func (w *writing) applyLocked(data []byte, live *object, force bool) (*object, error) {
	patch, err := readSent(data)
	if err != nil {
		return nil, err
	}
	if len(patch.managed) > 0 {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	if err := w.identify(patch); err != nil && (live == nil || !apierrors.IsForbidden(err)) {
		return nil, err
	}
	before := w.empty()
	if live != nil {
		if before, err = w.open(live); err != nil {
			return nil, err
		}
	} else if uid := patch.GetUID(); uid != "" {
		return nil, apierrors.NewConflict(w.table.kind.gr(), w.at.name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	after, err := w.merged(before, patch, force)
	if err != nil {
		return nil, err
	}
	if live == nil {
		if err := w.check(after); err != nil {
			return nil, err
		}
		w.born(after)
		return w.commitLocked(nil, nil, after)
	}
	if err := w.sameObject(live, before, after); err != nil {
		return nil, err
	}
	w.keep(before, after)
	return w.settle(live, before, after)
}

// merged returns what the library makes of an object and what is applied to it.
func (w *writing) merged(before, patch *document, force bool) (*document, error) {
	fields, err := w.table.kind.fields(w.version, w.subresource)
	if err != nil {
		return nil, err
	}
	obj, err := fields.Apply(before, patch, w.manager, force)
	if err != nil {
		return nil, err
	}
	after, ok := obj.(*document)
	if !ok {
		return nil, errors.New("what was applied became no object")
	}
	if after.Object == nil { // nothing differs
		after.Object = maps.Clone(before.Object)
	}
	after.Object = maps.Clone(after.Object)
	return after, nil
}
