package operations

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// Bounds of one request.
const (
	mostModules   = 50
	mostItems     = 500
	mostPreviewed = 5000
)

// fields lists the fields of each kind, besides kind and confirmation.
var fields = map[Kind][]string{
	Add:       {"kyma", "modules", "direct", "community", "source"},
	Upgrade:   {"items"},
	Delete:    {"kyma", "module", "cascade", "previewed", "with"},
	Manage:    {"kyma", "module", "policy"},
	Unmanage:  {"kyma", "module", "policy"},
	Channel:   {"kyma", "module", "channel", "version"},
	Configure: {"kyma", "module", "object"},
	Promote:   {"release", "channel", "version"},
	Rollout:   {"rollout", "action", "channel", "target", "wave", "version"},
	Back:      {"kyma", "module", "target", "version"},
	Retry:     {"kyma", "module"},
	Approve:   {"kyma", "module", "target"},
	Strategy:  {"kyma", "module", "strategy"},

	Create:     {"kyma", "channel", "modules", "new", "kubeconfig"},
	Connect:    {"kyma", "kubeconfig"},
	DeleteKyma: {"kyma"},
	Suspend:    {"kyma"},
	Resume:     {"kyma"},
}

// Validate returns what is wrong with a request, as far as that can be checked without a cluster.
func (d *Request) Validate() error {
	allowed, known := fields[d.Kind]
	if !known {
		return refuse(WhyInvalid, "kind %q is unknown: use one of add, upgrade, delete, manage, unmanage, channel, configure, promote, "+
			"rollout, back, retry, approve, strategy, create, connect, deleteKyma, suspend, resume", d.Kind)
	}
	for field, set := range d.set() {
		if set && !slices.Contains(allowed, field) {
			return refuse(WhyInvalid, "field %s means nothing for kind %s: omit it", field, d.Kind)
		}
	}
	if err := d.validatePlaces(); err != nil {
		return err
	}
	switch d.Kind {
	case Add:
		return d.validateAdd()
	case Upgrade:
		return d.validateUpgrade()
	case Delete:
		return d.validateDelete()
	case Channel:
		return d.validateChannel()
	case Promote:
		return d.validatePromote()
	case Rollout:
		return d.validateRollout()
	case Create:
		return d.validateCreate()
	case Connect:
		return d.validateConnect()
	case DeleteKyma, Suspend, Resume:
		return nil
	case Configure, Back, Manage, Unmanage, Retry, Approve, Strategy:
	}
	return cmp.Or(d.validateContent(), policy(d.Policy))
}

func (d *Request) validateChannel() error {
	if d.Module == "" && (d.Channel == "" || d.Version != "") {
		return refuse(WhyInvalid, "a Kyma needs a channel, and has no version: set channel")
	}
	return target(d.Channel, d.Version)
}

// validatePromote checks that the fields are there; package packaging checks the rest.
func (d *Request) validatePromote() error {
	if d.Channel == "" || d.Version == "" {
		return refuse(WhyInvalid, "fields channel and version are needed: which channel shall offer which version?")
	}
	return nil
}

// validateContent checks what only one kind has.
func (d *Request) validateContent() error {
	_, _, named := revision.ParseReference(d.Target)
	switch {
	case d.Kind == Configure && (d.Object == nil || d.Object.GetName() == ""):
		return refuse(WhyInvalid, "field object is missing, or has no name: send the custom resource as it shall be")
	case d.Kind == Back && (d.Target == "" || d.Version == ""):
		return refuse(WhyInvalid, "fields target and version are needed: which version does the module leave, and which one does it get?")
	case d.Kind == Approve && !named:
		return refuse(WhyInvalid, "field target names no version and digest: send those that you saw, such as 1.2.3@sha256:...")
	case d.Kind == Strategy && d.Strategy == "":
		return refuse(WhyInvalid, "field strategy is missing: use Automatic or Manual")
	case d.Kind == Strategy:
		return strategy(d.Strategy)
	}
	return nil
}

// set returns which fields are set.
func (d *Request) set() map[string]bool {
	return map[string]bool{
		"kyma": d.Kyma != "", "modules": len(d.Modules) > 0, "direct": d.Direct, "community": d.Community, "source": d.Source != "",
		"items": len(d.Items) > 0, "module": d.Module != "", "cascade": d.Cascade, "previewed": len(d.Previewed) > 0, "policy": d.Policy != "",
		"channel": d.Channel != "", "version": d.Version != "", "object": d.Object != nil, "release": d.Release != "",
		"rollout": d.Rollout != "", "action": d.Action != "", "target": d.Target != "", "wave": d.Wave != "",
		"with": len(d.With) > 0, "strategy": d.Strategy != "", "new": d.New != nil, "kubeconfig": d.Kubeconfig != nil,
	}
}

// validatePlaces checks the names of Kyma, module and release.
func (d *Request) validatePlaces() error {
	ofModule := slices.Contains([]Kind{Manage, Unmanage, Back, Retry, Approve, Strategy}, d.Kind)
	needsKyma := ofModule || slices.Contains([]Kind{Channel, Create, Connect, DeleteKyma, Suspend, Resume}, d.Kind)
	needsModule := ofModule || d.Kind == Delete || d.Kind == Configure
	switch {
	case d.Kyma == "" && needsKyma:
		return refuse(WhyInvalid, "field kyma is missing: write NAMESPACE/NAME")
	case d.Module == "" && needsModule:
		return refuse(WhyInvalid, "field module is missing")
	case d.Release == "" && d.Kind == Promote:
		return refuse(WhyInvalid, "field release is missing: write NAMESPACE/NAME")
	case d.Rollout == "" && d.Kind == Rollout:
		return refuse(WhyInvalid, "field rollout is missing: write NAMESPACE/NAME")
	}
	for field, key := range map[string]string{"kyma": d.Kyma, "release": d.Release, "rollout": d.Rollout} {
		if err := keyed(field, key); key != "" && err != nil {
			return err
		}
	}
	if d.Module == "" {
		return nil
	}
	return moduleName(d.Module)
}

func (d *Request) validateAdd() error {
	switch {
	case len(d.Modules) == 0:
		return refuse(WhyInvalid, "field modules is empty: which modules?")
	case len(d.Modules) > mostModules:
		return refuse(WhyInvalid, "%d modules are too many at once: send at most %d", len(d.Modules), mostModules)
	case d.Direct && d.Community:
		return refuse(WhyInvalid, "direct and community: which of the two?")
	case slices.ContainsFunc(d.Modules, func(m Wanted) bool { return m.Namespace != "" }) && (d.Source != "" || !d.directly()):
		return refuse(WhyInvalid, "field namespace of a module says where its template is, for what is installed directly and comes from no "+
			"source: leave it out")
	case d.Source != "" && !d.Direct && !d.Community:
		return refuse(WhyInvalid, "modules of the source %s are installed directly: set community or direct", d.Source)
	}
	seen := map[string]bool{}
	for _, m := range d.Modules {
		if seen[m.Name] {
			return refuse(WhyInvalid, "module %s is named twice", m.Name)
		}
		seen[m.Name] = true
		if m.Resource != nil && m.Policy == v1beta2.CustomResourcePolicyCreateAndDelete {
			return refuse(WhyInvalid, "module %s: its default custom resource, or the one that was sent: which of the two?", m.Name)
		}
		for _, err := range []error{
			moduleName(m.Name), target(m.Channel, m.Version), policy(m.Policy), strategy(m.Strategy), namespace(m.Namespace),
		} {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Request) validateUpgrade() error {
	if len(d.Items) == 0 || len(d.Items) > mostItems {
		return refuse(WhyInvalid, "%d modules to upgrade: send 1 to %d", len(d.Items), mostItems)
	}
	seen := map[string]bool{}
	for _, i := range d.Items {
		key := i.Kyma + " " + i.Module
		if seen[key] {
			return refuse(WhyInvalid, "module %s is named twice", i.Module)
		}
		seen[key] = true
		if err := keyed("kyma", i.Kyma); i.Kyma != "" && err != nil {
			return err
		}
		for _, err := range []error{moduleName(i.Module), target(i.Channel, i.Version), namespace(i.Namespace)} {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Request) validateRollout() error {
	switch {
	case !slices.Contains(rolloutActions, d.Action):
		return refuse(WhyInvalid, "action %q is unknown: use one of pause, resume, approve, abort", d.Action)
	case d.Action == RolloutPause && (d.Channel != "" || d.Target != "" || d.Wave != ""):
		return refuse(WhyInvalid, "a pause is about the whole rollout: omit channel, target and wave")
	case (d.Action == RolloutApprove || d.Action == RolloutAbort) && d.Target == "":
		return refuse(WhyInvalid, "field target is missing: send the version and digest that you saw")
	case d.Version != "" && d.Action != RolloutAbort:
		return refuse(WhyInvalid, "field version is what an abort goes back to: %s has none", d.Action)
	}
	return nil
}

func (d *Request) validateDelete() error {
	switch {
	case len(d.Previewed) > mostPreviewed:
		return refuse(WhyInvalid, "%d objects are too many at once: delete some of them first, so that at most %d are left",
			len(d.Previewed), mostPreviewed)
	case len(d.Previewed) > 0 && !d.Cascade:
		return refuse(WhyInvalid, "field previewed means nothing without cascade")
	case len(d.With) > 0 && d.Kyma == "":
		return refuse(WhyInvalid, "field with names modules of a Kyma: set kyma")
	case len(d.With) > mostModules:
		return refuse(WhyInvalid, "%d modules are too many at once: send at most %d", len(d.With), mostModules)
	}
	for _, name := range d.With {
		if err := moduleName(name); err != nil {
			return err
		}
	}
	for _, shown := range d.Previewed {
		if shown.UID == "" || shown.Kind == "" || shown.Name == "" {
			return refuse(WhyInvalid, "field previewed: every object needs kind, name and uid, as the preview told them")
		}
	}
	return nil
}

// keyed requires NAMESPACE/NAME.
func keyed(field, text string) error {
	namespace, name, cut := strings.Cut(text, "/")
	if !cut || namespace == "" || name == "" || strings.Contains(name, "/") {
		return refuse(WhyInvalid, "field %s: %q is not NAMESPACE/NAME", field, text)
	}
	return nil
}

func namespace(name string) error {
	if name != "" && len(validation.IsDNS1123Label(name)) > 0 {
		return refuse(WhyInvalid, "%.100q is no namespace", name)
	}
	return nil
}

func moduleName(name string) error {
	if wish, err := kymaedit.ParseWish(name); err != nil || wish.Name != name {
		return refuse(WhyInvalid, "%q is not a module name", name)
	}
	return nil
}

// target requires a channel or a version, at most one of them.
func target(channel, version string) error {
	if channel != "" && version != "" {
		return refuse(WhyInvalid, "channel %s and version %s: set either channel or version, not both", channel, version)
	}
	if channel != "" && !kymaedit.IsChannel(channel) {
		return refuse(WhyInvalid, "%q is not a channel: 3 to 32 lower-case letters", channel)
	}
	if version != "" {
		if wish, err := kymaedit.ParseTarget(version); err != nil || wish.Version == "" {
			return refuse(WhyInvalid, "%q is no version such as 1.2.3", version)
		}
	}
	return nil
}

func strategy(s v1beta2.UpgradeStrategy) error {
	switch s {
	case "", v1beta2.UpgradeAutomatic, v1beta2.UpgradeManual:
		return nil
	}
	return refuse(WhyInvalid, "strategy %q is unknown: use Automatic or Manual", s)
}

func policy(p v1beta2.CustomResourcePolicy) error {
	switch p {
	case "", v1beta2.CustomResourcePolicyCreateAndDelete, v1beta2.CustomResourcePolicyIgnore:
		return nil
	}
	return refuse(WhyInvalid, "policy %q is unknown: use CreateAndDelete or Ignore", p)
}
