package module

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// Resolve decides about every module of spec, status and existing Manifests: one verdict each, sorted by name.
//
// The rules, in order; the first that applies decides. docs/spec/kyma.md lists the message of each.
//
//  0. The Kyma is being deleted, or the spec does not name the module: Removed; where another module takes its place, only after that one
//     has recorded the objects that both have. With managed: false: Unmanaged.
//  1. Channel and version are both set, or the runtime's user pins a version without being allowed to: refused.
//  2. The channel is "none": refused.
//  3. There is no ModuleReleaseMeta of the module's name: refused.
//  4. The release is for a mandatory module: refused.
//  5. The release has no ocmComponentName: refused.
//  6. No version is pinned and the channel that the entry or, without a release, the Kyma names offers none: refused.
//     6a. The channel's version has a rollout that does not let this Kyma have it yet: the version before counts in the rules below, where
//     what runs is lower, and what runs is kept otherwise; Waiting. So it is, too, when the version before cannot be installed.
//     6b. The entry has neither, the Kyma names a KymaRelease, and that one does not exist or does not have the module: refused. The
//     version that it has waits for no rollout, like a pinned one.
//  7. There is no ModuleTemplate "<module>-<version>": refused.
//  8. The template names another module or version: refused.
//  9. The template is labelled internal, then beta, and the Kyma is not: not allowed, and an installed module is Removed.
//  10. The template is mandatory: refused.
//  11. The module is restricted to Kymas that the release selects and this one is not: not allowed, and an installed module is Removed; the
//     operator's list and the release contradict each other: refused.
//     11a. The entry's values are too large, or a Secret or ConfigMap that it takes some from is not there: refused, and what is installed
//     keeps the values that it has.
//  12. The previous installation is being deleted or becomes unmanaged: Waiting until it is gone.
//     12a. The version is avoided, see goBack: the installed one stays, or the last one that succeeded is installed again. After all other
//     rules the same holds for what runs, where they keep that, whatever is offered, see depart.
//  13. The version is lower than the installed one: refused; if the rollout of the installed one was aborted, that one is kept.
//  14. The component version is being read: Waiting; it cannot be read or installed: refused.
//     14a. The version needs a module, a definition or a Kubernetes that is not there: Waiting; the modules require each other in a
//     circle, or another module does not work with the version: refused.
//     14b. The version needs consent, by the module's upgradeStrategy or the approval policy, and does not have it: Waiting.
//  15. The version needs downtime, another one is installed, and no maintenance window is open: Waiting until one opens; no policy defines
//     one: refused.
//  16. Another Manifest has the name: Waiting while it is being deleted, else refused.
//     16a. The Kyma's wave has begun, and as many as may upgrade at a time are before it: Waiting.
//  17. Run.
//
// A mandatory module has a verdict of its own, beside that of a module of the same name in the spec: rules 5, 6a, 7, 8, 12 to 14a, 16, 16a
// and 17 decide, since it is for every Kyma and has neither channel nor window. When its release is deleted or being deleted: Removed.
//
// A module that the spec does not name is kept while another one needs it, and removed after those that are removed with it and need it.
//
// Rule 12a lets a mandatory module go back only when its rollout says so. No way back needs a place of rule 16a.
//
// A refusal is Keep where a version is installed: that version stays and, as far as it can be resolved, is still enforced. Otherwise the
// refusal is Refused.
func Resolve(w Snapshot) []Verdict {
	return newResolver(w).resolve()
}

// Needed names the component versions that Resolve looks at, so that they can be read first. It is sorted. When one of them cannot be read,
// Resolve may look at one more, the installed version, but does not depend on it.
func Needed(w Snapshot) []ComponentKey {
	r := newResolver(w)
	r.resolve()
	return slices.SortedFunc(maps.Keys(r.asked), func(a, b ComponentKey) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
}

// Names returns the names that the Manifests of the spec's modules would get. It is sorted. A Manifest that has one of them belongs in the
// Snapshot even when it is not this Kyma's.
func Names(w Snapshot) []string {
	return slices.Compact(slices.Sorted(maps.Values(wantedNames(w))))
}

// resolver holds the Snapshot by module while Resolve runs.
type resolver struct {
	Snapshot
	manifestIndex
	spec   map[string]*v1beta2.Module
	status map[string]*v1beta2.ModuleStatus
	asked  map[ComponentKey]struct{}
	// changes are those that were looked at.
	changes map[ChangeKey]NeededChange
	// targets are the versions that the spec and the mandatory releases lead to, even those that cannot be installed.
	targets map[targetKey]target
	needs   requirementState
	// unusable says why values of entries cannot be used, by module; nil until it is asked for.
	unusable map[string]string
}

func newResolver(w Snapshot) *resolver {
	r := &resolver{
		Snapshot:      w,
		manifestIndex: hold(w),
		spec:          map[string]*v1beta2.Module{},
		status:        statusByName(w.Kyma),
		asked:         map[ComponentKey]struct{}{},
		changes:       map[ChangeKey]NeededChange{},
		targets:       map[targetKey]target{},
		needs:         requirementState{gates: map[targetKey]requirementCheck{}, holds: map[targetKey]obstacle{}},
	}
	for i := range w.Kyma.Spec.Modules {
		r.spec[w.Kyma.Spec.Modules[i].Name] = &w.Kyma.Spec.Modules[i]
	}
	return r
}

// statusByName returns the entries that the status had so far.
func statusByName(kyma *v1beta2.Kyma) map[string]*v1beta2.ModuleStatus {
	entries := map[string]*v1beta2.ModuleStatus{}
	for i := range kyma.Status.Modules {
		entries[kyma.Status.Modules[i].Name] = &kyma.Status.Modules[i]
	}
	return entries
}

func (r *resolver) resolve() []Verdict {
	all := map[string]struct{}{}
	add(all, r.spec)
	add(all, r.status)
	add(all, r.byModule)
	verdicts := make([]Verdict, 0, len(all))
	for module := range all {
		verdicts = append(verdicts, r.module(module))
	}
	return r.foresee(r.withMandatory(verdicts))
}

// add adds the keys of a map to a set.
func add[V any](set map[string]struct{}, from map[string]V) {
	for key := range from {
		set[key] = struct{}{}
	}
}

// module implements rule 0 and continues with the others.
func (r *resolver) module(name string) Verdict {
	spec := r.spec[name]
	v := Verdict{Module: name}
	v.Manifest, v.Surplus = r.of(name)
	v.Origin = Origin{Spec: spec != nil, Status: r.status[name] != nil, Manifest: v.Manifest != nil}
	v.Manual = r.waitsForPerson(&v)
	if r.decreed[name] == nil { // otherwise the status entry now belongs to the mandatory module
		v.stands(installedOf(r.status[name], v.Manifest))
	}
	switch {
	case r.Snapshot.Kyma.DeletionTimestamp != nil:
		v.is(Removed, ruleKymaDeleting, ruleKymaDeleting.message())
	case spec == nil:
		v.is(Removed, ruleDisabled, ruleDisabled.message())
		r.rollOn(&v)
	case spec.Managed != nil && !*spec.Managed:
		v.is(Unmanaged, ruleUnmanaged, ruleUnmanaged.message())
	default:
		v.Policy = cmp.Or(spec.CustomResourcePolicy, v1beta2.CustomResourcePolicyCreateAndDelete)
		v.AllowCRDChanges = spec.AllowCRDChanges
		var lacking *refusal
		v.Values, lacking = valuesFor(spec, v.Manifest, r.unusableValues(name), r.Values)
		v.ValuesUnknown = lacking != nil && v.Manifest == nil
		found, refused := r.choose(&v, moduleRequestOf(r.Snapshot.Kyma, spec))
		if refused == nil {
			refused = lacking
		}
		r.enabled(&v, found, refused)
	}
	return v
}

// enabled implements rules 12 to 15 and 17 for a module that must be managed, after the rules before them have found or refused it.
func (r *resolver) enabled(v *Verdict, found target, refused *refusal) {
	v.ComponentName = cmp.Or(v.ComponentName, found.Component)
	r.targets[targetKey{v.Module, v.Mandatory}] = found
	if refused != nil {
		r.refused(v, refused)
		return
	}
	if terminating(v.Manifest) || leaving(v.Manifest) {
		v.is(Waiting, ruleReinstall, ruleReinstall.message())
		if !found.admission.full() {
			r.update(v, found)
		}
		return
	}
	if found.admission.closed() && found.Version == "" {
		r.wait(v, "")
		return
	}
	have, doubt := r.installedState(v, found)
	v.stands(have)
	if doubt != nil {
		r.component(found.key()) // Needed returns both, so that one round of reading is enough
		if r.unread(v, *doubt, r.component(*doubt)) {
			return
		}
	}
	if r.goBack(v, found, have) {
		return
	}
	if moduleversion.IsDowngrade(have.Version, found.Version) {
		if r.aborted(v, found) {
			return
		}
		r.refused(v, refuse(ruleDowngrade, "from", display(have.Channel, have.Version),
			"to", display(found.Channel, found.Version), "installed", have.Version))
		return
	}
	component := r.content(found.key(), v.Manifest)
	if r.unread(v, found.key(), component) || r.unmet(v, found, component) || r.unapproved(v, found, component) ||
		r.untimely(v, found, have) {
		return
	}
	v.Kind = Run
	v.install(found, component)
}

// unread implements rule 14: it waits for a component that is being read, refuses one that cannot be read, and reports whether it did
// either. A module that has to wait for its rollout anyway does not report that its component is being read.
func (r *resolver) unread(v *Verdict, key ComponentKey, component Component) bool {
	if component.Pending && r.held(v).full() {
		r.wait(v, "")
		return true
	}
	if component.Pending && r.awaitsAlready(v, key) {
		return true
	}
	if component.Pending {
		v.is(Waiting, ruleComponentPending, ruleComponentPending.message("component", key.Name, "version", key.Version))
		return true
	}
	if component.Reason == "" {
		return false
	}
	// The rule's message already names the component, so that the reader's message need not.
	detail := component.Message
	if rest, named := strings.CutPrefix(detail, "component "+key.Name+":"+key.Version+" "); named {
		detail = "it " + rest
	}
	r.refused(v, refuse(failure(component.Reason), "component", key.Name, "version", key.Version, "detail", detail))
	return true
}

// display names a channel, or the version that is pinned instead.
func display(channel, version string) string { return cmp.Or(channel, "version "+version) }

// refused turns a refusal into a Keep where something is installed, and ensures that it stays as it is.
func (r *resolver) refused(v *Verdict, because *refusal) {
	switch {
	case r.held(v).closed() && because.rule != ruleNotSelected:
		r.wait(v, because.message)
	case rules[because.rule].Reason == v1beta2.ReasonNotAllowed, because.rule == ruleNotSelected:
		v.disallow(because)
	case leaving(v.Manifest) || terminating(v.Manifest):
		v.is(Refused, because.rule, because.message)
	default:
		r.enforce(v)
		v.is(Refused, because.rule, because.message)
		if v.Manifest != nil || v.Template != nil {
			v.Kind = Keep
		}
	}
}

// enforce resolves the version that is kept, so that its Manifest can be put back when it was changed or removed. Where it can no longer be
// resolved, the Manifest is left as it is. One that is gone, and whose values are refused by now, is not put back with others.
func (r *resolver) enforce(v *Verdict) {
	if v.ValuesUnknown {
		return
	}
	release, refused := r.releaseFor(v)
	if refused != nil || v.Version == "" {
		return
	}
	kept := target{Channel: v.Channel, Version: v.Version, Component: release.Spec.OCMComponentName}
	have, doubt := r.installedState(v, kept)
	if doubt != nil {
		return
	}
	if moduleversion.IsDowngrade(have.Version, kept.Version) {
		v.stands(have)
		kept.Channel, kept.Version = have.Channel, have.Version
	}
	if kept.Template, refused = r.templateFor(v, kept.Version); refused != nil {
		return
	}
	component := r.content(kept.key(), v.Manifest)
	if !component.Pending && component.Reason == "" && r.consented(v, kept, component) {
		v.install(kept, component)
	}
}

// rollOn lets a module that is removed still follow its channel while its deletion is blocked: the operator may need the newer version to
// release the custom resources in the runtime.
func (r *resolver) rollOn(v *Verdict) {
	if !terminating(v.Manifest) {
		return
	}
	asked := moduleRequest{Module: v.Module, Channel: v.Channel}
	if asked.Channel == "" {
		asked.Version = v.Version
	}
	v.asBefore()
	if found, refused := r.choose(v, asked); refused == nil && !found.admission.full() {
		r.update(v, found)
	}
}

// update gives a Manifest that is being deleted the content of the target, unless the target is lower or cannot be read, or the Manifest is
// becoming unmanaged.
func (r *resolver) update(v *Verdict, found target) {
	if found.Version == "" || leaving(v.Manifest) || moduleversion.IsDowngrade(v.Manifest.Spec.Version, found.Version) ||
		moduleversion.IsDowngrade(v.Version, found.Version) {
		return
	}
	component := r.content(found.key(), v.Manifest)
	if !component.Pending && component.Reason == "" && r.consented(v, found, component) {
		v.install(found, component)
	}
}

// untimely implements rule 15: it holds back an upgrade with downtime, keeps the installed version, and reports whether it did. An upgrade
// that began in a window continues after it.
func (r *resolver) untimely(v *Verdict, found target, have installed) bool {
	if v.Mandatory || !found.Template.Spec.RequiresDowntime || r.Snapshot.Kyma.Spec.SkipMaintenanceWindows ||
		have.Version == "" || have.Version == found.Version || r.begun(v.Manifest, found) {
		return false
	}
	open, opens, known := NextWindow(r.Windows, r.Snapshot.Kyma.Labels, r.Now.Time)
	switch {
	case open:
		return false
	case known:
		r.enforce(v)
		v.is(Waiting, ruleWindowClosed, ruleWindowClosed.message("version", found.Version, "opens", opens.Format(time.RFC3339)))
		v.WakeAt = opens
	case r.Windows == nil:
		r.refused(v, refuse(ruleWindowUnknown, "version", found.Version, "detail", "no maintenance policy is in force"))
	default:
		r.refused(v, refuse(ruleWindowUnknown, "version", found.Version, "detail",
			"the maintenance policy names no window of at least "+r.Windows.MinRemaining.String()+" for this Kyma"))
	}
	return true
}

// begun reports whether the Manifest already installs the target.
func (r *resolver) begun(manifest *v1beta2.Manifest, found target) bool {
	if manifest == nil || manifest.Spec.Version != found.Version {
		return false
	}
	component := r.component(found.key())
	return component.Source == nil || sameSource(manifest, component.Source)
}

// oneNameEach implements rule 16: a Manifest that belongs to another module or another owner is not overwritten.
func (r *resolver) oneNameEach(verdicts []Verdict) {
	taken := map[string]struct{}{}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Template == nil || v.Manifest != nil {
			continue
		}
		name := ManifestName(r.Snapshot.Kyma.Name, v.ComponentName, v.Module)
		holder := r.byName[name]
		if _, again := taken[name]; !again && holder == nil {
			taken[name] = struct{}{}
			continue
		}
		v.Template, v.Source, v.LocalizedImages, v.Extras = nil, nil, nil, Extras{}
		v.stands(installedOf(r.entry(v), nil))
		switch {
		case v.Kind == Waiting: // for a window or a rollout; it does nothing new until then
		case v.Kind != Run && v.State != "":
			v.Kind = Refused // the kept version cannot be put back; the refusal stands
		case terminating(holder):
			v.is(Waiting, ruleReinstall, ruleReinstall.message())
		default:
			v.is(Refused, ruleManifestConflict, ruleManifestConflict.message("manifest", name))
		}
	}
}
