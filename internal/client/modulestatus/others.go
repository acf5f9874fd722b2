package modulestatus

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// Reasons of installations without a Kyma.
const (
	// WhyKymaGone: the Kyma that a Manifest belongs to does not exist.
	WhyKymaGone = "KymaGone"
	// WhyInterrupted: an installation was not finished; it continues when the command is repeated.
	WhyInterrupted = "Interrupted"
	// WhySuspended: a label suspends the reconciliation of the module or of its Kyma.
	WhySuspended = "Suspended"
	// WhyManagerMissing: the object that runs the module's operator does not exist.
	WhyManagerMissing = "ManagerMissing"
	// WhyManagerNotReady: the object exists, but does not run.
	WhyManagerNotReady = "ManagerNotReady"
	// WhyByHand: it was installed with other tools.
	WhyByHand = "ByHand"
)

// standAlone returns the modules of Manifests that belong to no Kyma.
func (r *reader) standAlone(manifests []*v1beta2.Manifest) []Module {
	var all []Module
	for _, manifest := range manifests {
		all = append(all, r.ofLone(manifest, Key{}))
	}
	return all
}

// left returns the modules of Manifests whose Kyma was not read: it does not exist, or is unknown.
func (r *reader) left(kyma Key, manifests []*v1beta2.Manifest) []Module {
	var all []Module
	for _, manifest := range manifests {
		m := r.ofLone(manifest, kyma)
		m.Type = Managed
		if r.unread(ownKind(kindKyma), kyma.Namespace) == nil && m.Installation.State != Removing {
			m.Installation = Installation{State: Orphaned, Reason: WhyKymaGone, Message: fmt.Sprintf("there is no Kyma %s", kyma)}
		}
		all = append(all, m)
	}
	return all
}

func (r *reader) ofLone(manifest *v1beta2.Manifest, kyma Key) Module {
	name := cmp.Or(manifest.Labels[v1beta2.LabelModuleName], manifest.Name)
	m := Module{
		Name: name, Type: r.typeOf(name, Community), Managed: true, Policy: manifest.Spec.CustomResourcePolicy,
		Manifest: &Key{manifest.Namespace, manifest.Name}, Version: Version{Desired: manifest.Spec.Version},
		Mandatory:    manifest.Labels[v1beta2.LabelMandatoryModule] == v1beta2.EnabledValue,
		Installation: ofManifest(manifest),
	}
	if kyma.Name != "" {
		m.Kyma = kyma.String()
	}
	m.Since = since(manifest)
	if m.Version.Installed = manifest.Status.InstalledVersion; settled(manifest) {
		m.Version.Installed = manifest.Spec.Version
	}
	of := resourcesOf(nil, manifest)
	of.unclear = false
	m.Module, m.Resource = remoteCondition(of, m.Policy, manifest.Status.ResourceState, manifest.Status.ResourceMessage)
	return m
}

// ofDirect returns a module that was installed without the lifecycle manager.
func (r *reader) ofDirect(d *Direct) Module {
	m := Module{
		Name: d.Module, Type: r.typeOf(d.Module, cmp.Or(d.Type, Community)), Channel: d.Channel, Record: &d.Record, Signed: d.Signed,
		Policy: v1beta2.CustomResourcePolicyCreateAndDelete, Version: Version{Desired: d.Version, Installed: d.Before},
	}
	if d.Unreadable != "" {
		m.Installation = Installation{State: Obscure, Reason: WhyReadFailed, Message: d.Unreadable}
		m.Module = Condition{Unknown, WhyReadFailed, d.Unreadable}
		return m
	}
	template := r.template("", d.Module, d.Version)
	if d.Template != (Key{}) {
		m.Template = &d.Template
		template = r.templates[d.Template]
	}
	if d.Origin != nil {
		m.Origin = d.Origin.URL
	}
	m.Beta = template != nil && template.Labels[v1beta2.LabelBeta] == v1beta2.EnabledValue
	manager, known := r.manager(d.Manager)
	m.Version.Running = managerVersion(manager)
	switch {
	case d.Complete:
		m.Version.Installed = d.Version
	case m.Version.Running != "":
		m.Version.Installed = m.Version.Running
	}
	m.Version.Available = r.available(d, m.Version.Installed)
	m.Installation = r.direct(d, template, manager, known)
	m.Module, m.Resource = r.read(resources{named: d.Resource, checks: d.StateChecks})
	return m
}

// available returns the version of the channel, or else the newest version, in the namespace that the module came from.
func (r *reader) available(d *Direct, installed string) string {
	if d.Channel != "" {
		release, err := ReleaseOf(d.Module, d.Template.Namespace, r.Releases)
		if offered := channelVersion(release, d.Channel); err == nil && offered != "" {
			return offered
		}
	}
	return r.newest(r.offered(d.Module, Choice{Before: d.Template.Namespace}), installed)
}

// direct returns the state of a direct installation, by its record and the object that runs the operator; the first rule that applies.
func (r *reader) direct(d *Direct, template *v1beta2.ModuleTemplate, manager *unstructured.Unstructured, known bool) Installation {
	under := func(phase Phase, reason, message string) Installation {
		return Installation{State: phase, Reason: reason, Message: message, Progress: d.progress()}
	}
	missing := d.Template != (Key{}) && template == nil && r.isListed(ownKind(kindTemplate), d.Template.Namespace)
	switch {
	case d.Disowning:
		return under(Removing, v1beta2.ReasonModuleDeleting, "it is being let go of: repeat kyma delete --keep-resources until that is done")
	case d.Deleting:
		again := "it is being removed: repeat kyma delete until it is gone"
		return under(Removing, v1beta2.ReasonModuleDeleting, cmp.Or(d.Trouble, again))
	case d.Trouble != "":
		return under(Failed, v1beta2.ReasonModuleError, d.Trouble)
	case !d.Complete && d.Before != "":
		return under(Upgrading, WhyInterrupted, "the upgrade is not finished: repeat kyma upgrade to continue")
	case !d.Complete:
		return under(Installing, WhyInterrupted, "it is not finished: repeat kyma add to continue")
	}
	if is := operator(d.Manager, manager, known); is.State != Installed {
		return is
	}
	if missing {
		return Installation{State: Orphaned, Reason: WhyTemplateGone, Message: fmt.Sprintf(
			"its ModuleTemplate %s is gone; kyma delete works without it", d.Template)}
	}
	return Installation{State: Installed}
}

// operator returns the state of the object that runs a module's operator. An object that was not read counts as Installed.
func operator(named *v1beta2.Manager, manager *unstructured.Unstructured, known bool) Installation {
	if !known {
		return Installation{State: Installed}
	}
	ref := Ref{Kind: named.Kind, Namespace: named.Namespace, Name: named.Name}
	if manager == nil {
		return Installation{State: Failed, Reason: WhyManagerMissing, Message: ref.String() + " does not exist"}
	}
	result := health.Of(manager)
	is := Installation{Reason: WhyManagerNotReady, Message: ref.String() + ": " + result.Message}
	switch result.Status {
	case health.InProgress:
		is.State = Installing
	case health.Failed, health.Unknown:
		is.State = Failed
	case health.Terminating:
		is.State = Removing
	default:
		return Installation{State: Installed}
	}
	return is
}

// progress returns how many of all objects were applied.
func (d *Direct) progress() string {
	if len(d.Inventory) == 0 {
		return ""
	}
	done := 0
	for _, entry := range d.Inventory {
		if entry.Hash != "" {
			done++
		}
	}
	return fmt.Sprintf("%d/%d", done, len(d.Inventory))
}

// byHand returns the modules without a record: their objects were applied with other tools. Their operator runs, or only their default
// custom resource is left.
func (r *reader) byHand(others []Module) []Module {
	var all []Module
	for name, templates := range r.versions {
		if known := r.offered(name, Choice{}); known != nil {
			templates = known // templates of other namespaces could name the operator of another module
		}
		if slices.ContainsFunc(others, func(m Module) bool { return m.Name == name }) {
			continue
		}
		m, found := r.foundRunning(name, templates)
		if !found {
			m, found = r.leftBehind(name, templates, others)
		}
		if found {
			all = append(all, m)
		}
	}
	return all
}

func (r *reader) foundRunning(name string, templates []*v1beta2.ModuleTemplate) (m Module, found bool) {
	var of *v1beta2.ModuleTemplate
	var manager *unstructured.Unstructured
	for _, template := range templates {
		object, _ := r.manager(template.Spec.Manager)
		if object == nil {
			continue
		}
		if of == nil || managerVersion(object) == template.ModuleVersion() {
			of, manager = template, object
		}
	}
	if of == nil {
		return Module{}, false
	}
	m = Module{
		Name: name, Type: r.typeOf(name, Community), Template: &Key{of.Namespace, of.Name},
		Version:      Version{Installed: managerVersion(manager)},
		Installation: operator(of.Spec.Manager, manager, true),
		Beta:         of.Labels[v1beta2.LabelBeta] == v1beta2.EnabledValue,
	}
	m.Version.Available = r.newest(r.offered(name, Choice{}), m.Version.Installed)
	if m.Installation.State == Installed {
		m.Installation = Installation{State: LetGo, Reason: WhyByHand, Message: "it was installed with other tools and is not managed"}
	}
	m.Module, m.Resource = r.read(resourcesOf(of, nil))
	return m, true
}
