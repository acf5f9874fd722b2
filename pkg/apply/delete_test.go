package apply

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// recordedAs returns an inventory entry for an object, with the UID that it has or had.
func recordedAs(obj *unstructured.Unstructured) inventory.Entry {
	return inventory.Entry{ID: inventory.IDOf(obj), Version: obj.GroupVersionKind().Version, UID: obj.GetUID(), Hash: "x"}
}

// delete deletes one entry; seen is the state in the watch streams.
func (f *fixture) delete(entry inventory.Entry, seen inventory.Live) Outcome {
	return f.cluster.Delete(f.Context(), []inventory.Entry{entry}, func(inventory.ID) inventory.Live { return seen }, f.opts)[0]
}

func TestDelete(t *testing.T) {
	unknown := func(f *fixture, _ *unstructured.Unstructured) inventory.Live { return inventory.Live{} }
	watched := func(f *fixture, obj *unstructured.Unstructured) inventory.Live { return f.live(obj) }
	behind := func(*fixture, *unstructured.Unstructured) inventory.Live {
		return inventory.Live{Presence: inventory.Absent}
	}
	for _, test := range []struct {
		name    string
		owner   string
		seen    func(*fixture, *unstructured.Unstructured) inventory.Live
		prepare func(*fixture, *unstructured.Unstructured)
		action  Action
		calls   []string
		left    bool
	}{
		{"ours, as a stream shows: one call", mine, watched, nil, Deleted, []string{"delete configmaps"}, false},
		{"ours, of a kind without a stream: read first", mine, unknown, nil, Deleted, []string{"delete configmaps", "get configmaps"}, false},
		{"one whose mark was removed is kept", "", watched, nil, Kept, []string{"get configmaps"}, true},
		{"one that a sibling took over is kept", sibling, watched, nil, Kept, []string{"get configmaps"}, true},
		{"a foreign owner's is kept", stranger, unknown, nil, Kept, []string{"get configmaps"}, true},
		{"one of an owner that is gone is kept", gone, unknown, nil, Kept, []string{"get configmaps"}, true},
		{"one that a stream saw deleted is read before it counts as gone", mine, watched,
			func(f *fixture, obj *unstructured.Unstructured) { f.remove(obj) }, Gone, []string{"get configmaps"}, false},
		{"one that a stream does not know of, since the answer of its creation was lost in an outage, goes", mine, behind,
			nil, Deleted, []string{"delete configmaps", "get configmaps"}, false},
		{"one that was deleted unnoticed is gone", mine, unknown,
			func(f *fixture, obj *unstructured.Unstructured) { f.remove(obj) }, Gone, []string{"get configmaps"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onServer(t)
			obj := f.exists(f.marked(f.configMap("config", "a=1"), test.owner), manager)
			if test.prepare != nil {
				test.prepare(f, obj)
			}
			seen := test.seen(f, obj)
			f.costs(test.calls, func() { f.is(f.delete(recordedAs(obj), seen), test.action, "") })
			if left := f.get(obj) != nil; left != test.left {
				t.Errorf("left: %t", left)
			}
		})
	}
}

func TestDeleteOfAReplacedObject(t *testing.T) {
	for _, test := range []struct {
		name   string
		owner  string
		action Action
		calls  []string
	}{
		{"another user's is kept", stranger, Kept, []string{"delete configmaps", "get configmaps"}},
		{"an unmarked one is kept", "", Kept, []string{"delete configmaps", "get configmaps"}},
		{"one with our mark is ours", mine, Deleted, []string{"delete configmaps", "get configmaps", "delete configmaps"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onServer(t)
			first := f.exists(f.configMap("config", "a=1"), manager)
			seen := f.live(first)
			f.remove(first)
			f.exists(f.marked(f.configMap("config", "theirs=1"), test.owner), "somebody")
			f.costs(test.calls, func() { f.is(f.delete(recordedAs(first), seen), test.action, "") })
		})
	}
}

func TestDeleteByContentNoticesAChangeInBetween(t *testing.T) {
	f := onServer(t)
	obj := f.exists(f.configMap("config", "a=1"), manager)
	interfered := false
	f.before = func(request *http.Request) {
		if request.Method == http.MethodDelete && !interfered {
			interfered = true
			f.edit(obj, "somebody", "{metadata: {annotations: {"+ownerKey+": "+sibling+"}}}")
		}
	}
	f.costs([]string{"get configmaps", "delete configmaps", "get configmaps"}, func() {
		f.is(f.delete(recordedAs(obj), inventory.Live{}), Kept, "")
	})
	if f.get(obj) == nil {
		t.Error("deleted what a sibling had taken over")
	}
}

func TestFinalizersHoldWhatIsDeleted(t *testing.T) {
	f := onServer(t)
	obj := f.configMap("config", "a=1")
	obj.SetFinalizers([]string{"example.org/hold"})
	obj = f.exists(obj, manager)
	entry := recordedAs(obj)

	f.costs([]string{"delete configmaps"}, func() { f.is(f.delete(entry, f.live(obj)), Deleted, "") })
	f.costs(nil, func() { f.is(f.delete(entry, f.live(obj)), Deleted, "") })
	f.costs([]string{"get configmaps"}, func() { f.is(f.delete(entry, inventory.Live{}), Deleted, "") })

	steps := newSteps(f.configMap("config", "a=2"))
	f.costs([]string{"create configmaps", "get configmaps"}, func() {
		outcome := f.cluster.Apply(t.Context(), steps, f.opts)[0]
		f.is(outcome, Failed, ClassConflict)
		if !strings.Contains(outcome.Err.Error(), "example.org/hold") {
			t.Errorf("the finalizer is not named: %v", outcome.Err)
		}
	})

	f.edit(obj, "holder", "{metadata: {finalizers: null}}")
	f.costs([]string{"get configmaps"}, func() { f.is(f.delete(entry, f.live(obj)), Gone, "") })
}

func TestHeirTakesOver(t *testing.T) {
	for _, test := range []struct {
		name  string
		blind bool
		calls []string
	}{
		{"one call where a stream has the object", false, []string{"patch configmaps"}},
		{"two calls where none does", true, []string{"get configmaps", "patch configmaps"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := &installation{fixture: onServer(t)}
			object := i.configMap("config", "a=1", "b=1")
			i.installs(Created, object)
			i.opts.Successor = func(id inventory.ID) string { return sibling }
			seen := i.live(object)
			if test.blind {
				seen = inventory.Live{}
			}
			i.costs(test.calls, func() { i.is(i.delete(i.entry(object), seen), Kept, "") })
			if live := i.get(object); live.GetAnnotations()[ownerKey] != sibling || valueAt(live, "data") != "map[a:1 b:1]" {
				t.Errorf("left as %s of %q", valueAt(live, "data"), live.GetAnnotations()[ownerKey])
			}
			if len(i.learned) != 2 {
				t.Errorf("learned %d objects of 2 writes", len(i.learned))
			}

			successor := &installation{fixture: i.fixture}
			successor.opts.Owner = sibling
			live := successor.installs(Updated, i.marked(i.configMap("config", "a=2"), sibling))
			if valueAt(live, "data") != "map[a:2]" {
				t.Errorf("the successor's content is %s", valueAt(live, "data"))
			}
			successor.rests(i.marked(i.configMap("config", "a=2"), sibling))
		})
	}
}

func TestHeirOfAReplacedObjectGetsNothing(t *testing.T) {
	f := onServer(t)
	first := f.exists(f.configMap("config", "a=1"), manager)
	seen := f.live(first)
	f.remove(first)
	f.opts.Successor = func(inventory.ID) string { return sibling }
	f.costs([]string{"patch configmaps"}, func() { f.is(f.delete(recordedAs(first), seen), Gone, "") })

	second := f.exists(f.marked(f.configMap("config", "theirs=1"), stranger), "somebody")
	f.costs([]string{"patch configmaps", "get configmaps"}, func() { f.is(f.delete(recordedAs(first), seen), Kept, "") })
	if owner := f.get(second).GetAnnotations()[ownerKey]; owner != stranger {
		t.Errorf("marked as %q", owner)
	}
}

func TestNamespacesOfOthersAreKept(t *testing.T) {
	f := onServer(t)
	kept := f.object("{apiVersion: v1, kind: Namespace, metadata: {name: " + f.namespace + "}}")
	f.opts.KeepNamespaces = []string{f.namespace}
	f.costs(nil, func() { f.is(f.delete(recordedAs(kept), inventory.Live{}), Kept, "") })
}

func TestObjectsOfAKindThatIsNoLongerServedAreGone(t *testing.T) {
	f := onServer(t)
	entry := inventory.Entry{ID: inventory.ID{Group: "nowhere.io", Kind: "Thing", Namespace: f.namespace, Name: "a"}, Version: "v1"}
	f.costs(nil, func() { f.is(f.delete(entry, inventory.Live{}), Gone, "") })
}

func TestDelete_WhatWasPlannedWithoutTheNamespaceThatItsKindNeedsIsGone(t *testing.T) {
	f := onServer(t)
	entry := inventory.Entry{ID: inventory.ID{Kind: "ConfigMap", Name: "planned"}, Version: "v1"}
	f.costs(nil, func() { f.is(f.delete(entry, inventory.Live{}), Gone, "") })
}

func TestObjectIsDeletedUnderAnotherVersionThanRecorded(t *testing.T) {
	f := onServer(t)
	obj := f.exists(f.object(deployment), manager)
	entry := recordedAs(obj)
	entry.Version = "v1beta1"
	f.costs([]string{"delete deployments.apps"}, func() { f.is(f.delete(entry, f.live(obj)), Deleted, "") })
}

// Kinds of Kubernetes are addressed without checking that their version is served, and other kinds may be defined by others. An object that
// is not served in the recorded version is looked for in all other versions before it counts as gone.
func TestObjectOfAVersionThatIsNoLongerServed(t *testing.T) {
	for _, test := range []struct {
		name     string
		versions []string
		failure  error
		action   Action
		class    Class
		left     bool
	}{
		{"is deleted in another version", []string{"v1beta1", "v1"}, nil, Deleted, "", false},
		{"is gone when the kind is served in none", nil, nil, Gone, "", true},
		{"stays recorded while that cannot be determined", nil, errors.New("the group does not answer"), Failed, ClassInternal, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onServer(t)
			obj := f.exists(f.object(deployment), manager)
			f.cluster.Resource = func(_ context.Context, gvk schema.GroupVersionKind) (Resource, error) {
				return Resource{GroupVersionResource: gvk.GroupVersion().WithResource("deployments"), Namespaced: true}, nil
			}
			f.cluster.Versions = func(context.Context, schema.GroupKind) ([]string, error) { return test.versions, test.failure }
			entry := recordedAs(obj)
			entry.Version = "v1beta1"
			f.is(f.delete(entry, inventory.Live{Presence: inventory.Absent}), test.action, test.class)
			f.cluster.Resource = f.resource
			if left := f.get(obj) != nil; left != test.left {
				t.Errorf("left: %t", left)
			}
		})
	}
}

func TestDeleteInAMissingNamespaceIsGone(t *testing.T) {
	f := onServer(t)
	obj := f.configMap("config")
	obj.SetNamespace("missing-" + f.namespace)
	outcomes := f.cluster.Delete(t.Context(), []inventory.Entry{recordedAs(obj)}, nil, f.opts)
	f.is(outcomes[0], Gone, "")
}
