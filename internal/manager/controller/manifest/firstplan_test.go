package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// partsOf returns one installation of objects.
func partsOf(objects ...*unstructured.Unstructured) []Part {
	return []Part{{Source: v1beta2.ResolvedSource{Name: "raw-manifest", Digest: digest}, Steps: [][]*unstructured.Unstructured{objects}}}
}

// newborn returns a Manifest of a Kyma that no pass has looked at.
func newborn(change ...func(*v1beta2.Manifest)) *v1beta2.Manifest {
	return newManifest(append([]func(*v1beta2.Manifest){ofKyma("kyma", "kyma-uid"), func(m *v1beta2.Manifest) {
		m.Generation, m.Annotations, m.Spec.TargetNamespace = 1, map[string]string{}, "target"
	}}, change...)...)
}

// planned is newborn with the plan of a Planner.
func planned(t *testing.T, objects ...*unstructured.Unstructured) *v1beta2.Manifest {
	t.Helper()
	manifest := newborn()
	plan := NewPlanner(&contents{parts: partsOf(objects...)}).Plan(t.Context(), manifest)
	if plan == "" {
		t.Fatal("there is no plan")
	}
	manifest.Annotations[v1beta2.AnnotationPlan] = plan
	return manifest
}

func TestPlanner_SavesTheFirstPassItsPlan(t *testing.T) {
	objects := []*unstructured.Unstructured{
		object("v1", "ConfigMap", "a"), object("v1", "Namespace", "space"), object("apps/v1", "Deployment", "operator"),
	}
	manifest := planned(t, objects...)
	r := newReconciler(t, manifest)
	r.Content = &contents{parts: partsOf(objects...)}
	w := newScope(manifest, testTime)
	w.runtime = &cluster{scopes: map[string]bool{"ConfigMap": true, "Deployment": true, "Namespace": false}}
	var err error
	if w.recorded, err = r.loadInventory(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	if err := r.renderDesired(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	decision := inventory.Decide(w.recorded, w.desired, w.runtime.Live)
	if len(decision.Apply) != 3 || len(decision.Prune) > 0 {
		t.Errorf("applies %d and prunes %v", len(decision.Apply), decision.Prune)
	}
	w.expect(decision.Apply)
	for _, step := range decision.Apply {
		if step.Why != inventory.WhyNew {
			t.Errorf("%s counts as %s: it would not be created", step.Entry.ID, step.Why)
		}
	}
	if err := r.plan(t.Context(), w, decision.Apply); err != nil {
		t.Fatal(err)
	}
	if after := stored(t, r, manifest); len(after.Status.Synced) > 0 || after.Status.State != "" {
		t.Errorf("the plan was written a second time: %+v", after.Status)
	}
}

func TestPlanner_HasNoPlan(t *testing.T) {
	many, long := make([]*unstructured.Unstructured, 0, mostPlanned+1), make([]*unstructured.Unstructured, 0, mostPlanned)
	for i := range cap(many) {
		many = append(many, object("v1", "ConfigMap", fmt.Sprintf("map-%d", i)))
	}
	for i := range cap(long) {
		long = append(long, object("v1", "ConfigMap", fmt.Sprintf("%x%x%x", scatter(i), scatter(i+1000), scatter(i+2000))))
	}
	for name, content := range map[string]Content{
		"where the content cannot be read":                  failing{&contents{}},
		"where only the runtime knows a namespace":          &contents{parts: partsOf(object("example.com/v1", "Sample", "a"))},
		"where there are many objects":                      &contents{parts: partsOf(many...)},
		"where it is longer than an annotation should be":   &contents{parts: partsOf(long...)},
		"where there is nothing to install":                 &contents{parts: partsOf()},
		"where the objects depend on what the runtime says": runtimeBound{&contents{parts: partsOf(object("v1", "ConfigMap", "a"))}},
	} {
		if plan := NewPlanner(content).Plan(t.Context(), newborn()); plan != "" {
			t.Errorf("%s: got one of %d bytes", name, len(plan))
		}
	}
	content := &contents{parts: partsOf(object("v1", "ConfigMap", "a"))}
	if plan := NewPlanner(content).Plan(t.Context(), newborn(byAccount("tenant"))); plan != "" {
		t.Error("by an account whose rights nothing has looked at: got one")
	}
}

// scatter returns bytes of a number that do not compress.
func scatter(i int) []byte {
	sum := sha256.Sum256(fmt.Append(nil, i))
	return sum[:]
}

// failing is content that cannot be read.
type failing struct{ *contents }

func (failing) Parts(context.Context, *v1beta2.Manifest, func(context.Context) (runtimes.Capabilities, error)) ([]Part, error) {
	return nil, errors.New("the registry is away")
}

// runtimeBound is content that depends on the runtime's capabilities.
type runtimeBound struct{ *contents }

func (a runtimeBound) Parts(
	ctx context.Context, _ *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error),
) ([]Part, error) {
	_, err := capabilities(ctx)
	return a.parts, err
}

func TestFirstPlan_CountsUntilAStatusIsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1beta2.Manifest)
		counts bool
	}{
		"a new Manifest":                            {func(*v1beta2.Manifest) {}, true},
		"one that is being deleted":                 {func(m *v1beta2.Manifest) { m.Generation = 2 }, true},
		"one with a status":                         {func(m *v1beta2.Manifest) { m.Status.ObservedGeneration = 1 }, false},
		"one with an inventory of a pass cut short": {func(m *v1beta2.Manifest) { m.Status.Synced = []v1beta2.Resource{{Name: "a"}} }, false},
		"one with an inventory in Secrets":          {func(m *v1beta2.Manifest) { m.Status.InventoryShards = []string{"a"} }, false},
		"one of no Kyma":                            {func(m *v1beta2.Manifest) { m.OwnerReferences = nil }, false},
	} {
		manifest := planned(t, object("v1", "ConfigMap", "a"))
		test.change(manifest)
		if got := hasFirstPlan(manifest); got != test.counts {
			t.Errorf("%s: counts is %t", name, got)
		}
	}
}

func TestFirstPlan_IsReadAsPlannedOnly(t *testing.T) {
	r := newReconciler(t)
	manifest := planned(t, object("v1", "ConfigMap", "a"))
	forged := inventory.Encode([]inventory.Entry{entryOf(accountID)})
	manifest.Annotations[v1beta2.AnnotationPlan] = base64.StdEncoding.EncodeToString(forged)
	entries, err := r.loadInventory(t.Context(), manifest)
	if want := []inventory.Entry{{ID: accountID, Version: "v1"}}; err != nil || !slices.Equal(entries, want) {
		t.Errorf("got %+v, %v, want %+v", entries, err, want)
	}
	for _, damaged := range []string{"%", "aGVsbG8="} {
		manifest.Annotations[v1beta2.AnnotationPlan] = damaged
		_, err := r.loadInventory(t.Context(), manifest)
		if problem := problemOf(err); problem == nil || problem.Reason != v1beta2.ReasonInventoryUnreadable ||
			!strings.Contains(problem.Message, v1beta2.AnnotationPlan) {
			t.Errorf("%q: got %v", damaged, err)
		}
	}
}
