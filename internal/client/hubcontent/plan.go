package hubcontent

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Action is what an import does about one object.
type Action string

// The actions.
const (
	// Created: it is not there.
	Created Action = "created"
	// Continued: an earlier import has begun with it.
	Continued Action = "continued"
	// Unchanged: it is there as the export has it.
	Unchanged Action = "unchanged"
	// Overwritten: it was there with other content.
	Overwritten Action = "overwritten"
	// Differs: it is there with other content, and stays as it is.
	Differs Action = "differs"
	// Kept: it is the business of the hub's own manager, whose Kyma is there.
	Kept Action = "kept"
)

// step is what an import does about one object.
type step struct {
	id     ID
	want   *unstructured.Unstructured
	live   *unstructured.Unstructured // nil: there is none
	action Action
	// differs names the fields that differ.
	differs []string
	// owner is the Kyma of a Manifest, or the Manifest of an inventory; nil for others.
	owner *step
	// takesOver is the hub that a Kyma takes its runtime over from; empty: it does not.
	takesOver string
}

// pending reports whether the object is, or will be, suspended until everything is in.
func (s *step) pending() bool {
	return suspendable(s.id.Kind) && (s.action == Created || s.live != nil && isPending(s.live) && s.action != Kept)
}

// writes reports whether the object itself is written, as opposed to its status or its suspension.
func (s *step) writes() bool { return s.action == Created || s.action == Overwritten }

func isPending(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()[v1beta2.AnnotationImport] == v1beta2.ImportPending
}

// compile makes a step of each object, with its owner. live are the objects that are there.
func compile(content *Content, live map[ID]*unstructured.Unstructured) ([]*step, error) {
	steps, known := make([]*step, 0, len(content.Objects)), map[ID]*step{}
	for _, o := range content.Objects {
		s := &step{id: idOf(o), want: o, live: live[idOf(o)]}
		steps, known[s.id] = append(steps, s), s
	}
	inventories := map[ID]*step{}
	for _, s := range steps {
		if s.id.Kind != kindManifest {
			continue
		}
		shards, _, _ := unstructured.NestedStringSlice(s.want.Object, "status", "inventoryShards")
		for _, name := range shards {
			id := ID{kindSecret, s.id.Namespace, name}
			if known[id] == nil {
				return nil, fmt.Errorf("%s names %s, which holds a part of its inventory and is not in the export", s.id, id)
			}
			inventories[id] = s
		}
		if kyma := kymaOf(s.want); kyma != "" {
			if s.owner = known[ID{kindKyma, s.id.Namespace, kyma}]; s.owner == nil {
				return nil, fmt.Errorf("%s belongs to Kyma %s/%s, which is not in the export", s.id, s.id.Namespace, kyma)
			}
		}
	}
	for _, s := range steps {
		if at, _ := waveOf(s.want); waves[at].record {
			if s.owner = inventories[s.id]; s.owner == nil {
				return nil, fmt.Errorf("%s holds an inventory of no Manifest of the export", s.id)
			}
		}
	}
	return steps, nil
}

// decide sets the action of a step whose owner has one: steps come in the order of the waves.
//
//  1. A Kyma that is there, and that no import has suspended, is active: its Manifests are the manager's to write. One whose import was cut
//     off is completed.
//  2. What is not there is created.
//  3. What is the same stays, or its import is continued. A namespace that is there is the same.
//  4. What differs stays, unless it may be overwritten.
func (s *step) decide(overwrite bool) {
	switch active := s.owner != nil && s.owner.standsByItself(); {
	case active && s.live != nil && isPending(s.live):
		s.action = Continued
		return
	case active:
		s.action = Kept
		return
	case s.live == nil:
		s.action = Created
		return
	}
	s.differs = differences(s.want, s.live)
	switch {
	case s.live.GetDeletionTimestamp() != nil && s.id.Kind != kindNamespace:
		s.action, s.differs = Differs, []string{"it is being deleted: wait until it is gone"}
	case s.strayed():
		s.action, s.differs = Differs, []string{"it belongs to another object: wait until it is gone"}
	case len(s.differs) > 0 && overwrite:
		s.action = Overwritten
	case len(s.differs) > 0:
		s.action = Differs
	case isPending(s.live):
		s.action = Continued
	default:
		s.action = Unchanged
	}
}

// standsByItself reports whether an owner was there before this import, and is active: a Kyma, or a Manifest that its Kyma looks after.
func (s *step) standsByItself() bool {
	return s.action == Kept || s.live != nil && !isPending(s.live) && (s.id.Kind == kindKyma || s.id.Kind == kindManifest)
}

// strayed reports whether what is there belongs to an object that was there before, and goes with it.
func (s *step) strayed() bool {
	if s.owner == nil {
		return false
	}
	for _, reference := range s.live.GetOwnerReferences() {
		if s.owner.live != nil && reference.UID == s.owner.live.GetUID() {
			return false
		}
	}
	return true
}

// differences names the fields of an export that a cluster has otherwise. It names no content. The status does not count, nor do labels and
// annotations that the export does not have, nor the mark of a rollout, which has another UID here.
func differences(want, live *unstructured.Unstructured) []string {
	if want.GetKind() == kindNamespace {
		return nil
	}
	var found []string
	suspended := isPending(live)
	for _, key := range slices.Sorted(maps.Keys(want.GetLabels())) {
		held, there := live.GetLabels()[key]
		if key == v1beta2.LabelInventory || key == v1beta2.LabelSkipReconciliation && suspended {
			continue
		}
		if !there || held != want.GetLabels()[key] {
			found = append(found, "label "+key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want.GetAnnotations())) {
		held, there := live.GetAnnotations()[key]
		if key == v1beta2.AnnotationExportedFrom || key == v1beta2.AnnotationRollout && live.GetKind() == kindRelease {
			continue
		}
		if !there || held != want.GetAnnotations()[key] {
			found = append(found, "annotation "+key)
		}
	}
	for _, key := range contentFields(want, live) {
		found = append(found, differing(key, want.Object[key], live.Object[key])...)
	}
	return found
}

// contentFields are the fields of two objects beside metadata and status.
func contentFields(objects ...*unstructured.Unstructured) []string {
	fields := map[string]bool{}
	for _, o := range objects {
		for key := range o.Object {
			fields[key] = true
		}
	}
	for _, other := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(fields, other)
	}
	return slices.Sorted(maps.Keys(fields))
}

// differing names what differs below a field: of a spec the fields in it, and of a Secret no more than the field.
func differing(field string, want, live any) []string {
	if reflect.DeepEqual(want, live) {
		return nil
	}
	wanted, isMap := want.(map[string]any)
	held, both := live.(map[string]any)
	if !isMap || !both || field != "spec" {
		return []string{field}
	}
	fields := maps.Clone(wanted)
	maps.Copy(fields, held)
	var found []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !reflect.DeepEqual(wanted[key], held[key]) {
			found = append(found, field+"."+key)
		}
	}
	return found
}
