package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// hasApplied reports whether an object of the installation was applied.
func (w *scope) hasApplied() bool { return slices.ContainsFunc(w.recorded, wasApplied) }

func wasApplied(entry inventory.Entry) bool { return entry.UID != "" || entry.Hash != "" }

// lookup reads what a template looks up in the runtime. In the hub itself nothing is found: the operator can read there what the author of
// a Manifest must not see.
func (w *scope) lookup(ctx context.Context, query render.Lookup) (json.RawMessage, error) {
	if w.target.Local {
		return json.RawMessage("null"), nil
	}
	found, err := engine.Lookup(ctx, w.runtime.Cluster(), query)
	if _, tooMuch := errors.AsType[*content.Error](err); tooMuch {
		return nil, err
	}
	gvk := schema.FromAPIVersionAndKind(query.APIVersion, query.Kind)
	id := inventory.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: query.Namespace, Name: query.Name}
	return found, w.clusterProblem(id, err)
}
