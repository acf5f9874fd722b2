package modulelint

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// changes notes what an upgrade from the earlier version breaks, one finding per definition and rule, without the rules that the
// configuration allows.
func (l *linter) changes(objects []*unstructured.Unstructured) {
	left := crdsafety.Refuse(crdsafety.CompareAll(l.options.Against, objects), l.Config.AllowCRDChanges)
	for len(left) > 0 {
		first := left[0]
		alike := func(f crdsafety.Finding) bool { return f.Definition == first.Definition && f.Rule == first.Rule }
		same := slices.DeleteFunc(slices.Clone(left), func(f crdsafety.Finding) bool { return !alike(f) })
		left = slices.DeleteFunc(left, alike)
		id := inventory.ID{Group: definitionKind.Group, Kind: definitionKind.Kind, Name: first.Definition}
		l.inObject(l.manifest, id, RuleCRDChange, diagnostics.Error, "spec",
			"an upgrade of "+id.String()+" is refused "+crdsafety.RefusedWhere(same)+": "+crdsafety.Describe(same),
			"change it compatibly, or allow "+first.Rule+" in allowCRDChanges")
	}
}
