package manifest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func declare(kind, name string, more ...any) *unstructured.Unstructured {
	version := "v1"
	switch kind {
	case "Deployment":
		version = "apps/v1"
	case "CustomResourceDefinition":
		version = "apiextensions.k8s.io/v1"
	}
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name},
	}}
	if len(more) > 0 {
		o.Object["data"] = map[string]any{"value": more[0]}
	}
	return o
}

func part(name string, steps ...[]*unstructured.Unstructured) Part {
	return Part{Source: v1beta2.ResolvedSource{Name: name}, Steps: steps}
}

// arrange has the scope declare the objects of parts.
func arrange(t *testing.T, w *scope, parts ...Part) {
	t.Helper()
	if err := w.arrange(parts); err != nil {
		t.Fatal(err)
	}
	w.desired = w.order.Objects
}

func TestPlace(t *testing.T) {
	one, two := declare("ConfigMap", "one"), declare("ConfigMap", "two")
	for name, test := range map[string]struct {
		parts   []Part
		want    []string
		message string
	}{
		"installations keep their order, and steps theirs within one": {
			parts: []Part{part("a", []*unstructured.Unstructured{two}, []*unstructured.Unstructured{one}), part("b", []*unstructured.Unstructured{declare("ConfigMap", "three")})},
			want:  []string{"default/two", "default/one", "default/three"},
		},
		"what two installations declare alike counts once, where it comes first": {
			parts: []Part{part("a", []*unstructured.Unstructured{one}), part("b", []*unstructured.Unstructured{two, one})},
			want:  []string{"default/one", "default/two"},
		},
		"what they declare differently is refused, and both are named": {
			parts:   []Part{part("a", []*unstructured.Unstructured{one}), part("b", []*unstructured.Unstructured{declare("ConfigMap", "one", "x")})},
			message: "ConfigMap default/one is declared differently by a and b",
		},
		"an installation with a namespace of its own uses it": {
			parts: []Part{{Steps: [][]*unstructured.Unstructured{{one}}, Namespace: "own", CreateNamespace: true}, part("b", []*unstructured.Unstructured{one})},
			want:  []string{"own/one", "default/one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScope(newManifest(), testTime)
			w.runtime = &cluster{scopes: map[string]bool{"ConfigMap": true}}
			err := w.arrange(test.parts)
			if test.message != "" {
				if err == nil || !strings.Contains(err.Error(), test.message) {
					t.Errorf("error %v, want %q", err, test.message)
				}
				return
			}
			var got []string
			for _, o := range w.order.Objects {
				got = append(got, o.GetNamespace()+"/"+o.GetName())
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v, order (-want +got):\n%s", err, diff)
			}
			if made := len(w.namespaces); (made == 1) != (test.parts[0].CreateNamespace) {
				t.Errorf("%d namespaces are made", made)
			}
		})
	}
}

func TestBatches(t *testing.T) {
	w := newScope(newManifest(), testTime)
	w.runtime = &cluster{scopes: map[string]bool{"ConfigMap": true, "Deployment": true}}
	arrange(t, w,
		part("a", []*unstructured.Unstructured{declare("Deployment", "late"), declare("ConfigMap", "early")}, []*unstructured.Unstructured{declare("ConfigMap", "second")}),
		part("b", []*unstructured.Unstructured{declare("CustomResourceDefinition", "last.example.com")}))
	none := func(inventory.ID) inventory.Live { return inventory.Live{} }
	var got []string
	for _, turn := range w.order.Batches(inventory.Decide(nil, w.desired, none).Apply) {
		var names []string
		for _, step := range turn.Steps {
			names = append(names, step.Object.GetName())
		}
		got = append(got, strings.Join(names, "+"))
	}
	if diff := cmp.Diff([]string{"early", "late", "second", "last.example.com"}, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

func TestAct_WaitsForEarlierInstallations(t *testing.T) {
	w := newScope(newManifest(), testTime)
	c := &cluster{scopes: map[string]bool{"ConfigMap": true, "Deployment": true}, health: map[inventory.ID]health.Result{}}
	w.runtime, w.sources = c, []v1beta2.ResolvedSource{{Name: "first"}, {Name: "second"}}
	arrange(t, w,
		part("first", []*unstructured.Unstructured{declare("Deployment", "operator"), declare("ConfigMap", "plain")}),
		part("second", []*unstructured.Unstructured{declare("Deployment", "other")}))
	other := deploymentID
	other.Name = "other"
	c.health[other] = health.Result{Status: health.InProgress}
	const waits = "second waits for Deployment.apps default/operator: 0 of 1"
	for status, want := range map[health.Status]*passResult{
		health.InProgress: {state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForInstall, message: waits, parsed: true},
		health.Failed:     {state: v1beta2.StateError, reason: v1beta2.ReasonObjectFailed, message: waits, parsed: true},
		health.Ready:      nil,
	} {
		c.health[deploymentID] = health.Result{Status: status, Message: "0 of 1"}
		if got := newReconciler(t).awaitEarlierParts(w, 1); (want == nil) != (got == nil) || want != nil && *got != *want {
			t.Errorf("%s: %+v, want %+v", status, got, want)
		}
		if first := newReconciler(t).awaitEarlierParts(w, 0); first != nil {
			t.Errorf("the first one waits: %+v", first)
		}
	}
}

// No event would bring it back if it just waited to observe what cannot be observed.
func TestAct_ReportsUnobservableEarlierInstallation(t *testing.T) {
	w := newScope(newManifest(), testTime)
	hidden := &runtimes.Problem{Reason: v1beta2.ReasonRuntimeForbidden, Message: "list deployments", Retry: retryTransient}
	w.runtime = &cluster{
		scopes: map[string]bool{"Deployment": true}, health: map[inventory.ID]health.Result{deploymentID: {}}, hidden: hidden,
	}
	w.sources = []v1beta2.ResolvedSource{{Name: "first"}, {Name: "second"}}
	arrange(t, w, part("first", []*unstructured.Unstructured{declare("Deployment", "operator")}), part("second"))
	if got := newReconciler(t).awaitEarlierParts(w, 1); got == nil || got.reason != hidden.Reason || got.retry != hidden.Retry || got.state != v1beta2.StateError {
		t.Errorf("got %+v", got)
	}
}

func TestRenderDesired_RecordsResolvedSources(t *testing.T) {
	manifest := newManifest()
	r := newReconciler(t, manifest)
	source := v1beta2.ResolvedSource{Name: "raw-manifest", Reference: "ref", Digest: digest, Version: "1.2.3"}
	r.Content = &contents{parts: []Part{{Source: source, Steps: [][]*unstructured.Unstructured{{declare("ConfigMap", "one")}}}}}
	w := newScope(manifest, testTime)
	w.runtime = &cluster{scopes: map[string]bool{"ConfigMap": true}}
	if err := r.renderDesired(context.Background(), w); err != nil || len(w.desired) != 1 {
		t.Fatalf("%d objects, error %v", len(w.desired), err)
	}
	if len(w.manifest.Status.Resolved) > 0 {
		t.Error("the status tells what may still be refused")
	}
	r.recordResolved(w)
	if diff := cmp.Diff([]v1beta2.ResolvedSource{source}, w.manifest.Status.Resolved); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// Existing objects are restored, whatever the installations before it wait for.
func TestAct_RestoresObjectsOfWaitingInstallation(t *testing.T) {
	for name, test := range map[string]struct {
		status  health.Status
		refuse  string
		created []string
		reason  string
	}{
		"the first one is not ready yet":     {status: health.InProgress, created: []string{"lost"}, reason: v1beta2.ReasonWaitingForInstall},
		"the first one cannot be applied":    {status: health.Ready, refuse: "first", created: []string{"first", "lost"}, reason: v1beta2.ReasonRuntimeForbidden},
		"the first one is applied and ready": {status: health.Ready, created: []string{"first", "second", "lost"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects, entries := configMaps("first", "second", "lost")
			c := filled()
			c.health = map[inventory.ID]health.Result{entries[0].ID: {Status: test.status}}
			c.live = map[inventory.ID]inventory.Live{entries[2].ID: {Presence: inventory.Absent}}
			var created []string
			c.dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("create", "configmaps",
				func(action clienttesting.Action) (bool, runtime.Object, error) {
					made, _ := action.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
					created = append(created, made.GetName())
					if made.GetName() == test.refuse {
						return true, nil, apierrors.NewForbidden(mapsResource.GroupResource(), made.GetName(), nil)
					}
					return false, nil, nil
				})
			r, w := newReconciler(t), newScope(newManifest(), testTime)
			w.runtime, w.sources = c, []v1beta2.ResolvedSource{{Name: "a"}, {Name: "b"}}
			arrange(t, w, part("a", objects[:1]), part("b", objects[1:2], objects[2:]))
			w.recorded = entries[2:]
			if test.status == health.InProgress {
				w.recorded = []inventory.Entry{entries[0], entries[2]}
			}
			err := r.act(t.Context(), w, inventory.Decide(w.recorded, w.desired, c.Live), r.options(t.Context(), w))
			found, _ := r.failure(err)
			if diff := cmp.Diff(test.created, created); diff != "" || found.reason != test.reason {
				t.Errorf("error %v, want reason %q; creations (-want +got):\n%s", err, test.reason, diff)
			}
		})
	}
}

func TestAct_WaitsForProbesOfEarlierInstallations(t *testing.T) {
	for name, test := range map[string]struct {
		expression, want string
	}{
		"a probe that is false": {"false", "second waits for ConfigMap default/plain: probe green: paint it"},
		"a probe that is true":  {"true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScope(newManifest(func(m *v1beta2.Manifest) {
				m.Spec.Probes = []v1beta2.Probe{{Name: "green", Kind: "ConfigMap", Expression: test.expression, Message: "paint it"}}
			}), testTime)
			c := &cluster{scopes: map[string]bool{"ConfigMap": true}, objects: map[inventory.ID]*unstructured.Unstructured{}}
			w.runtime, w.sources = c, []v1beta2.ResolvedSource{{Name: "first"}, {Name: "second"}}
			arrange(t, w,
				part("first", []*unstructured.Unstructured{declare("ConfigMap", "plain")}), part("second", []*unstructured.Unstructured{declare("ConfigMap", "late")}))
			for _, object := range w.desired {
				w.recorded = append(w.recorded, entryOf(inventory.IDOf(object)))
				c.objects[inventory.IDOf(object)] = object
			}
			got := newReconciler(t).awaitEarlierParts(w, 1)
			if (got == nil) != (test.want == "") || got != nil && got.message != test.want {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
}
