package module

import (
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// admission is what a ModuleRollout answers about the version that a channel offers. Without a rollout everything is allowed.
type admission struct {
	rollout.Answer
	// offered is the version that the answer is about; empty where no rollout decides.
	offered string
}

// closed reports whether the Kyma's wave has not begun: the offered version is not even looked at.
func (a admission) closed() bool { return a.offered != "" && !a.Allowed && !a.NoSlot }

// full reports whether the Kyma's wave has begun, and others are before it.
func (a admission) full() bool { return a.offered != "" && !a.Allowed && a.NoSlot }

// choose implements rules 1 to 11 of Resolve: from a request to a template that this Kyma may have. While a rollout holds the module back,
// the restriction to some Kymas comes first: it is about the module, whatever the version.
func (r *resolver) choose(v *Verdict, asked moduleRequest) (target, *refusal) {
	release := r.Releases[asked.Module]
	if asked.Version != "" || asked.Release != "" || !r.hasRollout(release) {
		return find(r.Snapshot, asked)
	}
	wanted, refused := requested(r.Snapshot, asked)
	if refused != nil {
		return wanted, refused
	}
	wanted = r.admit(v, release, wanted)
	none := r.withoutVersion(asked.Module, wanted)
	if wanted.admission.closed() {
		if refused = restriction(r.Snapshot, release, asked.Module); refused != nil || wanted.Version == "" {
			return none, refused
		}
	}
	found, refused := permitted(r.Snapshot, asked.Module, wanted)
	if refused != nil {
		return none, refused
	}
	return found, nil
}

// chooseMandatory is choose for a module that every Kyma has: rules 5, 6a, 7 and 8.
func (r *resolver) chooseMandatory(v *Verdict, release *v1beta2.ModuleReleaseMeta) (target, *refusal) {
	if !r.hasRollout(release) {
		return findMandatory(r.Snapshot, release)
	}
	found, refused := decreedBy(release)
	if refused != nil {
		return found, refused
	}
	found = r.admit(v, release, found)
	none := r.withoutVersion(release.Name, found)
	if found.admission.closed() && found.Version == "" {
		return none, nil
	}
	if found.Template, refused = templateAt(r.Snapshot, release.Name, found.Version); refused != nil {
		return none, refused
	}
	return found, nil
}

// hasRollout reports whether a rollout may decide who gets what a release offers.
func (r *resolver) hasRollout(release *v1beta2.ModuleReleaseMeta) bool {
	return release != nil && (release.Annotations[v1beta2.AnnotationRollout] != "" || r.Rollouts[release.Name] != nil)
}

// withoutVersion returns what is known of a target that is not installed. It keeps the template that waits, if there is one: that shows
// which module this one takes the place of.
func (r *resolver) withoutVersion(module string, found target) target {
	template := r.Templates[templateName(module, found.admission.offered)]
	return target{Component: found.Component, Template: template, admission: found.admission}
}

// admit implements rule 6a: it asks the rollout of a marked release about the version that was found. Where the Kyma must wait, the target
// becomes the version before, or none where what runs is higher than that: then what runs is kept. What the rollout takes back from the
// Kyma stays the target, until the Kyma has left it.
func (r *resolver) admit(v *Verdict, release *v1beta2.ModuleReleaseMeta, found target) target {
	kyma, running := r.Snapshot.Kyma, r.runningVersion(v, found)
	its, mark := r.Rollouts[release.Name], release.Annotations[v1beta2.AnnotationRollout]
	applicant := rollout.Applicant{UID: string(kyma.UID), Labels: kyma.Labels, Running: running}
	answer := rollout.Ask(its, mark, found.Channel, found.Version, applicant)
	if answer.Back && running == found.Version {
		answer.Allowed = true
	}
	if !answer.Allowed {
		answer.Detail = rollout.Lasting(answer, its, mark, found.Channel, found.Version, applicant)
	}
	found.admission = admission{Answer: answer, offered: found.Version}
	if found.admission.closed() {
		found.Version = answer.From
		if running != "" && running != answer.From && !moduleversion.IsLower(running, answer.From) {
			found.Version = ""
		}
	}
	return found
}

// runningVersion returns the version that the Kyma has begun to install. The status decides, since a Manifest can be edited by hand. But a
// Manifest that installs the content of the offered version, which is higher, was written for it by a pass that ended before its status.
func (r *resolver) runningVersion(v *Verdict, found target) string {
	if v.Mandatory {
		return r.mandatoryStanding(v.Manifest, found).Version
	}
	have := installedOf(r.status[v.Module], v.Manifest).Version
	if v.Manifest == nil || v.Manifest.Spec.Version != found.Version || !moduleversion.IsLower(have, found.Version) {
		return have
	}
	if component := r.component(found.key()); component.Source != nil && sameSource(v.Manifest, component.Source) {
		return found.Version
	}
	return have
}

// held returns the answer that the verdict's module got.
func (r *resolver) held(v *Verdict) admission {
	return r.targets[targetKey{v.Module, v.Mandatory}].admission
}

// wait keeps what is installed while a rollout holds the offered version back. missing says why the version before cannot be installed;
// empty where that was not tried.
func (r *resolver) wait(v *Verdict, missing string) {
	if terminating(v.Manifest) || leaving(v.Manifest) {
		v.is(Waiting, ruleReinstall, ruleReinstall.message())
		return
	}
	r.enforce(v)
	v.waits(r.held(v), missing)
}

// waits sets the verdict for a version that a rollout holds back.
func (v *Verdict) waits(held admission, missing string) {
	message := ruleRolloutWaits.message("version", held.offered, "detail", held.Detail)
	if missing != "" {
		message += "; version " + held.From + ", which the module would have until then, is not available: " + missing
	}
	v.is(Waiting, ruleRolloutWaits, message)
	v.Offered = held.offered
	v.Silent = held.Soon && v.Manifest != nil
}

// slots implements rule 16a, and gives the modules that install the version before the reason for it. No place is needed to go back, nor to
// stay with what takes the place of a version that is avoided.
func (r *resolver) slots(verdicts []Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Kind != Run {
			continue
		}
		goesBack := v.Back != "" && v.Manifest != nil && v.Manifest.Spec.Version != v.Version
		switch held := r.held(v); {
		case held.closed() && !goesBack:
			v.waits(held, "")
		case held.full() && v.Back == "":
			r.standBack(v)
			r.wait(v, "")
		}
	}
}

// standBack takes back what a verdict would install, and names what is installed instead.
func (r *resolver) standBack(v *Verdict) {
	v.Template, v.Source, v.LocalizedImages, v.Extras, v.Doubt, v.Requires = nil, nil, nil, Extras{}, "", nil
	v.stands(installedOf(r.entry(v), v.Manifest))
	if v.Mandatory {
		v.Channel = ""
	}
}

// aborted implements rule 13 for a version whose rollout was aborted: the Kymas that have it keep it. It reports whether it did.
func (r *resolver) aborted(v *Verdict, found target) bool {
	if !found.admission.Aborted {
		return false
	}
	r.enforce(v)
	if v.Manifest == nil && v.Template == nil {
		return false
	}
	v.is(Keep, ruleRolloutAborted, ruleRolloutAborted.message("installed", v.Version, "version", found.Version))
	return true
}
