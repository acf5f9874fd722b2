package bulk

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func key(name string) types.NamespacedName { return types.NamespacedName{Namespace: "hub", Name: name} }

func keys(names ...string) []types.NamespacedName {
	var all []types.NamespacedName
	for _, name := range names {
		all = append(all, key(name))
	}
	return all
}

func TestGroupBy(t *testing.T) {
	for name, c := range map[string]struct {
		results []Result
		want    []Group
	}{
		"nothing is no group": {nil, nil},
		"equal ones are one group, in their order": {
			[]Result{{key("b"), Done, "add notes"}, {key("a"), Done, "add notes"}},
			[]Group{{Done, "add notes", keys("b", "a")}},
		},
		"outcomes come in their order, whatever their size": {
			[]Result{{key("a"), Failed, "x"}, {key("b"), Failed, "x"}, {key("c"), Done, "y"}, {key("d"), NotTried, "z"}, {key("e"), Refused, "w"}},
			[]Group{{Done, "y", keys("c")}, {Refused, "w", keys("e")}, {Failed, "x", keys("a", "b")}, {NotTried, "z", keys("d")}},
		},
		"of one outcome the largest group is the first": {
			[]Result{{key("a"), Failed, "b"}, {key("b"), Failed, "c"}, {key("c"), Failed, "c"}, {key("d"), Failed, "a"}},
			[]Group{{Failed, "c", keys("b", "c")}, {Failed, "a", keys("d")}, {Failed, "b", keys("a")}},
		},
		"one message of two outcomes is two groups": {
			[]Result{{key("a"), Done, "x"}, {key("b"), Unchanged, "x"}},
			[]Group{{Done, "x", keys("a")}, {Unchanged, "x", keys("b")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, GroupBy(c.results, Order)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupBy_InAnotherOrder(t *testing.T) {
	groups := GroupBy([]Result{{key("a"), "Ready", ""}, {key("b"), "Error", "x"}}, []Outcome{"Error", "Ready"})
	if len(groups) != 2 || groups[0].Outcome != "Error" {
		t.Errorf("the groups are %+v", groups)
	}
}

func TestBounded(t *testing.T) {
	var results []Result
	for i := range 5 {
		results = append(results, Result{key(fmt.Sprint(i)), Failed, fmt.Sprint("message ", i)})
	}
	results = append(results, Result{key("x"), Done, "add notes"})
	groups := GroupBy(results, Order)
	for name, c := range map[string]struct {
		most int
		want []Group
	}{
		"the rest of an outcome is one group": {2, []Group{
			{Done, "add notes", keys("x")}, {Failed, "message 0", keys("0")}, {Failed, "message 1", keys("1")},
			{Failed, "3 other messages", keys("2", "3", "4")},
		}},
		"a single one is the rest, too": {4, append(append([]Group{}, groups[:5]...), Group{Failed, "1 other message", keys("4")})},
		"few groups stay":               {5, groups},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Bounded(groups, c.most)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for want, c := range map[string]struct {
		keys []types.NamespacedName
		most int
	}{
		"":                               {nil, 3},
		"hub/a":                          {keys("a"), 3},
		"hub/a, hub/b and hub/c":         {keys("a", "b", "c"), 3},
		"hub/a, hub/b and 2 more":        {keys("a", "b", "c", "d"), 2},
		"hub/a, hub/b, hub/c and 1 more": {keys("a", "b", "c", "d"), 3},
		"hub/a and hub/b":                {keys("a", "b"), 0},
	} {
		if got := Names(c.keys, c.most); got != want {
			t.Errorf("%v are named as %q, want %q", c.keys, got, want)
		}
	}
}

func TestAnonymous(t *testing.T) {
	for message, want := range map[string]string{
		"kyma hub/demo does not ask for it":                  "kyma NAME does not ask for it",
		"the Kyma is hub/demo":                               "the Kyma is NAME",
		`kymas.operator.kyma-project.io "demo" is forbidden`: `kymas.operator.kyma-project.io "NAME" is forbidden`,
		"another one, hub/demo-2, stays":                     "another one, hub/demo-2, stays",
		"so does that of github/demo":                        "so does that of github/demo",
		"a demo of the name is a word":                       "a demo of the name is a word",
	} {
		if got := Anonymous(message, key("demo")); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}
