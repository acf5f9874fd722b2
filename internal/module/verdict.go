package module

import (
	"cmp"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Kind is what a verdict does with a module.
type Kind string

// The kinds of verdict. There are no others.
const (
	// Run installs what was requested, or keeps it installed.
	Run Kind = "Run"
	// Keep refuses what was requested and leaves the installed version running.
	Keep Kind = "Keep"
	// Refused refuses what was requested, and nothing is installed.
	Refused Kind = "Refused"
	// Removed removes the module.
	Removed Kind = "Removed"
	// Waiting does nothing new until a temporary obstacle has passed by itself.
	Waiting Kind = "Waiting"
	// Unmanaged stops managing the module and leaves its objects running.
	Unmanaged Kind = "Unmanaged"
)

// Origin describes where a module was found; Release means a ModuleReleaseMeta that applies to every Kyma.
type Origin struct{ Spec, Status, Manifest, Release bool }

// Verdict is the decision about one module.
type Verdict struct {
	// Module by name.
	Module string
	// Mandatory modules are installed without a request. A module may have two verdicts, one as mandatory and one because the spec or the
	// status names it; then only one of the two has something to write.
	Mandatory bool
	// Origin describes where it was found.
	Origin Origin
	// Kind of the verdict.
	Kind Kind
	// State that the rule defines; empty when the Manifest decides: with Run, and while what runs is kept for no fault of anything.
	State v1beta2.State
	// Reason and Message of the rule; empty for Run.
	Reason, Message string
	// WakeAt is the time at which the maintenance window that the module waits for opens; zero when it waits for none.
	WakeAt time.Time
	// Offered is the version that waits for its rollout; empty when none does.
	Offered string
	// Consent is what rule 14b found; empty when an earlier rule decided. Pending is the version that waits for consent: with its sides, or
	// without any where it waits for something else and has a deadline. ForceAt is when the deadline has to be looked at, zero for never.
	Consent Consent
	Pending *v1beta2.PendingVersion
	ForceAt time.Time
	// Manual is true where new versions wait for a person, by the hub's entry or the runtime's, or did when the module was in the spec.
	Manual bool
	// Silent keeps the wait out of the status: it is over in a moment, and to tell it would cost a write.
	Silent bool
	// Channel, Version and ComponentName of the version that is installed or being installed: with Keep, those of the version that is kept.
	// Channel is empty for a pinned version; Channel and Version are empty when nothing is installed.
	Channel, Version, ComponentName string
	// Template, Source, LocalizedImages, Extras, Policy, AllowCRDChanges and Values define the content of the Manifest. When Template is nil,
	// the Manifest is left as it is.
	Template        *v1beta2.ModuleTemplate
	Source          *v1beta2.ImageSpec
	LocalizedImages []string
	Extras          Extras
	Policy          v1beta2.CustomResourcePolicy
	// AllowCRDChanges are those of the Kyma's entry; the template's come on top.
	AllowCRDChanges []v1beta2.CRDRule
	// Values are those of the Kyma's entry. ValuesUnknown is true where they cannot be had, and no Manifest has those of before.
	Values        *v1beta2.EntryValues
	ValuesUnknown bool
	// Doubt is a warning for users about a component that is installed nevertheless; empty when there is none.
	Doubt string
	// Back is why an earlier version is installed in place of the target: the value of AnnotationRollback; empty when it is not. BackDetail
	// says what was wrong with the target, where the module goes back by itself.
	Back, BackDetail string
	// Avoid is the reference of the version that the module went back from by itself, while that is what it would get otherwise.
	Avoid string
	// Deadline is when an upgrade that is under way must be ready, where something follows if it is not; zero otherwise.
	Deadline time.Time
	// Note says in time that an upgrade would have no way back; empty when it has one, or none is asked for.
	Note string
	// Manifest that exists for the module, nil when none does.
	Manifest *v1beta2.Manifest
	// Successor is the module that takes the place of a Removed one and has not recorded the objects that it installs yet: until then nothing
	// is deleted.
	Successor string
	// After are modules that need a Removed one and are removed before it: until they are gone, nothing is deleted.
	After []string
	// Requires is what the version of Template requires, by the template and the component.
	Requires []requirements.Requirement
	// Surplus are further Manifests of the same module, such as one with an earlier name. They are deleted once Manifest is ready.
	Surplus []*v1beta2.Manifest
}

// is sets the kind, and the state, reason and message of a rule.
func (v *Verdict) is(kind Kind, r rule, message string) {
	v.Kind, v.State, v.Reason, v.Message = kind, rules[r].State, rules[r].Reason, message
}

// stands sets the installed version.
func (v *Verdict) stands(have installed) {
	v.Channel, v.Version = have.Channel, have.Version
	v.ComponentName = cmp.Or(have.Component, v.ComponentName)
}

// install sets the version to install, and its content.
func (v *Verdict) install(found target, component Component) {
	v.Channel, v.Version, v.ComponentName = found.Channel, found.Version, found.Component
	v.Template, v.Source, v.LocalizedImages = found.Template, component.Source, component.LocalizedImages
	v.Extras, v.Doubt = component.Extras, component.Warning
	v.Requires = requiresOf(found.Template, component)
}

// asBefore keeps what the Kyma's entry said, for a module that has none any more.
func (v *Verdict) asBefore() {
	spec := &v.Manifest.Spec
	v.Policy, v.AllowCRDChanges, v.Values = spec.CustomResourcePolicy, spec.AllowCRDChanges, spec.KymaValues
}

// disallow removes a module that this Kyma may no longer have.
func (v *Verdict) disallow(because *refusal) {
	if v.Manifest == nil {
		v.is(Refused, because.rule, because.message)
		v.Channel, v.Version = "", ""
		return
	}
	v.is(Removed, because.rule, because.message)
}
