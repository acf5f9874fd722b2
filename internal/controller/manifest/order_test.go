package manifest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
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
			w := newWork(newManifest(), testTime)
			w.runtime = &cluster{scopes: map[string]bool{"ConfigMap": true}}
			placed, err := w.place(test.parts)
			if test.message != "" {
				if err == nil || !strings.Contains(err.Error(), test.message) {
					t.Errorf("error %v, want %q", err, test.message)
				}
				return
			}
			var got []string
			for _, o := range placed {
				got = append(got, o.GetNamespace()+"/"+o.GetName())
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v, order (-want +got):\n%s", err, diff)
			}
			if made := len(w.order.namespaces); (made == 1) != (test.parts[0].CreateNamespace) {
				t.Errorf("%d namespaces are made", made)
			}
		})
	}
}

func TestTurns(t *testing.T) {
	w := newWork(newManifest(), testTime)
	w.runtime = &cluster{scopes: map[string]bool{"ConfigMap": true, "Deployment": true}}
	desired, err := w.place([]Part{
		part("a", []*unstructured.Unstructured{declare("Deployment", "late"), declare("ConfigMap", "early")}, []*unstructured.Unstructured{declare("ConfigMap", "second")}),
		part("b", []*unstructured.Unstructured{declare("CustomResourceDefinition", "last.example.com")}),
	})
	if err != nil {
		t.Fatal(err)
	}
	none := func(inventory.ID) inventory.Live { return inventory.Live{} }
	var got []string
	for _, turn := range w.order.turns(inventory.Decide(nil, desired, none).Apply) {
		var names []string
		for _, step := range turn.steps {
			names = append(names, step.Object.GetName())
		}
		got = append(got, strings.Join(names, "+"))
	}
	if diff := cmp.Diff([]string{"early", "late", "second", "last.example.com"}, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

func TestALaterInstallationWaitsForTheOnesBefore(t *testing.T) {
	w := newWork(newManifest(), testTime)
	c := &cluster{scopes: map[string]bool{"ConfigMap": true, "Deployment": true}, health: map[inventory.ID]health.Result{}}
	w.runtime, w.sources = c, []v1beta2.ResolvedSource{{Name: "first"}, {Name: "second"}}
	var err error
	w.desired, err = w.place([]Part{
		part("first", []*unstructured.Unstructured{declare("Deployment", "operator"), declare("ConfigMap", "plain")}),
		part("second", []*unstructured.Unstructured{declare("Deployment", "other")}),
	})
	if err != nil {
		t.Fatal(err)
	}
	other := deploymentID
	other.Name = "other"
	c.health[other] = health.Result{Status: health.InProgress}
	for status, want := range map[health.Status]string{
		health.InProgress: "second waits for Deployment.apps default/operator: 0 of 1", health.Ready: "",
	} {
		c.health[deploymentID] = health.Result{Status: status, Message: "0 of 1"}
		got := w.gate(1)
		if (want == "") != (got == nil) || got != nil && (got.message != want || got.reason != v1beta2.ReasonWaitingForInstall) {
			t.Errorf("%s: %+v, want %q", status, got, want)
		}
		if first := w.gate(0); first != nil {
			t.Errorf("the first one waits: %+v", first)
		}
	}
}

func TestWantRecordsWhatWasResolved(t *testing.T) {
	manifest := newManifest()
	r := newReconciler(t, manifest)
	source := v1beta2.ResolvedSource{Name: "raw-manifest", Reference: "ref", Digest: digest, Version: "1.2.3"}
	r.Content = &contents{parts: []Part{{Source: source, Steps: [][]*unstructured.Unstructured{{declare("ConfigMap", "one")}}}}}
	w := newWork(manifest, testTime)
	w.runtime = &cluster{scopes: map[string]bool{"ConfigMap": true}}
	if err := r.want(context.Background(), w); err != nil || len(w.desired) != 1 {
		t.Fatalf("%d objects, error %v", len(w.desired), err)
	}
	if diff := cmp.Diff([]v1beta2.ResolvedSource{source}, w.manifest.Status.Resolved); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}
