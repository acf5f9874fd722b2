package resourcetree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
)

// made returns an object of a kind that is owned by objects with some UIDs; its own UID is its name.
func made(apiVersion, kind, name string, owners ...string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace("ns")
	o.SetName(name)
	o.SetUID(types.UID(name))
	var refs []metav1.OwnerReference
	for i, owner := range owners {
		refs = append(refs, metav1.OwnerReference{APIVersion: "v1", Kind: "X", Name: owner, UID: types.UID(owner), Controller: new(i > 0)})
	}
	o.SetOwnerReferences(refs)
	return o
}

func rootOf(o *unstructured.Unstructured, state modulestatus.State) Root {
	return Root{Ref: RefOf(o), Condition: modulestatus.Condition{State: state}, Origin: Applied, Presence: Present, Object: o}
}

// drawing returns a tree as text: names, indented.
func drawing(t Tree) string {
	depth := map[string]int{}
	var lines []string
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Parent != "" {
			depth[n.ID] = depth[n.Parent] + 1
		}
		lines = append(lines, strings.Repeat("-", depth[n.ID])+n.Name)
	}
	return strings.Join(lines, " ")
}

func TestOf(t *testing.T) {
	deployment, replicas := made("apps/v1", "Deployment", "web"), made("apps/v1", "ReplicaSet", "web-1", "web")
	pod, lost := made("v1", "Pod", "web-1-x", "web-1"), made("v1", "Pod", "web-2-x", "web-2")
	lost.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-2", UID: "unread"}})
	for name, test := range map[string]struct {
		roots []Root
		owned []*unstructured.Unstructured
		want  string
	}{
		"nothing":                                {nil, nil, ""},
		"a chain, listed upside down":            {[]Root{rootOf(deployment, modulestatus.Ready)}, []*unstructured.Unstructured{pod, replicas}, "web -web-1 --web-1-x"},
		"an object twice":                        {[]Root{rootOf(deployment, modulestatus.Ready)}, []*unstructured.Unstructured{deployment, replicas, replicas}, "web -web-1"},
		"a pod whose ReplicaSet was not read":    {[]Root{rootOf(deployment, modulestatus.Ready)}, []*unstructured.Unstructured{lost}, "web -web-2-x"},
		"an object whose owner is not there":     {[]Root{rootOf(deployment, modulestatus.Ready)}, []*unstructured.Unstructured{pod}, "web-1-x web"},
		"the controller before another owner":    {[]Root{rootOf(made("v1", "A", "a"), ""), rootOf(made("v1", "B", "b"), "")}, []*unstructured.Unstructured{made("v1", "C", "c", "a", "b")}, "a b -c"},
		"an object that owns itself":             {nil, []*unstructured.Unstructured{made("v1", "A", "a", "a")}, "a"},
		"two that own each other, and one below": {nil, []*unstructured.Unstructured{made("v1", "A", "a", "b"), made("v1", "B", "b", "a"), made("v1", "C", "c", "b")}, "a -b --c"},
		"what is worse comes first":              {[]Root{rootOf(made("v1", "A", "a"), modulestatus.Ready), rootOf(made("v1", "Z", "z"), modulestatus.Error)}, nil, "z a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := drawing(Of(Input{Roots: test.roots, Owned: test.owned})); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

func TestOf_TheBranchThatFailsComesFirstAndSaysWhy(t *testing.T) {
	fine, bad := made("apps/v1", "Deployment", "a-fine"), made("apps/v1", "StatefulSet", "z-bad")
	pod := made("v1", "Pod", "z-bad-0", "z-bad")
	tree := Of(Input{
		Roots: []Root{rootOf(fine, modulestatus.Ready), rootOf(bad, modulestatus.Ready)}, Owned: []*unstructured.Unstructured{pod},
		Judgments: []rootcause.Judgment{{Object: RefOf(pod), Reason: "ImageNotFound", Sentence: "it has no image", Remedy: "publish it", Severe: true}},
	})
	if drawing(tree) != "z-bad -z-bad-0 a-fine" {
		t.Fatal(drawing(tree))
	}
	if root, leaf := tree.Nodes[0], tree.Nodes[1]; root.State != modulestatus.Ready || root.Worst != modulestatus.Error ||
		leaf.State != modulestatus.Error || leaf.Reason != "ImageNotFound" || leaf.Remedy != "publish it" || leaf.Origin != Owned {
		t.Errorf("%+v\n%+v", root, leaf)
	}
}

func TestOf_WhatIsNotThereKeepsWhatIsKnownOfIt(t *testing.T) {
	gone := modulestatus.Ref{APIVersion: "v1", Kind: "Service", Namespace: "ns", Name: "gone"}
	var roots []Root
	for _, presence := range []Presence{Missing, Unread, NotLooked, Planned} {
		ref := gone
		ref.Name = strings.ToLower(string(presence))
		roots = append(roots, Root{Ref: ref, Presence: presence, Origin: Applied, Condition: modulestatus.Condition{Reason: string(presence)}})
	}
	tree := Of(Input{Roots: roots})
	for _, n := range tree.Nodes {
		if n.UID != "" || n.Created != nil || n.Reason != string(n.Presence) || n.ID != "Service/ns/"+n.Name {
			t.Errorf("%+v", n)
		}
	}
	if len(tree.Nodes) != 4 {
		t.Errorf("%d nodes", len(tree.Nodes))
	}
}

// lawful checks the laws of a tree of some objects.
func lawful(t *testing.T, in Input, most int) {
	t.Helper()
	want := map[string]bool{}
	for i := range in.Roots {
		want[IDOf(in.Roots[i].Ref)] = true
	}
	for _, o := range in.Owned {
		want[IDOf(RefOf(o))] = true
	}
	tree := Of(in)
	if tree.Total != len(want) || len(tree.Nodes) != min(len(want), most) {
		t.Fatalf("%d of %d nodes for %d objects, at most %d", len(tree.Nodes), tree.Total, len(want), most)
	}
	before := map[string]bool{"": true}
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		if !want[n.ID] || before[n.ID] || !before[n.Parent] {
			t.Fatalf("node %q below %q: it is there twice, is none of the objects, or comes before its parent", n.ID, n.Parent)
		}
		before[n.ID] = true
	}
	shuffled := in
	shuffled.Owned = slices.Clone(in.Owned)
	slices.Reverse(shuffled.Owned)
	if again := Of(shuffled); again.Total != tree.Total {
		t.Errorf("another order of the objects changes how many there are: %d and %d", tree.Total, again.Total)
	}
}

// TestOf_Laws: no object is lost or there twice, circles of owners end, bounds hold, and a parent comes before its children.
func TestOf_Laws(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		lawful(t, randomInput(random, 1+random.IntN(40)), MostNodes)
		in := randomInput(random, 1+random.IntN(40))
		in.Most = 1 + random.IntN(20)
		lawful(t, in, in.Most)
	}
}

func randomInput(random *rand.Rand, n int) Input {
	var in Input
	for i := range n {
		var owners []string
		for range random.IntN(3) {
			owners = append(owners, fmt.Sprint(random.IntN(n)))
		}
		o := made("v1", "Kind"+fmt.Sprint(random.IntN(2)), fmt.Sprint(i), owners...)
		if random.IntN(4) == 0 {
			in.Roots = append(in.Roots, rootOf(o, modulestatus.State([]string{"", "Ready", "Error"}[random.IntN(3)])))
		} else {
			in.Owned = append(in.Owned, o)
		}
	}
	return in
}

func FuzzOf(f *testing.F) {
	f.Add("a>b b>c c>a", "d")
	f.Add("a>a", "a")
	f.Fuzz(func(t *testing.T, owned, roots string) {
		var in Input
		for one := range strings.FieldsSeq(owned) {
			name, owner, _ := strings.Cut(one, ">")
			in.Owned = append(in.Owned, made("v1", "Pod", name, owner))
		}
		for name := range strings.FieldsSeq(roots) {
			in.Roots = append(in.Roots, rootOf(made("v1", "Pod", name), modulestatus.Ready))
		}
		lawful(t, in, MostNodes)
	})
}
