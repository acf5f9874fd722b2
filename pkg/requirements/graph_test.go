package requirements_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name   string
		graph  requirements.Graph
		order  []string
		cycles [][]string
	}{
		{"nothing", nil, nil, nil},
		{"what is required comes first", requirements.Graph{"a": {"b"}, "b": {"c"}}, []string{"c", "b", "a"}, nil},
		{"a diamond", requirements.Graph{"d": {"b", "c"}, "b": {"a"}, "c": {"a"}, "a": nil}, []string{"a", "b", "c", "d"}, nil},
		{"a circle", requirements.Graph{"a": {"b"}, "b": {"a"}, "c": {"a"}}, []string{"a", "b", "c"}, [][]string{{"a", "b", "a"}}},
		{"a module that requires itself", requirements.Graph{"a": {"a"}}, []string{"a"}, [][]string{{"a", "a"}}},
		{"two circles", requirements.Graph{"a": {"b"}, "b": {"c"}, "c": {"a"}, "x": {"y", "a"}, "y": {"x"}},
			[]string{"a", "b", "c", "x", "y"}, [][]string{{"a", "b", "c", "a"}, {"x", "y", "x"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			order, cycles := requirements.Order(test.graph)
			if diff := cmp.Diff(test.order, order); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.cycles, cycles); diff != "" {
				t.Errorf("circles (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGraph_EachModuleKnowsItsCircle(t *testing.T) {
	graph := requirements.Graph{"a": {"b"}, "b": {"a", "c"}, "c": {"b"}, "d": {"a"}}
	for module, want := range map[string][]string{"a": {"a", "b", "a"}, "b": {"b", "a", "b"}, "c": {"c", "b", "c"}, "d": nil, "x": nil} {
		if diff := cmp.Diff(want, graph.Cycle(module)); diff != "" {
			t.Errorf("circle of %s (-want +got):\n%s", module, diff)
		}
	}
}

func TestGraph_Cascade(t *testing.T) {
	graph := requirements.NewGraph(map[string][]requirements.Requirement{
		"a": nil, "b": {{Module: "a"}}, "c": {{Module: "b", Version: ">=1"}, {Kubernetes: ">=1.31"}}, "d": {{Module: "x"}},
	})
	for _, test := range []struct {
		name string
		from []string
		want []string
	}{
		{"a module alone", []string{"c"}, []string{"c"}},
		{"dependents go first", []string{"a"}, []string{"c", "b", "a"}},
		{"of two modules", []string{"x", "b"}, []string{"d", "x", "c", "b"}},
		{"one that nothing knows", []string{"y"}, []string{"y"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := graph.Cascade(test.from...)
			if len(got) != len(test.want) {
				t.Fatalf("removed with %v: %v", test.from, got)
			}
			for dependent, required := range graph {
				for _, one := range required {
					if at := slices.Index(got, one); at >= 0 && slices.Index(got, dependent) > at {
						t.Errorf("%s is removed after %s, which it requires: %v", dependent, one, got)
					}
				}
			}
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(test.want)); !slices.Equal(got, want) {
				t.Errorf("removed with %v: %v, want %v", test.from, got, want)
			}
		})
	}
	if diff := cmp.Diff([]string{"b"}, graph.Dependents("a")); diff != "" {
		t.Errorf("dependents (-want +got):\n%s", diff)
	}
}

func TestOrder_HoldsForRandomGraphs(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		graph := requirements.Graph{}
		for range random.IntN(30) {
			module := fmt.Sprintf("m%02d", random.IntN(12))
			graph[module] = append(graph[module], fmt.Sprintf("m%02d", random.IntN(12)))
		}
		order, cycles := requirements.Order(graph)
		inCycle := map[string]bool{}
		for _, cycle := range cycles {
			if cycle[0] != cycle[len(cycle)-1] || len(cycle) < 2 {
				t.Fatalf("seed %d: %v is no circle", seed, cycle)
			}
			for i := range len(cycle) - 1 {
				if inCycle[cycle[i]] = true; !slices.Contains(graph[cycle[i]], cycle[i+1]) {
					t.Fatalf("seed %d: %s does not require %s", seed, cycle[i], cycle[i+1])
				}
			}
		}
		for module, required := range graph {
			for _, one := range required {
				early := slices.Index(order, module) < slices.Index(order, one)
				if (early || module == one) && (graph.Cycle(module) == nil || graph.Cycle(one) == nil) {
					t.Fatalf("seed %d: %s comes before %s, which it requires: %v", seed, module, one, order)
				}
			}
			if graph.Cycle(module) != nil && len(cycles) == 0 {
				t.Fatalf("seed %d: no circle is told", seed)
			}
		}
		if len(order) != len(slices.Compact(slices.Sorted(slices.Values(order)))) {
			t.Fatalf("seed %d: a module is in the order twice: %v", seed, order)
		}
	}
}
