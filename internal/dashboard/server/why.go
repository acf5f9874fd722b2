package server

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Why is one link of the chain from a Kyma to the object that fails.
type Why struct {
	What    string             `json:"what"`
	State   modulestatus.State `json:"state"`
	Reason  string             `json:"reason,omitempty"`
	Message string             `json:"message,omitempty"`
	Remedy  string             `json:"remedy,omitempty"`
}

// mostCulprits bounds how many objects a chain ends with.
const mostCulprits = 5

// whyNot returns why a module is not ready, from the Kyma down to the objects; empty for a ready module:
//
//  1. the Kyma, if it is not ready
//  2. the module: its installation, or its custom resource if the installation has no message
//  3. its Manifest, if it is not ready
//  4. the objects below it that are in trouble, worst first
func whyNot(in *modulestatus.Inputs, kymas []modulestatus.KymaLine, m *modulestatus.Module, tree *modulestatus.Node) []Why {
	chain := []Why{}
	if m.State == modulestatus.Ready {
		return chain
	}
	for i := range kymas {
		k := &kymas[i]
		if (modulestatus.Key{Namespace: k.Namespace, Name: k.Name}).String() == m.Kyma && k.State != modulestatus.Ready {
			chain = append(chain, Why{"Kyma " + m.Kyma, k.State, k.Reason, k.Message, ""})
		}
	}
	own := Why{"Module " + m.Name, m.State, m.Installation.Reason, m.Installation.Message, ""}
	if own.Message == "" {
		own.Reason, own.Message = m.Module.Reason, m.Module.Message
	}
	own.Remedy = rootcause.RemedyOf(own.Reason)
	chain = append(chain, own)
	if manifest := manifestOf(in, m.Manifest); manifest != nil && manifest.Status.State != v1beta2.StateReady {
		one := Why{What: "Manifest " + m.Manifest.String(), State: modulestatus.State(manifest.Status.State), Message: manifest.Status.Operation}
		if ready := conditions.Find(manifest.Status.Conditions, v1beta2.ConditionReady); ready != nil {
			one.Reason, one.Message = ready.Reason, ready.Message
		}
		one.State = cmp.Or(one.State, modulestatus.Processing)
		one.Remedy = rootcause.RemedyOf(one.Reason)
		chain = append(chain, one)
	}
	return append(chain, culprits(tree)...)
}

// culprits returns the objects of a tree that are not ready, worst first.
func culprits(tree *modulestatus.Node) []Why {
	if tree == nil {
		return nil
	}
	var all []Why
	for i := range tree.Children {
		n := &tree.Children[i]
		silent := n.State == "" || n.Reason == modulestatus.WhyNotObserved // its state is not visible here
		if silent || n.State == modulestatus.Ready || n.State == modulestatus.NotConfigured || n.State == modulestatus.Unmanaged {
			continue
		}
		ref := modulestatus.Ref{APIVersion: n.APIVersion, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
		all = append(all, Why{ref.String(), n.State, n.Reason, n.Message, rootcause.RemedyOf(n.Reason)})
	}
	slices.SortStableFunc(all, func(a, b Why) int { return worstFirst(a.State, b.State) })
	return all[:min(len(all), mostCulprits)]
}

// worstFirst orders states from bad to good.
func worstFirst(a, b modulestatus.State) int {
	switch {
	case a == b:
		return 0
	case modulestatus.Worse(a, b) == a && modulestatus.Worse(b, a) == a:
		return -1
	case modulestatus.Worse(a, b) == b && modulestatus.Worse(b, a) == b:
		return 1
	}
	return cmp.Compare(a, b) // equally bad
}

func manifestOf(in *modulestatus.Inputs, key *modulestatus.Key) *v1beta2.Manifest {
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
