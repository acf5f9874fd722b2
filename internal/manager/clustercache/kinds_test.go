package clustercache

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestChoose_SelectsKindsToWatch(t *testing.T) {
	ranked := func(kind string, change func(*watchPriority)) watchPriority {
		r := watchPriority{gk: schema.GroupKind{Group: "test", Kind: kind}, settled: true}
		if change != nil {
			change(&r)
		}
		return r
	}
	workload := func(r *watchPriority) { r.needs.health = true }
	moduleCR := func(r *watchPriority) { r.needs.state = true }
	copied := func(r *watchPriority) { r.needs.copies = true }
	sized := func(n int) func(*watchPriority) { return func(r *watchPriority) { r.count = n } }
	crd := watchPriority{gk: inventory.CRDKind, settled: true}

	cases := []struct {
		name  string
		kinds []watchPriority
		most  int
		want  []string
	}{
		{"none need none", nil, 8, nil},
		{"few kinds are all watched, even before they are listed",
			[]watchPriority{ranked("A", func(r *watchPriority) { r.settled = false }), ranked("B", nil)}, 2, []string{"A", "B"}},
		{"workloads come first, then module CRs, then CRDs, then the rest",
			[]watchPriority{ranked("Big", sized(99)), crd, ranked("Module", moduleCR), ranked("Workload", workload)}, 3,
			[]string{"CustomResourceDefinition", "Module", "Workload"}},
		{"a kind that is both counts as a workload",
			[]watchPriority{ranked("Both", func(r *watchPriority) { workload(r); moduleCR(r) }), ranked("A", workload), ranked("Module", moduleCR)}, 2, []string{"A", "Both"}},
		{"the larger of the rest", []watchPriority{ranked("A", sized(1)), ranked("B", sized(3)), ranked("C", sized(2))}, 2, []string{"B", "C"}},
		{"of equal ones the first by name, so that the choice is stable", []watchPriority{ranked("C", nil), ranked("A", nil), ranked("B", nil)}, 2, []string{"A", "B"}},
		{"one that is watched is not displaced by one a little larger",
			[]watchPriority{ranked("A", sized(10)), ranked("B", func(r *watchPriority) { r.count = 6; r.watched = true })}, 1, []string{"B"}},
		{"but by one twice as large", []watchPriority{ranked("A", sized(14)), ranked("B", func(r *watchPriority) { r.count = 6; r.watched = true })}, 1, []string{"A"}},
		{"the rest waits until all sizes are known",
			[]watchPriority{ranked("A", sized(5)), ranked("B", func(r *watchPriority) { r.settled = false }), ranked("W", workload)}, 2, []string{"W"}},
		{"what is watched goes on meanwhile",
			[]watchPriority{ranked("A", func(r *watchPriority) { r.count = 5; r.watched = true }), ranked("B", func(r *watchPriority) { r.settled = false }), ranked("W", workload)}, 2,
			[]string{"A", "W"}},
		{"the size of a workload does not matter",
			[]watchPriority{ranked("A", workload), ranked("B", func(r *watchPriority) { workload(r); r.count = 99 })}, 1, []string{"A"}},
		{"a kind that cannot be listed comes last",
			[]watchPriority{ranked("A", func(r *watchPriority) { workload(r); r.useless = true }), ranked("B", nil)}, 1, []string{"B"}},
		{"what the hub keeps everywhere takes no stream from what modules consist of",
			[]watchPriority{ranked("Copy", copied), ranked("Other", copied), ranked("Map", sized(3)), ranked("Workload", workload)}, 2,
			[]string{"Copy", "Map", "Other", "Workload"}},
		{"but it does when it cannot be listed",
			[]watchPriority{ranked("Copy", func(r *watchPriority) { copied(r); r.useless = true }), ranked("A", nil), ranked("B", nil)}, 2, []string{"A", "B"}},
		{"no streams at all", []watchPriority{ranked("A", workload)}, 0, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for gk := range choose(c.kinds, c.most) {
				got = append(got, gk.Kind)
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTrackSpec_CombinesNeeds(t *testing.T) {
	got := groupInterests([]runtimes.Interest{
		{GroupVersionKind: schema.GroupVersionKind{Group: "g", Version: "v1alpha1", Kind: "K"}, Mode: runtimes.ModuleCR},
		{GroupVersionKind: schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "K"}},
		{GroupVersionKind: schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "K"}, Mode: runtimes.Workload},
		{GroupVersionKind: schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Other"}},
	})
	want := map[schema.GroupKind]trackSpec{
		{Group: "g", Kind: "K"}:     {versions: []string{"v1", "v1alpha1"}, needs: readLevel{health: true, state: true}},
		{Group: "g", Kind: "Other"}: {versions: []string{"v1"}},
	}
	if !maps.EqualFunc(got, want, trackSpec.equal) {
		t.Fatalf("%+v, want %+v", got, want)
	}
}

func TestObjectPath(t *testing.T) {
	cases := []struct {
		path, group, resource, namespace, name string
		ok                                     bool
	}{
		{"/api/v1/namespaces/ns/configmaps/a", "", "configmaps", "ns", "a", true},
		{"/api/v1/namespaces/ns", "", "namespaces", "", "ns", true},
		{"/apis/apps/v1/namespaces/ns/deployments/a", "apps", "deployments", "ns", "a", true},
		{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b", "apiextensions.k8s.io", "customresourcedefinitions", "", "a.b", true},
		{"/apis/apps/v1/namespaces/ns/deployments", "", "", "", "", false},
		{"/apis/apps/v1/namespaces/ns/deployments/a/status", "", "", "", "", false},
		{"/version", "", "", "", "", false},
		{"/", "", "", "", "", false},
	}
	for _, c := range cases {
		group, resource, at, ok := objectPath(c.path)
		if ok != c.ok || ok && (group != c.group || resource != c.resource || at != placeOf(c.namespace, c.name)) {
			t.Errorf("%s: %s %s %v %v", c.path, group, resource, at, ok)
		}
	}
}
