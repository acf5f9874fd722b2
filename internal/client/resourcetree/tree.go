package resourcetree

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
)

// MostNodes bounds how many objects a tree has.
const MostNodes = 1000

// Input is what was read of a module.
type Input struct {
	Roots []Root
	// Owned are the objects that were found below the roots, in any order.
	Owned []*unstructured.Unstructured
	// Judgments say what is wrong with some of the objects.
	Judgments []rootcause.Judgment
	// Most is how many nodes the tree may have; zero means MostNodes.
	Most int
}

// Tree is the objects of a module. Nodes are in the order in which a tree is drawn, the worst branches first: a parent comes before its
// children. Total is how many there would be without the bound.
type Tree struct {
	Nodes []Node
	Total int
}

// Of returns the tree of a module. Every object is in it once, as far as the bound allows.
func Of(in Input) Tree {
	b := newBuilder(in)
	b.adopt(in.Owned)
	b.settle()
	nodes := b.drawn()
	most := cmp.Or(in.Most, MostNodes)
	return Tree{Nodes: nodes[:min(len(nodes), most)], Total: len(nodes)}
}

// builder collects nodes and who stands above whom.
type builder struct {
	judged map[modulestatus.Ref]*rootcause.Judgment
	nodes  []Node
	owners []*unstructured.Unstructured // by node; nil for a root
	byID   map[string]int
	byUID  map[types.UID]int
	// above is the parent of each node, -1 at the top; below are the children.
	above []int
	below map[int][]int
}

func newBuilder(in Input) *builder {
	b := &builder{
		judged: map[modulestatus.Ref]*rootcause.Judgment{}, byID: map[string]int{}, byUID: map[types.UID]int{}, below: map[int][]int{},
	}
	for i := range in.Judgments {
		j := &in.Judgments[i]
		b.judged[unversioned(j.Object)] = j
	}
	for i := range in.Roots {
		r := &in.Roots[i]
		b.add(rootNode(r, b.judged[unversioned(r.Ref)]), nil)
	}
	return b
}

// unversioned returns a reference that does not depend on the version in which an object was read.
func unversioned(ref modulestatus.Ref) modulestatus.Ref {
	group, _, has := strings.Cut(ref.APIVersion, "/")
	if !has {
		group = ""
	}
	ref.APIVersion = group
	return ref
}

// add adds a node, unless the same object has one.
func (b *builder) add(n Node, o *unstructured.Unstructured) {
	if _, known := b.byID[n.ID]; known {
		return
	}
	at := len(b.nodes)
	b.nodes, b.owners, b.above = append(b.nodes, n), append(b.owners, o), append(b.above, -1)
	b.byID[n.ID] = at
	if n.UID != "" {
		if _, twice := b.byUID[n.UID]; !twice {
			b.byUID[n.UID] = at
		}
	}
}

// adopt adds owned objects, and puts each below its owner.
func (b *builder) adopt(owned []*unstructured.Unstructured) {
	for _, o := range owned {
		if o != nil && o.Object != nil {
			b.add(ownedNode(o, b.judged[unversioned(RefOf(o))]), o)
		}
	}
	for at, o := range b.owners {
		if o == nil {
			continue
		}
		if parent := b.ownerOf(at, o); parent >= 0 {
			b.above[at] = parent
			b.below[parent] = append(b.below[parent], at)
		}
	}
}

// ownerOf returns the node that owns an object: its controller, else its first owner that is known, else the Deployment whose ReplicaSets
// could not be read; -1 if there is none.
func (b *builder) ownerOf(at int, o *unstructured.Unstructured) int {
	refs := o.GetOwnerReferences()
	slices.SortStableFunc(refs, func(a, b metav1.OwnerReference) int { return rankOf(a) - rankOf(b) })
	for i := range refs {
		if parent, known := b.byUID[refs[i].UID]; known && refs[i].UID != "" && parent != at {
			return parent
		}
	}
	for i := range refs {
		if refs[i].Kind == "ReplicaSet" {
			return b.deploymentOf(o.GetNamespace(), refs[i].Name)
		}
	}
	return -1
}

func rankOf(owner metav1.OwnerReference) int {
	if owner.Controller != nil && *owner.Controller {
		return 0
	}
	return 1
}

// deploymentOf returns the Deployment that a ReplicaSet belongs to by its name, -1 if there is none.
func (b *builder) deploymentOf(namespace, replicaSet string) int {
	end := strings.LastIndexByte(replicaSet, '-')
	if end < 0 {
		return -1
	}
	at, known := b.byID["Deployment.apps/"+namespace+"/"+replicaSet[:end]]
	if !known {
		return -1
	}
	return at
}

// settle takes one object of each circle of owners to the top, so that every node is below a node at the top.
func (b *builder) settle() {
	reached := make([]bool, len(b.nodes))
	var walk func(at int)
	walk = func(at int) {
		if reached[at] {
			return
		}
		reached[at] = true
		for _, child := range b.below[at] {
			walk(child)
		}
	}
	for at, parent := range b.above {
		if parent < 0 {
			walk(at)
		}
	}
	for at := range b.nodes {
		if reached[at] {
			continue
		}
		parent := b.above[at]
		b.below[parent] = slices.DeleteFunc(b.below[parent], func(child int) bool { return child == at })
		b.above[at] = -1
		walk(at)
	}
}

// drawn returns the nodes in the order of a drawing.
func (b *builder) drawn() []Node {
	var top []int
	for at, parent := range b.above {
		if parent < 0 {
			top = append(top, at)
			b.worst(at)
		}
	}
	all := make([]Node, 0, len(b.nodes))
	var draw func(level []int, parent string)
	draw = func(level []int, parent string) {
		slices.SortStableFunc(level, b.order)
		for _, at := range level {
			b.nodes[at].Parent = parent
			all = append(all, b.nodes[at])
			draw(b.below[at], b.nodes[at].ID)
		}
	}
	draw(top, "")
	return all
}

// worst computes the worst state of a node and of all below it.
func (b *builder) worst(at int) modulestatus.State {
	worst := b.nodes[at].State
	for _, child := range b.below[at] {
		if below := b.worst(child); below != "" {
			worst = modulestatus.Worse(worst, below)
		}
	}
	b.nodes[at].Worst = worst
	return worst
}

// order puts the worst branches first, then custom resources of the module, then by kind and name.
func (b *builder) order(one, other int) int {
	x, y := &b.nodes[one], &b.nodes[other]
	if x.Worst != y.Worst {
		switch {
		case modulestatus.Worse(x.Worst, y.Worst) == x.Worst && modulestatus.Worse(y.Worst, x.Worst) == x.Worst:
			return -1
		case modulestatus.Worse(x.Worst, y.Worst) == y.Worst && modulestatus.Worse(y.Worst, x.Worst) == y.Worst:
			return 1
		}
	}
	return cmp.Or(cmp.Compare(originRank[x.Origin], originRank[y.Origin]), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Namespace, y.Namespace),
		cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID))
}

var originRank = map[Origin]int{Resource: 0, Applied: 1, Owned: 2}
