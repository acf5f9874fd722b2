package module

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// upgrade is what is known of the way from what a module has to a target.
type upgrade struct {
	// entry of the spec; the zero value for a mandatory module.
	entry v1beta2.Module
	// target, and its key; digest and template of the key are empty while its component cannot be read.
	target target
	key    revision.Key
	// have is what counts as installed.
	have     installed
	manifest *v1beta2.Manifest
	history  []v1beta2.Revision
	// taken is true while the module's rollout takes the target back.
	taken bool
	// stands is true where the target is what the Manifest has, while something else is offered.
	stands bool
}

// way is an earlier version to install in place of a target.
type way struct {
	target    target
	component Component
	// revision of the history that it comes from; zero for what is installed already.
	revision v1beta2.Revision
	// problem says why it cannot be taken, empty when it can. pending is true while its component is being read.
	problem string
	pending bool
}

// goBack implements rule 12a: a target that is avoided gives way to the version that is installed, or else to the last one that succeeded.
// It reports whether the verdict is final. Where there is no way back, the target stays, and the verdict carries a warning.
//
// A target is avoided when
//
//   - spec.modules[].avoid names it: a person asked, and that is enough;
//   - the module's rollout takes it back, and its author vouches for the way;
//   - the module went back from it by itself: until another version, template or digest is offered, or a person retries;
//   - an upgrade to it was not ready in time, see failed.
//
// A target whose digest is not known, since its component cannot be read, counts as the one of the same version.
//
// What runs is left in the same way while something else is offered that does not take its place, see depart.
func (r *resolver) goBack(v *Verdict, found target, have installed) bool {
	u, concerned := r.upgrade(v, found, have)
	if !concerned {
		return false
	}
	u.key = r.keyOf(v, u)
	reason := u.avoided()
	if reason == "" {
		return r.failed(v, u)
	}
	if u.heldRevision() != nil {
		v.Avoid = revision.Reference(u.key.Version, cmp.Or(u.key.Digest, u.heldRevision().Digest))
	}
	if u.stays() {
		return r.stay(v, u, reason)
	}
	return r.leave(v, u, reason, r.wayFrom(v, u))
}

// stay keeps what is installed while a target is avoided. Where that cannot be resolved, its Manifest stays as it is: a template that was
// removed or restricted since is about new installations of that version, which the module does not ask for.
func (r *resolver) stay(v *Verdict, u *upgrade, reason string) bool {
	kept := target{Channel: u.target.Channel, Version: u.have.Version, Component: u.target.Component}
	var refused *refusal
	if kept.Template, refused = r.templateFor(v, kept.Version); refused != nil {
		return r.stayAsIs(v, u, reason, refused)
	}
	component := r.content(kept.key(), v.Manifest)
	if v.Manifest == nil && r.unread(v, kept.key(), component) {
		return true
	}
	if component.Pending || component.Reason != "" || v.Manifest != nil && !r.consented(v, kept, component) {
		return r.stayAsIs(v, u, reason, nil)
	}
	r.installBack(v, u, reason, way{target: kept, component: component})
	return true
}

// stayAsIs leaves a Manifest as it is while a target is avoided. Where there is none, there is nothing to keep, and the refusal tells why.
func (r *resolver) stayAsIs(v *Verdict, u *upgrade, reason string, refused *refusal) bool {
	if v.Manifest == nil {
		r.refused(v, refused)
		return true
	}
	v.stands(u.have)
	r.explainBack(v, u, reason, u.have.Version)
	v.Kind = Keep
	if held := r.held(v); held.closed() {
		v.waits(held, "")
	}
	return true
}

// leave goes from a target to an earlier version. What a person or a rollout asks for waits for a maintenance window, as an upgrade does; a
// version that is broken is down already. Where there is no way back, what is installed stays: an avoided target does not replace it.
func (r *resolver) leave(v *Verdict, u *upgrade, reason string, to way) bool {
	problem := to.problem
	if reason == v1beta2.ReasonRollout {
		problem = cmp.Or(problem, u.unvouched(to))
	}
	switch {
	case to.pending:
		r.unread(v, to.target.key(), to.component)
		return true
	case problem != "" && u.have.Version != "" && u.have.Version != u.key.Version:
		r.stay(v, u, reason)
		v.State = rules[ruleRollbackUnavailable].State
		v.Reason = rules[ruleRollbackUnavailable].Reason
		v.Message += "; " + ruleRollbackUnavailable.message("version", u.have.Version, "detail", problem)
		return true
	case problem != "":
		v.warn(u, problem)
		return false
	case !u.failedHere(r.Snapshot, reason) && r.untimely(v, to.target, u.have):
		return true
	}
	r.installBack(v, u, reason, to)
	return true
}

// failedHere reports whether a module leaves a target that does not work: no window protects users from that, also where a person asks.
func (u *upgrade) failedHere(w Snapshot, reason string) bool {
	return reason == v1beta2.ReasonProgressDeadlineExceeded || u.broken(w)
}

// installBack makes the verdict install an earlier version in place of the target.
func (r *resolver) installBack(v *Verdict, u *upgrade, reason string, to way) {
	r.explainBack(v, u, reason, to.target.Version)
	v.install(to.target, to.component)
}

// explainBack makes the verdict say why a version is installed in place of the target.
func (r *resolver) explainBack(v *Verdict, u *upgrade, reason, version string) {
	v.is(Run, ruleAvoided, ruleAvoided.message("version", u.key.Version, "installed", version))
	switch reason {
	case v1beta2.ReasonProgressDeadlineExceeded:
		v.Avoid = cmp.Or(v.Avoid, revision.Reference(u.key.Version, u.key.Digest))
		v.BackDetail = u.detail()
		v.is(Run, ruleRolledBack, ruleRolledBack.message("version", u.key.Version, "installed", version,
			"detail", v.BackDetail, "module", v.Module))
	case v1beta2.ReasonRollout:
		v.is(Run, ruleTakenBack, ruleTakenBack.message("version", u.key.Version, "installed", version))
	}
	v.Back = reason
}

// warn adds a warning to a verdict whose target stays: to its message, where that speaks of something else that is offered.
func (v *Verdict) warn(u *upgrade, problem string) {
	message := ruleRollbackUnavailable.message("version", u.key.Version, "detail", problem)
	if u.stands {
		v.Note = message
		return
	}
	v.State, v.Reason, v.Message = rules[ruleRollbackUnavailable].State, rules[ruleRollbackUnavailable].Reason, message
}

// upgrade collects what is known of the way to a target, and reports whether any of it can matter for the decision.
func (r *resolver) upgrade(v *Verdict, found target, have installed) (*upgrade, bool) {
	u := &upgrade{target: found, key: revision.Key{Version: found.Version}, manifest: v.Manifest}
	u.taken = found.admission.Back && found.admission.Allowed // it still has what is taken back
	if spec := r.spec[v.Module]; !v.Mandatory && spec != nil {
		u.entry = *spec
	}
	u.have = have
	if r.arrived(v, found, have) {
		u.have = installedOf(nil, v.Manifest)
	}
	if v.Manifest != nil {
		u.history = v.Manifest.Status.Revisions
	}
	if u.taken || u.requested() || u.held() != nil || u.inFlight() {
		return u, true
	}
	return u, u.automatic() && u.have.Version != "" && !u.succeeded()
}

// arrived reports whether the Manifest has the target already while a lower version counts as installed: the operator stopped between the
// two writes. Only a component that is known shows that the Manifest was edited by hand instead.
func (r *resolver) arrived(v *Verdict, found target, have installed) bool {
	if v.Manifest == nil || v.Manifest.Spec.Version != found.Version || !moduleversion.IsLower(have.Version, found.Version) {
		return false
	}
	component := r.component(found.key())
	return component.Source == nil || sameSource(v.Manifest, component.Source)
}

// keyOf returns the key that a revision of the target would have. While its component cannot be read, only the version is known.
func (r *resolver) keyOf(v *Verdict, u *upgrade) revision.Key {
	found := u.target
	component := r.content(found.key(), v.Manifest)
	if component.Pending || component.Reason != "" {
		return revision.Key{Version: found.Version}
	}
	spec := r.specOf(v, found, component)
	return u.planned(&spec)
}

// specOf returns the spec that a verdict's Manifest would have with a target.
func (r *resolver) specOf(v *Verdict, found target, component Component) v1beta2.ManifestSpec {
	planned := *v
	planned.install(found, component)
	return wantedSpec(r.Snapshot.Kyma, &planned, nameOf(r.Snapshot, &planned, v.Manifest))
}

// planned returns the key of a spec once it is applied to the Manifest.
func (u *upgrade) planned(spec *v1beta2.ManifestSpec) revision.Key {
	if u.manifest == nil {
		return revision.Of(spec)
	}
	return revision.Planned(&u.manifest.Spec, spec)
}

// wayFrom returns the way back from a target: the revision that a person chose, or else the last one that succeeded and is not avoided.
// What it refers to must still be there, unchanged.
func (r *resolver) wayFrom(v *Verdict, u *upgrade) way {
	to, ok := revision.WayBack(u.history, u.key, u.entry.Avoid, u.entry.BackTo)
	if !ok {
		return way{problem: "no earlier version of the module succeeded here"}
	}
	found := way{revision: to, target: target{Channel: u.target.Channel, Version: to.Version, Component: u.target.Component}}
	template, refused := r.templateFor(v, to.Version)
	if refused != nil {
		found.problem = "version " + to.Version + ", which was installed before, cannot be installed any more: " + refused.message
		return found
	}
	found.target.Template = template
	found.component = r.content(found.target.key(), v.Manifest)
	switch {
	case found.component.Pending:
		found.pending = true
		return found
	case found.component.Reason != "":
		found.problem = "component " + found.target.Component + ":" + to.Version + " cannot be read: " + found.component.Message
		return found
	}
	spec := r.specOf(v, found.target, found.component)
	switch now := u.planned(&spec); {
	case now.Digest != to.Digest:
		found.problem = "component " + found.target.Component + ":" + to.Version + " has other content than when it was installed"
		if spec.KymaValues != nil || v.Manifest != nil && v.Manifest.Spec.KymaValues != nil {
			found.problem += ", or the module's entry had other values then"
		}
	case now.Template != to.Template:
		found.problem = `ModuleTemplate "` + template.Name + `" was changed since it was installed`
	}
	return found
}

// annotateBack marks a Manifest that gets an earlier version than the target. The mark stays as long as that version does, whatever is
// asked for meanwhile: it says how the content came here.
func annotateBack(v *Verdict, annotations map[string]string) {
	if v.Manifest == nil {
		return
	}
	if v.Manifest.Spec.Version != v.Version {
		if v.Back != "" {
			annotations[v1beta2.AnnotationRollback] = v.Back
		}
		if v.BackDetail != "" {
			annotations[v1beta2.AnnotationRollbackMessage] = v.BackDetail
		}
		return
	}
	for _, name := range []string{v1beta2.AnnotationRollback, v1beta2.AnnotationRollbackMessage} {
		if value := v.Manifest.Annotations[name]; value != "" {
			annotations[name] = value
		}
	}
}

// ahead reports whether a Manifest went back already while the status entry still has the version before: the operator stopped between the
// two writes.
func ahead(manifest *v1beta2.Manifest, entry *v1beta2.ModuleStatus) bool {
	return manifest != nil && manifest.Annotations[v1beta2.AnnotationRollback] != "" && entry.Version != manifest.Spec.Version &&
		moduleversion.IsLower(manifest.Spec.Version, entry.Version) &&
		slices.ContainsFunc(manifest.Status.Revisions, func(one v1beta2.Revision) bool { return one.Version == manifest.Spec.Version })
}

// judgeBack adds to the outcome of a module that runs what its verdict says of a way back.
func judgeBack(v *Verdict, have outcome) outcome {
	switch {
	case v.Reason == "":
		return have
	case have.state == v1beta2.StateReady:
		return outcome{state: cmp.Or(v.State, have.state), reason: v.Reason, cause: v.Reason, message: v.Message}
	case v.State != "" && v.State.Severity() > have.state.Severity():
		have.state, have.reason, have.cause = v.State, v.Reason, v.Reason
	}
	have.message += "; " + v.Message
	return have
}

// avoidOf returns the version that a module's entry names as avoided. While nothing was decided about the module, the entry keeps it.
func avoidOf(v *Verdict, before *v1beta2.ModuleStatus, manifest *v1beta2.Manifest) string {
	if v.Avoid != "" || before == nil || manifest == nil || v.Kind != Waiting && v.Kind != Keep {
		return v.Avoid
	}
	u := upgrade{manifest: manifest, history: manifest.Status.Revisions}
	if slices.ContainsFunc(u.history, func(one v1beta2.Revision) bool {
		u.key = revision.KeyOf(one)
		return (wentBackByItself(&one) || u.inFlight()) && revision.ReferenceOf(one) == before.Avoid
	}) {
		return before.Avoid
	}
	return ""
}
