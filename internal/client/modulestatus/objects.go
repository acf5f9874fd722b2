package modulestatus

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// ObjectsOf returns the objects that a module is known to have: its custom resource, and the inventory of its Manifest or of its direct
// installation.
func ObjectsOf(in *Inputs, m *Module) []Ref {
	var refs []Ref
	if m.Resource != nil {
		refs = append(refs, *m.Resource)
	}
	for i := range in.Manifests {
		if manifest := &in.Manifests[i]; m.Manifest != nil && *m.Manifest == (Key{manifest.Namespace, manifest.Name}) {
			refs = append(refs, refsTo(synced(manifest))...)
		}
	}
	for i := range in.Direct {
		if m.Record != nil && in.Direct[i].Record == *m.Record {
			refs = append(refs, refsTo(in.Direct[i].Inventory)...)
		}
	}
	return refs
}

func refsTo(entries []inventory.Entry) []Ref {
	refs := make([]Ref, 0, len(entries))
	for _, e := range entries {
		gv := schema.GroupVersion{Group: e.Group, Version: e.Version}
		refs = append(refs, Ref{APIVersion: gv.String(), Kind: e.Kind, Namespace: e.Namespace, Name: e.Name})
	}
	return refs
}
