package module

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// withMandatory adds the verdicts of mandatory modules, sorts all verdicts, and ensures that no two of them write the same Manifest.
func (r *resolver) withMandatory(verdicts []Verdict) []Verdict {
	modules := map[string]struct{}{}
	add(modules, r.byMandatory)
	for module, release := range r.decreed {
		if release.DeletionTimestamp == nil {
			modules[module] = struct{}{}
		}
	}
	for module := range modules {
		verdicts = append(verdicts, r.mandatory(module))
	}
	slices.SortFunc(verdicts, func(a, b Verdict) int {
		if a.Module == b.Module && a.Mandatory == b.Mandatory {
			return 0
		}
		if a.Module == b.Module && b.Mandatory {
			return -1
		}
		return cmp.Or(cmp.Compare(a.Module, b.Module), 1)
	})
	r.require(verdicts)
	r.oneNameEach(verdicts)
	r.slots(verdicts)
	r.depart(verdicts)
	r.succession(verdicts)
	r.dependencies(verdicts)
	return verdicts
}

// mandatory decides about a module that every Kyma has. The labels beta and internal, restrictions, channels and maintenance windows do not
// count, because the Kyma does not request the module. The installed version comes from the Manifest, since the status does not list it.
func (r *resolver) mandatory(name string) Verdict {
	release := r.decreed[name]
	v := Verdict{Module: name, Mandatory: true, Policy: v1beta2.CustomResourcePolicyCreateAndDelete}
	v.Manifest, v.Surplus = parted(r.byMandatory[name])
	v.Origin = Origin{Release: release != nil, Manifest: v.Manifest != nil}
	v.stands(installedOf(nil, v.Manifest))
	v.Channel = ""
	switch {
	case r.Snapshot.Kyma.DeletionTimestamp != nil:
		v.is(Removed, ruleKymaDeleting, ruleKymaDeleting.message())
	case release == nil || release.DeletionTimestamp != nil:
		v.is(Removed, ruleDisabled, ruleDisabled.message())
	default:
		found, refused := r.chooseMandatory(&v, release)
		r.enabled(&v, found, refused)
	}
	return v
}

// findMandatory implements rules 5, 7 and 8 of Resolve. The template need not be marked as mandatory.
func findMandatory(w Snapshot, release *v1beta2.ModuleReleaseMeta) (target, *refusal) {
	found, refused := decreedBy(release)
	if refused != nil {
		return found, refused
	}
	if found.Template, refused = templateAt(w, release.Name, found.Version); refused != nil {
		return target{Component: found.Component}, refused
	}
	return found, nil
}

// decreedBy implements rule 5, and returns the version that a release names for every Kyma.
func decreedBy(release *v1beta2.ModuleReleaseMeta) (target, *refusal) {
	if _, refused := componentNamed(release); refused != nil {
		return target{}, refused
	}
	found := target{Component: release.Spec.OCMComponentName}
	if release.Spec.Mandatory != nil {
		found.Version = release.Spec.Mandatory.Version
	}
	return found, nil
}

// mandatoryStanding returns what counts as installed of a mandatory module, according to its Manifest. A Manifest that installs from the
// target's source is at the target, whatever its version field holds.
func (r *resolver) mandatoryStanding(manifest *v1beta2.Manifest, found target) installed {
	have := installedOf(nil, manifest)
	have.Channel = ""
	if manifest == nil || !moduleversion.IsDowngrade(have.Version, found.Version) {
		return have
	}
	if component := r.component(found.key()); component.Source != nil && sameSource(manifest, component.Source) {
		have.Version = found.Version
	}
	return have
}

// releaseFor returns the release that a verdict's module is installed from.
func (r *resolver) releaseFor(v *Verdict) (*v1beta2.ModuleReleaseMeta, *refusal) {
	if release := r.decreed[v.Module]; v.Mandatory && release != nil {
		return componentNamed(release)
	}
	return releaseOf(r.Snapshot, v.Module)
}

// templateFor returns the template of a version if the verdict's module may have it.
func (r *resolver) templateFor(v *Verdict, version string) (*v1beta2.ModuleTemplate, *refusal) {
	if v.Mandatory {
		return templateAt(r.Snapshot, v.Module, version)
	}
	return templateOf(r.Snapshot, v.Module, version)
}

// entry returns the previous status entry of the verdict's module. Mandatory modules have none.
func (r *resolver) entry(v *Verdict) *v1beta2.ModuleStatus {
	if v.Mandatory {
		return nil
	}
	return r.status[v.Module]
}

// MandatoryStates returns the states of the mandatory modules by name after this pass, as Rollup computes them; the status does not list
// them.
func MandatoryStates(w Snapshot, verdicts []Verdict, results map[string]Result) map[string]v1beta2.State {
	states := map[string]v1beta2.State{}
	_, mandatory := tellAll(w, verdicts, results)
	for _, module := range mandatory {
		states[module.entry.Name] = module.entry.State
	}
	return states
}

// setMandatory writes the condition MandatoryModules, which exists only where there is such a module and does not count for the state. It
// names all that are not ready: they have no entry in the status, and rollouts learn from it what they wait for.
func setMandatory(w Snapshot, status *v1beta2.KymaStatus, mandatory []moduleReasons) {
	if len(mandatory) == 0 {
		status.Conditions = slices.DeleteFunc(status.Conditions, func(condition metav1.Condition) bool {
			return condition.Type == v1beta2.ConditionMandatoryModules
		})
		return
	}
	value, ranked := metav1.ConditionFalse, rank(mandatory)
	if w.Kyma.DeletionTimestamp == nil && ready(mandatory) == len(mandatory) {
		value = metav1.ConditionTrue
	}
	conditions.Set(&status.Conditions, v1beta2.ConditionMandatoryModules, value,
		reasonOf(w.Kyma, ranked), summary(w.Kyma, ranked, "mandatory modules", len(ranked)), w.Kyma.Generation, w.Now)
}
