package web

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/view"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Why is one link of the chain from a Kyma to the object that fails.
type Why struct {
	What    string     `json:"what"`
	State   view.State `json:"state"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
	Remedy  string     `json:"remedy,omitempty"`
}

// mostCulprits bounds how many objects a chain ends with.
const mostCulprits = 5

// whyNot says why a module is not ready, from the Kyma down to the objects; empty for one that is as it was asked for:
//
//  1. the Kyma, as far as it is not ready
//  2. the module: its installation, and where that says nothing its custom resource
//  3. what installs it, when that says something else
//  4. the objects below it that are in trouble, the worst first
func whyNot(in *view.Inputs, kymas []view.KymaLine, m *view.Module, tree *view.Node) []Why {
	chain := []Why{}
	if m.State == view.Ready {
		return chain
	}
	for i := range kymas {
		k := &kymas[i]
		if (view.Key{Namespace: k.Namespace, Name: k.Name}).String() == m.Kyma && k.State != view.Ready {
			chain = append(chain, Why{"Kyma " + m.Kyma, k.State, k.Reason, k.Message, ""})
		}
	}
	own := Why{"Module " + m.Name, m.State, m.Installation.Reason, m.Installation.Message, ""}
	if own.Message == "" {
		own.Reason, own.Message = m.Module.Reason, m.Module.Message
	}
	own.Remedy = remedyOf(own.Reason)
	chain = append(chain, own)
	if manifest := manifestOf(in, m.Manifest); manifest != nil && manifest.Status.State != v1beta2.StateReady {
		one := Why{What: "Manifest " + m.Manifest.String(), State: view.State(manifest.Status.State), Message: manifest.Status.Operation}
		if ready := conditions.Find(manifest.Status.Conditions, v1beta2.ConditionReady); ready != nil {
			one.Reason, one.Message = ready.Reason, ready.Message
		}
		one.State = cmp.Or(one.State, view.Processing)
		one.Remedy = remedyOf(one.Reason)
		chain = append(chain, one)
	}
	return append(chain, culprits(tree)...)
}

// culprits are the objects of a tree that are not ready, the worst first.
func culprits(tree *view.Node) []Why {
	if tree == nil {
		return nil
	}
	var all []Why
	for i := range tree.Children {
		n := &tree.Children[i]
		silent := n.State == "" || n.Reason == view.WhyNotObserved // nothing here tells of it
		if silent || n.State == view.Ready || n.State == view.NotConfigured || n.State == view.Unmanaged {
			continue
		}
		ref := view.Ref{APIVersion: n.APIVersion, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
		all = append(all, Why{ref.String(), n.State, n.Reason, n.Message, remedyOf(n.Reason)})
	}
	slices.SortStableFunc(all, func(a, b Why) int { return worstFirst(a.State, b.State) })
	return all[:min(len(all), mostCulprits)]
}

// worstFirst orders states from bad to good.
func worstFirst(a, b view.State) int {
	switch {
	case a == b:
		return 0
	case view.Worse(a, b) == a && view.Worse(b, a) == a:
		return -1
	case view.Worse(a, b) == b && view.Worse(b, a) == b:
		return 1
	}
	return cmp.Compare(a, b) // equally bad
}

func manifestOf(in *view.Inputs, key *view.Key) *v1beta2.Manifest {
	if key == nil {
		return nil
	}
	for i := range in.Manifests {
		if m := &in.Manifests[i]; m.Namespace == key.Namespace && m.Name == key.Name {
			return m
		}
	}
	return nil
}
