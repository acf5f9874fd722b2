package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/internal/client/resourcetree"
	"github.com/kyma-project/lifecycle-manager/internal/client/treereader"
)

// treeLasts is how long what was read below the objects of a module is reused: it takes many requests.
const treeLasts = 10 * time.Second

// objectTree is the objects of a module and what they own.
type objectTree struct {
	// Nodes are in the order of a drawing, the worst branches first, each after the one above it. Total is how many there are in all.
	Nodes []resourcetree.Node `json:"nodes"`
	Total int                 `json:"total"`
	// Cuts say what the bounds left out, and Unread what could not be read.
	Cuts   []treereader.Cut `json:"cuts"`
	Unread []Unread         `json:"unread"`
}

// tree answers .../tree. It reads as the requesting user, in the cluster of the module.
func (s *Server) tree(ctx context.Context, u *User, r *http.Request) (any, error) {
	o, err := s.named(ctx, u, r)
	if err != nil {
		return nil, err
	}
	t := objectTree{Cuts: []treereader.Cut{}, Unread: []Unread{}}
	in, found, unreachable := s.nearby(ctx, u, o.in, o.module)
	if unreachable != nil {
		t.Unread = withUnread(t.Unread, "Runtime", o.module.Kyma, unreachable)
	} else if found != nil {
		t.Unread = append(t.Unread, unreadOf(&modulestatus.Inputs{Unread: found.unread}, nil)...)
	}
	roots := rootsOf(o.module, treeOf(in, o.module), in.Objects, found)
	if len(modulestatus.ObjectsOf(&in, o.module)) > mostLooked {
		t.cut(treereader.BoundObjects, "the module has more objects than are looked at")
	}
	owned := treereader.Found{}
	if unreachable == nil && found != nil {
		if owned, err = s.owned(ctx, u, o, roots); err != nil {
			t.Unread = withUnread(t.Unread, "Runtime", o.module.Kyma, err)
		}
	}
	t.Cuts = append(t.Cuts, owned.Cuts...)
	t.Unread = append(t.Unread, unreadOf(&modulestatus.Inputs{Unread: owned.Unread}, nil)...)
	t.Unread = distinct(t.Unread)
	made := resourcetree.Of(resourcetree.Input{
		Roots: roots, Owned: owned.Objects, Judgments: rootcause.Each(s.judged(ctx, u, o, &in, roots, owned.Objects), s.options.Now()),
	})
	t.Nodes, t.Total = made.Nodes, made.Total
	if len(made.Nodes) < made.Total {
		t.cut(treereader.BoundNodes, "the module has more objects than are shown: those in the best state are left out")
	}
	return t, nil
}

// distinct leaves out what is told twice: one object of a kind is refused as another.
func distinct(all []Unread) []Unread {
	made := make([]Unread, 0, len(all))
	for _, u := range all {
		if !slices.Contains(made, u) {
			made = append(made, u)
		}
	}
	return made
}

func (t *objectTree) cut(reason treereader.Bound, text string) {
	t.Cuts = append(t.Cuts, treereader.Cut{Reason: reason, Text: text})
}

// rootsOf returns the objects of a module, with their states as the tree of the status model has them, and whether each is there.
func rootsOf(
	m *modulestatus.Module, tree *modulestatus.Node, read []*unstructured.Unstructured, found *objectsRead,
) []resourcetree.Root {
	if tree == nil {
		return nil
	}
	objects := map[string]*unstructured.Unstructured{}
	for _, o := range read {
		objects[resourcetree.IDOf(refOf(o))] = o
	}
	roots := make([]resourcetree.Root, 0, len(tree.Children))
	for i := range tree.Children {
		n := &tree.Children[i]
		ref := modulestatus.Ref{APIVersion: n.APIVersion, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
		root := resourcetree.Root{
			Ref: ref, Condition: modulestatus.Condition{State: n.State, Reason: n.Reason, Message: n.Message},
			Origin: originOf(m, ref), Object: objects[resourcetree.IDOf(ref)],
		}
		placeRoot(&root, m, found)
		roots = append(roots, root)
	}
	return roots
}

func originOf(m *modulestatus.Module, ref modulestatus.Ref) resourcetree.Origin {
	if m.Resource != nil {
		own := schema.FromAPIVersionAndKind(m.Resource.APIVersion, m.Resource.Kind).GroupKind()
		if own == schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() {
			return resourcetree.Resource
		}
	}
	return resourcetree.Applied
}

// placeRoot says whether an object of a module is there: missing, not readable and not looked at are three different things.
func placeRoot(root *resourcetree.Root, m *modulestatus.Module, found *objectsRead) {
	outcome := outcomeOfRead{resourcetree.NotLooked, "its cluster was not looked at"}
	if found != nil {
		outcome = outcomeOfRead{resourcetree.NotLooked, "the module has more objects than are looked at"}
		if known, is := found.outcomes[resourcetree.IDOf(root.Ref)]; is {
			outcome = known
		}
	}
	if root.Object != nil {
		root.Presence = resourcetree.Present
		return
	}
	root.Presence = outcome.presence
	switch {
	case root.Reason == modulestatus.WhyPlanned:
		root.Presence = resourcetree.Planned
	case outcome.presence == resourcetree.Missing && m.State == modulestatus.Deleting:
		root.Condition = modulestatus.Condition{State: modulestatus.Deleting, Reason: modulestatus.WhyMissing, Message: "it is gone already"}
	case outcome.presence == resourcetree.Missing:
		root.Condition = modulestatus.Condition{State: modulestatus.Error, Reason: modulestatus.WhyMissing, Message: outcome.message}
	case root.State == "":
		root.Reason, root.Message = string(outcome.presence), outcome.message
	}
}

// owned reads what is below the objects of a module.
func (s *Server) owned(ctx context.Context, u *User, o *one, roots []resourcetree.Root) (treereader.Found, error) {
	from, err := s.connectionOf(ctx, u, o.kyma)
	if err != nil {
		return treereader.Found{}, err
	}
	beyond(ctx)
	return recalledLarge(ctx, u, "tree", o.module.Kyma+" "+o.module.Name, treeLasts, func(ctx context.Context) (treereader.Found, error) {
		return treereader.Read(ctx, from, from.RESTMapper(), presentOf(roots), o.associated()), nil
	})
}

func presentOf(roots []resourcetree.Root) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for i := range roots {
		if roots[i].Object != nil {
			all = append(all, roots[i].Object)
		}
	}
	return all
}

// associated returns the kinds that the users of a module make objects of, as its template and its Manifest say.
func (o *one) associated() []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	add := func(group, version, kind string) {
		if one := (schema.GroupVersionKind{Group: group, Version: version, Kind: kind}); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	for i := range o.now.in.Templates {
		t := &o.now.in.Templates[i]
		if at := o.module.Template; at != nil && t.Namespace == at.Namespace && t.Name == at.Name {
			for _, kind := range t.Spec.AssociatedResources {
				add(kind.Group, kind.Version, kind.Kind)
			}
		}
	}
	if manifest := manifestOf(&o.in, o.module.Manifest); manifest != nil {
		for _, kind := range manifest.Spec.AssociatedResources {
			add(kind.Group, kind.Version, kind.Kind)
		}
	}
	return all
}

// judged returns what the judgments about the objects are concluded from. Where the module is not ready, that includes the events and logs
// that its page reads as well.
func (s *Server) judged(
	ctx context.Context, u *User, o *one, in *modulestatus.Inputs, roots []resourcetree.Root, owned []*unstructured.Unstructured,
) rootcause.Evidence {
	e := rootcause.Evidence{Module: o.module, Objects: slices.Concat(presentOf(roots), owned)}
	if len(e.Objects) == 0 || o.module.State == modulestatus.Ready {
		return e
	}
	if read, err := s.evidence(ctx, u, o, in); err == nil {
		e.Events, e.Logs = read.Events, read.Logs
		known := map[string]bool{}
		for _, object := range e.Objects {
			known[resourcetree.IDOf(refOf(object))] = true
		}
		for _, object := range read.Objects {
			if !known[resourcetree.IDOf(refOf(object))] {
				e.Objects = append(e.Objects, object)
			}
		}
	}
	return e
}
