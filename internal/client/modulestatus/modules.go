package modulestatus

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Modules returns all modules that are in a Kyma or installed, sorted by Kyma and name. Catalog returns those that are available.
func Modules(in Inputs) []Module { return newReader(in).modules() }

func (r *reader) modules() []Module {
	var all []Module
	kymas := map[Key]bool{{}: true}
	for i := range r.Kymas {
		kyma := &r.Kymas[i]
		kymas[Key{kyma.Namespace, kyma.Name}] = true
		all = append(all, r.ofKyma(kyma)...)
	}
	for kyma, manifests := range r.manifests {
		switch {
		case kyma == Key{}:
			all = append(all, r.standAlone(manifests)...)
		case !kymas[kyma]:
			all = append(all, r.left(kyma, manifests)...)
		}
	}
	for i := range r.Direct {
		all = append(all, r.ofDirect(&r.Direct[i]))
	}
	all = append(all, r.byHand(all)...)
	for i := range all {
		all[i].Version = all[i].Version.finish()
		all[i].State = all[i].whole()
		all[i].Signed.State = cmp.Or(all[i].Signed.State, SignatureUnknown)
	}
	slices.SortFunc(all, func(a, b Module) int {
		return cmp.Or(cmp.Compare(a.Kyma, b.Kyma), cmp.Compare(a.Name, b.Name), compareBool(a.Mandatory, b.Mandatory))
	})
	return all
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// entry is all information about one module of a Kyma.
type entry struct {
	kyma     *v1beta2.Kyma
	spec     *v1beta2.KymaSpec
	asked    *v1beta2.Module
	status   *v1beta2.ModuleStatus
	manifest *v1beta2.Manifest
	release  *v1beta2.ModuleReleaseMeta
	template *v1beta2.ModuleTemplate
}

// ofKyma returns the modules of one Kyma: those that it requests, those that its status still lists, and those that have a Manifest.
func (r *reader) ofKyma(kyma *v1beta2.Kyma) []Module {
	spec := Effective(kyma)
	entries := map[string]*entry{}
	at := func(name string) *entry {
		if entries[name] == nil {
			entries[name] = &entry{kyma: kyma, spec: &spec}
		}
		return entries[name]
	}
	for i := range spec.Modules {
		at(spec.Modules[i].Name).asked = &spec.Modules[i]
	}
	for i := range kyma.Status.Modules {
		at(kyma.Status.Modules[i].Name).status = &kyma.Status.Modules[i]
	}
	var all []Module
	for _, manifest := range r.manifests[Key{kyma.Namespace, kyma.Name}] {
		name := cmp.Or(manifest.Labels[v1beta2.LabelModuleName], manifest.Name)
		if manifest.Labels[v1beta2.LabelMandatoryModule] == v1beta2.EnabledValue {
			all = append(all, r.ofEntry(name, &entry{kyma: kyma, spec: &spec, manifest: manifest}))
			continue
		}
		e := at(name)
		if named := e.status; e.manifest == nil || named != nil && named.Manifest != nil && named.Manifest.Name == manifest.Name {
			e.manifest = manifest
		}
	}
	for name, e := range entries {
		all = append(all, r.ofEntry(name, e))
	}
	return all
}

// mandatory reports whether the module is installed automatically.
func (e *entry) mandatory() bool {
	return e.manifest != nil && e.manifest.Labels[v1beta2.LabelMandatoryModule] == v1beta2.EnabledValue
}

// suspended reports whether the reconciliation of the module or of its whole Kyma is suspended.
func (e *entry) suspended() bool {
	return module.KymaSuspended(e.kyma) || e.manifest != nil && module.ManifestSuspended(e.manifest)
}

// managed returns false for a module that the Kyma sets to unmanaged.
func (e *entry) managed() bool { return e.asked == nil || e.asked.Managed == nil || *e.asked.Managed }

// hasValues reports whether the Kyma sets values for the module.
func (e *entry) hasValues() bool {
	return e.asked != nil && (len(e.asked.ValuesFrom) > 0 || !module.SameValues(e.asked.Values, nil))
}

func (e *entry) policy() v1beta2.CustomResourcePolicy {
	switch {
	case e.asked != nil:
		return cmp.Or(e.asked.CustomResourcePolicy, v1beta2.CustomResourcePolicyCreateAndDelete)
	case e.manifest != nil:
		return e.manifest.Spec.CustomResourcePolicy
	}
	return ""
}

// ofEntry returns one module of a Kyma.
func (r *reader) ofEntry(name string, e *entry) Module {
	m := Module{
		Name: name, Kyma: Key{e.kyma.Namespace, e.kyma.Name}.String(), Type: Managed,
		Managed: e.managed(), Policy: e.policy(), Mandatory: e.mandatory(), Suspended: e.suspended(),
		HasValues: e.hasValues(),
	}
	e.release = r.release(e.kyma.Namespace, name)
	r.choose(&m, e)
	m.Installation = r.installation(&m, e)
	state, message := v1beta2.State(""), ""
	switch {
	case e.status != nil && e.status.ResourceState != "":
		state, message = e.status.ResourceState, e.status.ResourceMessage
	case e.manifest != nil:
		state, message = e.manifest.Status.ResourceState, e.manifest.Status.ResourceMessage
	}
	of := resourcesOf(e.template, e.manifest)
	if e.status != nil && e.status.Resource != nil {
		tracked := e.status.Resource
		of.named = &Ref{APIVersion: tracked.APIVersion, Kind: tracked.Kind, Namespace: tracked.Namespace, Name: tracked.Name}
	}
	if Here(e.kyma) {
		m.Module, m.Resource = r.read(of)
	} else {
		m.Module, m.Resource = remoteCondition(of, m.Policy, state, message)
	}
	if m.Module.Reason == WhyNotObserved && state != "" {
		m.Module, _ = remoteCondition(of, m.Policy, state, message)
	}
	m.Signed = e.signed(m.Installation.Reason)
	if m.Since = since(e.manifest); e.manifest == nil {
		m.Since = waitingSince(e.kyma)
	}
	return m
}

// waitingSince returns when a module of a Kyma that has no Manifest yet began to wait at the latest: at the creation or the last change of
// the Kyma, or at the last transition of its condition Ready, whichever came last. The API server records the time of changes with the
// field managers.
func waitingSince(kyma *v1beta2.Kyma) *metav1.Time {
	at := kyma.CreationTimestamp
	for i := range kyma.ManagedFields {
		if by := &kyma.ManagedFields[i]; by.Subresource == "" && by.Time != nil && at.Before(by.Time) {
			at = *by.Time
		}
	}
	if ready := conditions.Find(kyma.Status.Conditions, v1beta2.ConditionReady); ready != nil && at.Before(&ready.LastTransitionTime) {
		at = ready.LastTransitionTime
	}
	return &at
}

// since returns when a Manifest was last Ready, or when it was created.
func since(manifest *v1beta2.Manifest) *metav1.Time {
	if manifest == nil {
		return nil
	}
	ready := conditions.Find(manifest.Status.Conditions, v1beta2.ConditionReady)
	switch {
	case ready == nil:
		return &manifest.CreationTimestamp
	case ready.Status == metav1.ConditionTrue:
		return nil
	}
	return &ready.LastTransitionTime
}

// choose fills in the channel, the versions and the template.
func (r *reader) choose(m *Module, e *entry) {
	if e.manifest != nil {
		m.Manifest = &Key{e.manifest.Namespace, e.manifest.Name}
	}
	switch {
	case m.Mandatory:
		if e.release != nil && e.release.Spec.Mandatory != nil {
			m.Version.Desired = e.release.Spec.Mandatory.Version
			m.Version.Available = m.Version.Desired
		}
	case e.asked != nil && e.asked.Version != "":
		m.Version.Desired = e.asked.Version
		m.Version.Available = channelVersion(e.release, cmp.Or(e.spec.Channel, v1beta2.DefaultChannel))
	case e.asked != nil && module.FollowsRelease(&v1beta2.Kyma{Spec: *e.spec}, e.asked):
		m.Release = e.spec.Release // its version is what the manager says in the status: the release itself is not read here
		if e.status != nil {
			m.Version.Desired, m.Version.Available = e.status.Version, e.status.Version
		}
	case e.asked != nil:
		whole := cmp.Or(e.spec.Channel, v1beta2.DefaultChannel)
		m.Channel = cmp.Or(e.asked.Channel, whole)
		m.ChannelOverridden = m.Channel != whole
		m.Version.Available = channelVersion(e.release, m.Channel)
		m.Version.Desired = m.Version.Available
	case e.status != nil:
		m.Channel = e.status.Channel
	}
	if m.Version.Desired == "" && e.asked != nil && e.status != nil {
		m.Version.Desired = e.status.Version
	}
	if e.status != nil {
		m.Maintenance, m.Offered = e.status.Maintenance, e.status.Offered
		if Awaits(e.status.Pending) {
			m.Pending, m.ConsentHere = e.status.Pending, ConsentHere(e.kyma, e.status.Pending)
		}
	}
	r.chooseTemplate(m, e)
	m.Beta = e.template != nil && e.template.Labels[v1beta2.LabelBeta] == v1beta2.EnabledValue
	if e.template != nil {
		m.TemplateVersion = e.template.ModuleVersion()
	}
	m.Version.Running = r.running(e)
	m.Version.Installed = installed(e, m.Version.Running)
}

// chooseTemplate fills in the template of the requested version.
func (r *reader) chooseTemplate(m *Module, e *entry) {
	if e.status != nil && e.status.Template != nil {
		m.Template = &Key{e.status.Template.Namespace, e.status.Template.Name}
		e.template = r.templates[*m.Template]
	}
	if e.template == nil {
		version := m.Version.Desired
		if e.manifest != nil {
			version = e.manifest.Spec.Version
		}
		if e.template = r.template(e.kyma.Namespace, m.Name, version); e.template != nil && m.Template == nil {
			m.Template = &Key{e.template.Namespace, e.template.Name}
		}
	}
}

// running returns the version of the object that runs the module's operator; "" if that is in another cluster, or has no version.
func (r *reader) running(e *entry) string {
	of := (*v1beta2.Manager)(nil)
	switch {
	case !Here(e.kyma):
		return ""
	case e.template != nil:
		of = e.template.Spec.Manager
	case e.manifest != nil:
		of = e.manifest.Spec.Manager
	}
	manager, _ := r.manager(of)
	return managerVersion(manager)
}

// installed returns the installed version; the first that is known:
//
//  1. That of the Manifest, once its spec was observed running, or without a Manifest that of the Kyma's status.
//  2. While a version is being applied or is refused: that of the object that runs the operator.
//  3. The previously installed version.
func installed(e *entry, running string) string {
	switch {
	case e.manifest != nil && settled(e.manifest):
		return e.manifest.Spec.Version
	case e.manifest == nil && e.status != nil && (e.status.State == v1beta2.StateReady || e.status.State == v1beta2.StateWarning):
		return e.status.Version
	case running != "":
		return running
	case e.manifest != nil && e.manifest.Status.InstalledVersion != "":
		return e.manifest.Status.InstalledVersion
	case e.status != nil:
		return e.status.InstalledVersion
	}
	return ""
}

// settled reports whether a Manifest's current spec was observed running.
func settled(manifest *v1beta2.Manifest) bool {
	status := &manifest.Status
	well := status.State == v1beta2.StateReady || status.State == v1beta2.StateWarning
	brought := conditions.IsTrueAt(status.Conditions, v1beta2.ConditionInstallation, manifest.Generation)
	return status.ObservedGeneration == manifest.Generation && (well || brought)
}
