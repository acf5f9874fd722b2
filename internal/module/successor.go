package module

import (
	"cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// succession holds the removal of modules that the spec no longer names while another module takes their place, as after a renaming: it has
// the same component or the same default custom resource. A Manifest that is deleted spares the objects that another Manifest lists too,
// but only those that are listed by then. Until the other one has recorded the objects that it installs, the deletion would remove the
// custom resources with their definition.
func (r *resolver) succession(verdicts []Verdict) {
	if r.Snapshot.Kyma.DeletionTimestamp != nil {
		return
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Kind != Removed || v.Reason != rules[ruleDisabled].Reason || v.Manifest == nil || terminating(v.Manifest) {
			continue
		}
		for j := range verdicts {
			if next := &verdicts[j]; i != j && r.succeeds(next, v.Manifest) && !recorded(next.Manifest) {
				v.is(Removed, ruleSucceeded, ruleSucceeded.message("module", next.Module))
				v.Successor = next.Module
				break
			}
		}
	}
}

// succeeds reports whether the version that a verdict requests, even one that is refused or still being read, takes the place of a
// Manifest.
func (r *resolver) succeeds(v *Verdict, before *v1beta2.Manifest) bool {
	asked, found := r.targets[targetKey{v.Module, v.Mandatory}]
	if !found || v.Kind == Removed || v.Kind == Unmanaged {
		return false
	}
	if component := componentOf(before); component != "" && component == asked.Component {
		return true
	}
	if asked.Template == nil || before.Spec.Resource == nil {
		return false
	}
	name := ManifestName(r.Snapshot.Kyma.Name, asked.Component, v.Module)
	if v.Manifest != nil {
		name = v.Manifest.Name
	}
	resource := defaultResource(&Verdict{Template: asked.Template}, name)
	return resource != nil && resource.GroupVersionKind().GroupKind() == before.Spec.Resource.GroupVersionKind().GroupKind() &&
		resource.GetName() == before.Spec.Resource.GetName() &&
		cmp.Or(resource.GetNamespace(), v1beta2.RuntimeNamespace) == cmp.Or(before.Spec.Resource.GetNamespace(), v1beta2.RuntimeNamespace)
}

// recorded reports whether the current generation of a Manifest was compared with the cluster, so that its inventory is complete.
func recorded(manifest *v1beta2.Manifest) bool {
	return manifest != nil && !terminating(manifest) && !leaving(manifest) && len(manifest.Status.Synced) > 0 &&
		conditions.IsTrueAt(manifest.Status.Conditions, v1beta2.ConditionResources, manifest.Generation)
}

// targetKey identifies a target: a module may be requested by the spec and by a mandatory release.
type targetKey struct {
	module    string
	mandatory bool
}
