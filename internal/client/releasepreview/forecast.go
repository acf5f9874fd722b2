package releasepreview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// UnknownModuleError is a request for a module whose channels are not known.
type UnknownModuleError struct{ Text string }

// Error returns the sentence.
func (e *UnknownModuleError) Error() string { return e.Text }

// Forecast asks the lifecycle manager's decisions about Kymas, as they would be with the requested change.
type Forecast struct {
	hub     *Hub
	ask     Request
	release *v1beta2.ModuleReleaseMeta // with the change
	before  string                     // version that the channel offers now
	shared  module.Snapshot
	content *v1beta2.ManifestSpec // of the version; nil where it is not known
	// component is what the version installs, with what it requires of the Kyma; requires reports whether any version requires anything.
	component *module.Component
	requires  bool
	// unseen are the requirements of the version that only its cluster can tell about.
	unseen []requirements.Requirement
}

// NewForecast prepares the decisions of a hub with a change. The error is an *UnknownModuleError where the module has no channels.
func NewForecast(hub *Hub, ask Request) (*Forecast, error) {
	f := &Forecast{hub: hub, ask: ask, shared: module.Snapshot{
		Releases: map[string]*v1beta2.ModuleReleaseMeta{}, Templates: map[string]*v1beta2.ModuleTemplate{},
		Windows: hub.Windows, Restricted: hub.Restricted, Approvals: hub.Approvals, Now: metav1.NewTime(hub.Now),
	}}
	for i := range hub.Releases {
		release := &hub.Releases[i]
		if release.Name == ask.Module {
			f.release = release.DeepCopy()
			release = f.release
		}
		f.shared.Releases[release.Name] = release
	}
	for i := range hub.Templates {
		f.shared.Templates[hub.Templates[i].Name] = &hub.Templates[i]
	}
	switch {
	case f.release == nil:
		return nil, &UnknownModuleError{"there is no ModuleReleaseMeta " + ask.Module}
	case f.release.Spec.Mandatory != nil:
		return nil, &UnknownModuleError{"module " + ask.Module + " is mandatory and has no channels"}
	}
	f.offer()
	if hub.Component != nil {
		component := *hub.Component
		f.component, f.content = &component, module.ContentOf(ask.Version, component)
	}
	f.require()
	return f, nil
}

// offer changes the release, and takes the rollout's mark off: rollouts are asked afterwards, for all Kymas at once.
func (f *Forecast) offer() {
	spec := &f.release.Spec
	at := slices.IndexFunc(spec.Channels, func(c v1beta2.ChannelVersion) bool { return c.Channel == f.ask.Channel })
	if at < 0 {
		spec.Channels = append(spec.Channels, v1beta2.ChannelVersion{Channel: f.ask.Channel, Version: f.ask.Version})
	} else {
		f.before, spec.Channels[at].Version = spec.Channels[at].Version, f.ask.Version
	}
	delete(f.release.Annotations, v1beta2.AnnotationRollout)
	if spec.KymaSelector != nil && !f.hub.RestrictedKnown {
		f.shared.Restricted = append(slices.Clone(f.shared.Restricted), f.release.Name)
	}
}

// Before returns the version that the channel offers now, empty when it offers none.
func (f *Forecast) Before() string { return f.before }

// Follows reports whether a Kyma follows the channel, and whether it has the module in another way.
func (f *Forecast) Follows(kyma *v1beta2.Kyma) (follows, otherwise bool) {
	if channel, ok := module.Follows(kyma, f.ask.Module); ok {
		return channel == f.ask.Channel, channel != f.ask.Channel
	}
	return false, slices.ContainsFunc(kyma.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == f.ask.Module })
}

// step is the way of a Kyma from what it has to the version.
type step struct {
	have             *v1beta2.Manifest
	version          string // installed; empty for none
	from, to         string // digests; to is empty where the content is not known
	samever, samecon bool   // it has the version, and the content
}

// stepOf returns the way of a member.
func (f *Forecast) stepOf(m *Member) step {
	s := step{}
	for i := range m.Manifests {
		if manifest := &m.Manifests[i]; manifest.DeletionTimestamp == nil || s.have == nil {
			s.have = manifest
		}
	}
	if s.have != nil {
		s.version, s.from = s.have.Spec.Version, revision.Digest(&s.have.Spec)
	} else if entry := entryOf(m.Kyma, f.ask.Module); entry != nil {
		s.version = entry.Version
	}
	if f.content != nil {
		s.to = revision.Offered(specOf(s.have), f.content).Digest
	}
	s.samever = s.version == f.ask.Version
	s.samecon = s.samever && (s.to == "" || s.from == "" || s.from == s.to)
	return s
}

func specOf(manifest *v1beta2.Manifest) *v1beta2.ManifestSpec {
	if manifest == nil {
		return nil
	}
	return &manifest.Spec
}

func entryOf(kyma *v1beta2.Kyma, name string) *v1beta2.ModuleStatus {
	for i := range kyma.Status.Modules {
		if kyma.Status.Modules[i].Name == name {
			return &kyma.Status.Modules[i]
		}
	}
	return nil
}

// verdict returns the manager's decision about the module of a member.
func (f *Forecast) verdict(m *Member, s *step) module.Verdict {
	w := f.shared
	w.Kyma, w.Manifests = m.Kyma, m.Manifests
	w.Components = f.components(s)
	if f.requires {
		w.Manifests = append(slices.Clone(m.Manifests), standIns(m)...)
	}
	w.RuntimeConsent = runtimeConsent(m.Kyma, f.ask.Module)
	w.Changes = f.changes(w)
	for _, v := range module.Resolve(w) {
		if v.Module == f.ask.Module && !v.Mandatory {
			return v
		}
	}
	return module.Verdict{}
}

// components returns what is installable for one Kyma: the version, and what it has.
func (f *Forecast) components(s *step) map[module.ComponentKey]module.Component {
	name := f.release.Spec.OCMComponentName
	all := map[module.ComponentKey]module.Component{}
	if s.have != nil {
		all[module.ComponentKey{Name: name, Version: s.have.Spec.Version}] = module.InstalledComponent(s.have)
	}
	target := module.ComponentKey{Name: name, Version: f.ask.Version}
	switch _, has := all[target]; {
	case f.component != nil:
		all[target] = *f.component
	case !has:
		all[target] = module.Component{Source: &v1beta2.ImageSpec{Name: name, Ref: unreadRef}}
	}
	return all
}

// changes returns what is known of the steps that consent may be asked for.
func (f *Forecast) changes(w module.Snapshot) map[module.ChangeKey]module.Change {
	all := map[module.ChangeKey]module.Change{}
	for _, needed := range module.NeededChanges(w) {
		known, ok := f.hub.Changes[needed.ChangeKey]
		if !ok {
			known = module.Change{Problem: "it was not compared"}
		}
		all[needed.ChangeKey] = known
	}
	return all
}

// runtimeConsent returns what the hub knows of the word of a runtime's user: a version that waits for it. The rest is in the runtime alone.
func runtimeConsent(kyma *v1beta2.Kyma, name string) map[string]module.EntryConsent {
	entry := entryOf(kyma, name)
	if entry == nil || entry.Pending == nil || !slices.Contains(entry.Pending.From, v1beta2.ConsentRuntime) {
		return nil
	}
	return map[string]module.EntryConsent{name: {Strategy: v1beta2.UpgradeManual}}
}

// consentOf says whose consent a version needs, and to what.
func (f *Forecast) consentOf(v *module.Verdict) string {
	_, detail, _ := strings.Cut(v.Message, "version "+f.ask.Version+" waits for consent")
	return strings.TrimLeft(detail, ": ")
}

// unreadRef stands for the content of a version that could not be read.
const unreadRef = "unread"

// fate is what becomes of a member.
type fate struct {
	outcome        Outcome
	reason, detail string
}

// judge returns what becomes of a member, without its rollout.
func (f *Forecast) judge(m *Member, s *step) fate {
	switch {
	case m.Kyma.DeletionTimestamp != nil, s.have != nil && s.have.DeletionTimestamp != nil:
		return fate{outcome: Leaving}
	case module.KymaSuspended(m.Kyma), s.have != nil && module.ManifestSuspended(s.have):
		return fate{outcome: Suspended, detail: "by the label " + v1beta2.LabelSkipReconciliation}
	}
	v := f.verdict(m, s)
	made := f.classify(&v, s)
	if lost := module.LostReason(m.Kyma, s.have); lost != "" && comes(made.outcome) && made.outcome != WouldBreak {
		return fate{Unreachable, lost, lost}
	}
	return made
}

// classify turns a verdict into an outcome.
func (f *Forecast) classify(v *module.Verdict, s *step) fate {
	made := fate{reason: v.Reason, detail: v.Message}
	switch {
	case v.Back != "" || v.Reason == v1beta2.ReasonRolledBack:
		made.outcome = Avoids
	case v.Kind == module.Run:
		return f.runs(s)
	case v.Kind == module.Removed:
		made.outcome = Removed
	default:
		made.outcome = byReason[v.Reason]
	}
	switch {
	case made.outcome == NeedsConsent:
		made.detail = f.consentOf(v)
	case made.outcome == WaitsForWindow && !v.WakeAt.IsZero():
		made.detail = "opens " + formatTime(v.WakeAt)
	case v.Reason == v1beta2.ReasonMaintenanceWindowUnknown && !f.hub.WindowsKnown:
		made = fate{WaitsForWindow, v1beta2.ReasonWaitingForMaintenanceWindow, "when it opens is not known here"}
	}
	made.outcome = cmp.Or(made.outcome, Refused)
	return made
}

// byReason are the outcomes of the reasons of a verdict that holds a version back; what is not listed is Refused.
var byReason = map[string]Outcome{
	v1beta2.ReasonWaitingForMaintenanceWindow: WaitsForWindow,
	v1beta2.ReasonWaitingForRollout:           WaitsForRollout,
	v1beta2.ReasonApprovalRequired:            NeedsConsent,
	v1beta2.ReasonRequirementMissing:          RequirementMissing,
	v1beta2.ReasonWouldBreak:                  WouldBreak,
	v1beta2.ReasonDowngrade:                   Downgrade,
	v1beta2.ReasonRolloutAborted:              Downgrade,
	v1beta2.ReasonModuleDeleting:              Leaving,
	v1beta2.ReasonDeleting:                    Leaving,
}

// runs returns the outcome of a version that nothing holds back.
func (f *Forecast) runs(s *step) fate {
	switch {
	case s.samecon:
		return fate{outcome: Same}
	case s.samever:
		return fate{outcome: Upgrades, detail: "to other content of the same version"}
	case s.version == "":
		return fate{outcome: Installs}
	}
	return fate{outcome: Upgrades, detail: fmt.Sprintf("from %s", s.version)}
}
