package module

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// listedOfRelease is how many missing templates and unmet requirements the status of a release lists.
const listedOfRelease = 32

// FollowsRelease reports whether an entry of a Kyma has the version of the Kyma's release: the Kyma names one, and the entry has neither a
// channel nor a version of its own.
func FollowsRelease(kyma *v1beta2.Kyma, entry *v1beta2.Module) bool {
	return kyma.Spec.Release != "" && entry.Channel == "" && entry.Version == ""
}

// releasedVersion implements rule 6b of Resolve: from a request for a release to a version.
func releasedVersion(w Snapshot, asked moduleRequest) (string, *refusal) {
	if w.Release == nil || w.Release.Name != asked.Release {
		return "", refuse(ruleKymaReleaseMissing, "release", asked.Release, "namespace", w.Kyma.Namespace)
	}
	version := w.Release.VersionOf(asked.Module)
	if version == "" {
		return "", refuse(ruleNotInRelease, "release", asked.Release, "module", asked.Module)
	}
	return version, nil
}

// onRelease returns the last release of which every module that follows it was ready. A module that is not managed does not count, and
// one with a channel or a version of its own has nothing to do with the release.
func onRelease(w Snapshot, verdicts []Verdict, modules []v1beta2.ModuleStatus) string {
	before := w.Kyma.Status.Release
	switch {
	case w.Kyma.Spec.Release == "":
		return ""
	case w.Release == nil || w.Release.Name != w.Kyma.Spec.Release || w.Kyma.DeletionTimestamp != nil:
		return before
	}
	has := map[string]string{}
	for i := range verdicts {
		if v := &verdicts[i]; !v.Mandatory {
			has[v.Module] = v.Version
		}
	}
	state := map[string]v1beta2.State{}
	for i := range modules {
		state[modules[i].Name] = modules[i].State
	}
	for i := range w.Kyma.Spec.Modules {
		entry := &w.Kyma.Spec.Modules[i]
		if !FollowsRelease(w.Kyma, entry) || entry.Managed != nil && !*entry.Managed {
			continue
		}
		if state[entry.Name] != v1beta2.StateReady || has[entry.Name] != w.Release.VersionOf(entry.Name) {
			return before
		}
	}
	return w.Release.Name
}

// ReleaseFacts is what the status of a release is made from.
type ReleaseFacts struct {
	Release *v1beta2.KymaRelease
	// Templates of the release's namespace, by object name; those that the release names are enough.
	Templates map[string]*v1beta2.ModuleTemplate
	// Mandatory are the versions of the modules that every Kyma has, by name: a module of the release may require one of them.
	Mandatory map[string]string
	// Kymas counts those that name the release, OnRelease those of them that are on it.
	Kymas, OnRelease int
	Now              metav1.Time
}

// JudgeRelease returns the status of a release. When nothing changed it is equal to the previous one.
func JudgeRelease(facts ReleaseFacts) v1beta2.KymaReleaseStatus {
	release := facts.Release
	status := *release.Status.DeepCopy()
	status.ObservedGeneration = release.Generation
	status.Kymas, status.KymasOnRelease = int32(facts.Kymas), int32(facts.OnRelease)
	missing, unmet := missingTemplates(facts), unmetInRelease(facts)
	holds, reason, message := metav1.ConditionTrue, v1beta2.ReasonComplete, "every template exists, and the modules fit together"
	switch {
	case len(missing) > 0:
		holds, reason, message = metav1.ConditionFalse, v1beta2.ReasonTemplatesMissing, "ModuleTemplates do not exist: "+firstOf(missing)
	case len(unmet) > 0:
		holds, reason, message = metav1.ConditionFalse, v1beta2.ReasonRequirementsUnmet,
			"the release does not have what its modules need: "+firstOf(unmet)
	}
	status.MissingTemplates = missing[:min(len(missing), listedOfRelease)]
	status.UnmetRequirements = unmet[:min(len(unmet), listedOfRelease)]
	conditions.Set(&status.Conditions, v1beta2.ConditionReady, holds, reason, conditions.Cut(message), release.Generation, facts.Now)
	return status
}

// missingTemplates returns the names of the templates that a release needs and that do not exist, or are for something else, sorted.
func missingTemplates(facts ReleaseFacts) []string {
	var missing []string
	for _, one := range facts.Release.Spec.Modules {
		if _, refused := templateAt(Snapshot{Templates: facts.Templates}, one.Name, one.Version); refused != nil {
			missing = append(missing, templateName(one.Name, one.Version))
		}
	}
	slices.Sort(missing)
	return missing
}

// unmetInRelease returns what modules of a release require of other modules and neither the release nor the mandatory modules meet, sorted.
// What they require of a cluster is found out for each Kyma.
func unmetInRelease(facts ReleaseFacts) []string {
	provided := requirements.Facts{ModulesKnown: true, Modules: map[string]requirements.Module{}}
	for name, version := range facts.Mandatory {
		provided.Modules[name] = requirements.Module{Version: version, Ready: true}
	}
	for _, one := range facts.Release.Spec.Modules {
		provided.Modules[one.Name] = requirements.Module{Version: one.Version, Ready: true}
	}
	var unmet []string
	for _, one := range facts.Release.Spec.Modules {
		template := facts.Templates[templateName(one.Name, one.Version)]
		if template == nil {
			continue
		}
		list := slices.DeleteFunc(requiresOf(template, Component{}), func(r requirements.Requirement) bool { return r.Module == "" })
		for _, missing := range requirements.Check(list, provided) {
			text := missing.Requirement.String() + ", which the release does not have"
			if missing.Have != "" {
				text = missing.Sentence
			}
			unmet = append(unmet, one.Name+" needs "+text)
		}
	}
	slices.Sort(unmet)
	return unmet
}
