package operations

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// Kind is the kind of a Request.
type Kind string

// The kinds of requests.
const (
	// Add installs modules: as entries of a Kyma, or directly.
	Add Kind = "add"
	// Upgrade installs other versions.
	Upgrade Kind = "upgrade"
	// Delete deletes a module.
	Delete Kind = "delete"
	// Manage lets the lifecycle manager manage a module again, Unmanage makes it release the module.
	Manage   Kind = "manage"
	Unmanage Kind = "unmanage"
	// Channel sets the channel of a Kyma, or of one of its modules.
	Channel Kind = "channel"
	// Configure writes the custom resource of a module.
	Configure Kind = "configure"
	// Promote lets a channel of a release offer a version.
	Promote Kind = "promote"
	// Rollout pauses or resumes a rollout, or decides about the target of one of its channels.
	Rollout Kind = "rollout"
	// Back lets a module go back to the version before, and Retry tries again what it went back from.
	Back  Kind = "back"
	Retry Kind = "retry"
	// Approve agrees to a version that waits for consent, and Strategy says whether versions wait for it at all.
	Approve  Kind = "approve"
	Strategy Kind = "strategy"
	// Create creates a Kyma, Connect gives it access to its cluster, and DeleteKyma deletes it with its modules.
	Create     Kind = "create"
	Connect    Kind = "connect"
	DeleteKyma Kind = "deleteKyma"
	// Suspend lets the lifecycle manager leave a Kyma alone until Resume.
	Suspend Kind = "suspend"
	Resume  Kind = "resume"
)

// Request is a requested change. Which fields apply depends on the kind; the others must be empty.
type Request struct {
	Kind Kind `json:"kind"`
	// Kyma is NAMESPACE/NAME. Without one, a request is about modules that are installed directly into the cluster itself.
	Kyma string `json:"kyma,omitempty"`
	// Modules to add.
	Modules []Wanted `json:"modules,omitempty"`
	// Direct installs them without the lifecycle manager on purpose, Community because they are never managed.
	Direct    bool `json:"direct,omitempty"`
	Community bool `json:"community,omitempty"`
	// Source is the catalog that directly installed modules come from; empty means the cluster's own.
	Source string `json:"source,omitempty"`
	// Confirmation is the text that the user typed, if a Preview requires one.
	Confirmation string `json:"confirmation,omitempty"`
	// Items to upgrade.
	Items []Item `json:"items,omitempty"`
	// Module is the module that all other kinds are about.
	Module string `json:"module,omitempty"`
	// Cascade deletes the objects of Previewed with the module.
	Cascade   bool              `json:"cascade,omitempty"`
	Previewed []PreviewedObject `json:"previewed,omitempty"`
	// With are modules that need the deleted one, and are removed with it: those that a Preview showed.
	With []string `json:"with,omitempty"`
	// Policy is the policy for the default custom resource.
	Policy v1beta2.CustomResourcePolicy `json:"policy,omitempty"`
	// Channel or Version is the target.
	Channel string `json:"channel,omitempty"`
	Version string `json:"version,omitempty"`
	// Object is the desired custom resource.
	Object *unstructured.Unstructured `json:"object,omitempty"`
	// Release is NAMESPACE/NAME.
	Release string `json:"release,omitempty"`
	// Strategy is how the module follows its channel.
	Strategy v1beta2.UpgradeStrategy `json:"strategy,omitempty"`
	// Rollout is NAMESPACE/NAME, and Action is what is done about it. Target, Wave and Version, which an abort or a way back leads to, are
	// those that the user saw: a decision about others is refused.
	Rollout string        `json:"rollout,omitempty"`
	Action  RolloutAction `json:"action,omitempty"`
	Target  string        `json:"target,omitempty"`
	Wave    string        `json:"wave,omitempty"`
	// New describes the Kyma to create, beside Kyma, Channel and Modules.
	New *NewKyma `json:"new,omitempty"`
	// Kubeconfig leads to the cluster of the Kyma.
	Kubeconfig *Kubeconfig `json:"kubeconfig,omitempty"`
}

// NewKyma is what only a Kyma that is created has.
type NewKyma struct {
	// Local installs its modules into the cluster that it lives in. That cannot be changed later.
	Local bool `json:"local,omitempty"`
	// Release is the KymaRelease that says which versions its modules have, in place of a channel.
	Release                string            `json:"release,omitempty"`
	Labels                 map[string]string `json:"labels,omitempty"`
	SkipMaintenanceWindows bool              `json:"skipMaintenanceWindows,omitempty"`
}

// Wanted is one module to add.
type Wanted struct {
	Name    string                       `json:"name"`
	Channel string                       `json:"channel,omitempty"`
	Version string                       `json:"version,omitempty"`
	Policy  v1beta2.CustomResourcePolicy `json:"policy,omitempty"`
	// Strategy is how the module follows its channel; empty leaves that as it is.
	Strategy v1beta2.UpgradeStrategy `json:"strategy,omitempty"`
	// Resource is created in place of the default custom resource.
	Resource *unstructured.Unstructured `json:"resource,omitempty"`
	// Namespace is where the template of a directly installed module is taken from; if it is empty, modulestatus.Choice decides.
	Namespace string `json:"namespace,omitempty"`
}

// Item is one module to upgrade. Without a version and a channel, it is upgraded to the newest version.
type Item struct {
	Kyma    string `json:"kyma,omitempty"`
	Module  string `json:"module"`
	Version string `json:"version,omitempty"`
	Channel string `json:"channel,omitempty"`
	// Namespace is where the template of a directly installed module is taken from; empty means the one that it came from.
	Namespace string `json:"namespace,omitempty"`
}

// PreviewedObject is an object that a Preview showed.
type PreviewedObject struct {
	modulestatus.Ref
	UID types.UID `json:"uid"`
}

// Title describes the request in a few words.
func (d *Request) Title() string {
	if title, is := titlesOfKyma[d.Kind]; is {
		return title + " Kyma " + d.Kyma
	}
	where := ""
	if d.Kyma != "" {
		where = " in " + d.Kyma
	}
	switch d.Kind {
	case Add:
		var names []string
		for _, m := range d.Modules {
			names = append(names, m.Name)
		}
		return "Add " + few(names) + where
	case Upgrade:
		var names []string
		for _, i := range d.Items {
			names = append(names, i.Module)
		}
		return "Upgrade " + few(names)
	case Delete:
		return "Delete " + few(append(slices.Clone(d.With), d.Module)) + where
	case Manage:
		return "Manage " + d.Module + where
	case Unmanage:
		return "Stop managing " + d.Module + where
	case Configure:
		return "Configure " + d.Module + where
	case Promote:
		return fmt.Sprintf("Let channel %s of %s offer %s", d.Channel, d.Release, d.Version)
	case Rollout:
		return d.rolloutTitle()
	case Back:
		return "Go back to " + d.Module + " " + d.Version + where
	case Retry:
		return "Try " + d.Module + " again" + where
	case Approve:
		version, _ := splitReference(d.Target)
		return "Approve " + d.Module + " " + version + where
	case Strategy:
		return d.strategyTitle() + where
	case Channel, Create, Connect, DeleteKyma, Suspend, Resume:
	}
	goal := d.Channel + d.Version
	switch {
	case d.Module == "":
		return fmt.Sprintf("Set the channel of %s to %s", d.Kyma, goal)
	case goal == "":
		return fmt.Sprintf("Let %s follow the channel of %s", d.Module, d.Kyma)
	}
	return fmt.Sprintf("Set %s to %s%s", d.Module, goal, where)
}

// titlesOfKyma are what requests about a Kyma as an object do.
var titlesOfKyma = map[Kind]string{Create: "Create", Connect: "Connect", DeleteKyma: "Delete", Suspend: "Suspend", Resume: "Resume"}

// splitReference returns the version and the digest of a reference such as 1.2.3@sha256:...
func splitReference(reference string) (version, digest string) {
	version, digest, _ = strings.Cut(reference, "@")
	return version, digest
}

func (d *Request) strategyTitle() string {
	if d.Strategy == v1beta2.UpgradeManual {
		return "Ask before each version of " + d.Module
	}
	return "Install versions of " + d.Module + " by itself"
}

func (d *Request) rolloutTitle() string {
	version, _ := splitReference(d.Target)
	switch d.Action {
	case RolloutPause:
		return "Pause the rollout of " + d.Rollout
	case RolloutApprove:
		return fmt.Sprintf("Approve wave %s of %s %s", d.Wave, d.Rollout, version)
	case RolloutResume:
		return strings.TrimSpace(fmt.Sprintf("Resume the rollout of %s %s", d.Rollout, version))
	case RolloutAbort:
		return fmt.Sprintf("Abort the rollout of %s %s", d.Rollout, version)
	}
	return ""
}

// few lists some names.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// directly reports whether an add bypasses the lifecycle manager.
func (d *Request) directly() bool { return d.Direct || d.Community || d.Kyma == "" }

// custom reports whether the request contains custom resources of the user.
func (d *Request) custom() bool {
	return d.Object != nil || slices.ContainsFunc(d.Modules, func(m Wanted) bool { return m.Resource != nil })
}

// bare returns the request with only the names of the custom resources: their content may be secret.
func (d *Request) bare() Request {
	made := *d
	made.Object, made.Modules = nameOnly(d.Object), slices.Clone(d.Modules)
	made.Kubeconfig = d.Kubeconfig.withoutText()
	for i := range made.Modules {
		made.Modules[i].Resource = nameOnly(made.Modules[i].Resource)
	}
	return made
}

func nameOnly(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object == nil {
		return nil
	}
	made := &unstructured.Unstructured{}
	made.SetAPIVersion(object.GetAPIVersion())
	made.SetKind(object.GetKind())
	made.SetNamespace(object.GetNamespace())
	made.SetName(object.GetName())
	return made
}

// kymas returns the Kymas that the request is about.
func (d *Request) kymas() []string {
	all := []string{}
	if d.Kyma != "" {
		all = append(all, d.Kyma)
	}
	for _, i := range d.Items {
		if i.Kyma != "" && !slices.Contains(all, i.Kyma) {
			all = append(all, i.Kyma)
		}
	}
	return all
}
