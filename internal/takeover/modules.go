package takeover

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const subjectModules = "modules"

// modules checks the verdicts of Resolve on the modules that upstream has installed.
//
// The request of a Kyma is in its runtime and not visible on the hub: modules that its status names and that are not being deleted count as
// requested. Components count as readable, and maintenance windows as open: the switch changes neither.
func (j *judge) modules() {
	read := j.hub
	if cmp.Or(read.Kymas.Err, read.Manifests.Err, read.Templates.Err, read.Releases.Err) != "" {
		j.sayf(subjectModules, Refused, "cannot be judged, since Kymas, Manifests, ModuleTemplates and ModuleReleaseMetas could not all be read")
		return
	}
	offer := newOffer(read, restricted(j.settings))
	kymas, _ := decoded[v1beta2.Kyma](read.Kymas)
	found, examples, total := map[change][]string{}, map[change]string{}, 0
	for i := range kymas {
		kyma := &kymas[i]
		if module.KymaSuspended(kyma) || !kyma.DeletionTimestamp.IsZero() {
			continue
		}
		verdicts := offer.verdicts(kyma)
		for k := range verdicts {
			total++
			c, changes := changeOf(kyma, &verdicts[k])
			if !changes {
				continue
			}
			found[c] = append(found[c], placeOf(kyma)+": "+verdicts[k].Module)
			examples[c] = cmp.Or(examples[c], verdicts[k].Message)
		}
	}
	order := slices.SortedFunc(maps.Keys(found), func(a, b change) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.reason, b.reason), cmp.Compare(a.becomes, b.becomes))
	})
	for _, c := range order {
		j.atf(subjectModules, c.level, found[c], "%s (%s): %s", c.becomes, c.reason, examples[c])
	}
	j.soundf(subjectModules, "%s of %s stay as they are", english.Plural(total, "module", ""), english.Plural(len(kymas), "Kyma", ""))
}

// restricted returns the modules of the flag.
func restricted(s Settings) []string {
	var names []string
	for name := range strings.SplitSeq(s.Flags["restricted-default-modules"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// offer is what the hub offers to Kymas.
type offer struct {
	releases   map[string]*v1beta2.ModuleReleaseMeta
	mandatory  []*v1beta2.ModuleReleaseMeta
	templates  map[string]*v1beta2.ModuleTemplate
	byKyma     map[string][]v1beta2.Manifest
	byName     map[string]v1beta2.Manifest
	restricted []string
}

func newOffer(hub *Hub, restricted []string) *offer {
	o := &offer{
		releases: map[string]*v1beta2.ModuleReleaseMeta{}, templates: map[string]*v1beta2.ModuleTemplate{},
		byKyma: map[string][]v1beta2.Manifest{}, byName: map[string]v1beta2.Manifest{}, restricted: restricted,
	}
	releases, _ := decoded[v1beta2.ModuleReleaseMeta](hub.Releases)
	for i := range releases {
		o.releases[releases[i].Name] = &releases[i]
		if releases[i].Spec.Mandatory != nil {
			o.mandatory = append(o.mandatory, &releases[i])
		}
	}
	templates, _ := decoded[v1beta2.ModuleTemplate](hub.Templates)
	for i := range templates {
		o.templates[templates[i].Name] = &templates[i]
	}
	manifests, _ := decoded[v1beta2.Manifest](hub.Manifests)
	for i := range manifests {
		name := module.KymaName(&manifests[i])
		o.byKyma[name] = append(o.byKyma[name], manifests[i])
		o.byName[manifests[i].Name] = manifests[i]
	}
	return o
}

// verdicts returns what this manager decides about a Kyma.
func (o *offer) verdicts(kyma *v1beta2.Kyma) []module.Verdict {
	asked := kyma.DeepCopy()
	asked.Spec.SkipMaintenanceWindows = true
	asked.Spec.Modules = installed(kyma)
	world := module.Snapshot{
		Kyma: asked, Releases: o.releases, Mandatory: o.mandatory, Templates: o.templates, Manifests: slices.Clone(o.byKyma[kyma.Name]),
		Restricted: o.restricted, Components: map[module.ComponentKey]module.Component{},
	}
	for _, name := range module.Names(world) {
		if other, is := o.byName[name]; is && module.KymaName(&other) != kyma.Name {
			world.Manifests = append(world.Manifests, other)
		}
	}
	for _, key := range module.Needed(world) {
		world.Components[key] = module.Component{Source: &v1beta2.ImageSpec{Name: key.Name, Ref: key.Version, Type: v1beta2.RefTypeOCI}}
	}
	return module.Resolve(world)
}

// installed returns the modules that upstream manages for a Kyma, as entries of its spec.
func installed(kyma *v1beta2.Kyma) []v1beta2.Module {
	var modules []v1beta2.Module
	for i := range kyma.Status.Modules {
		entry := &kyma.Status.Modules[i]
		if entry.State == v1beta2.StateDeleting {
			continue
		}
		asked := v1beta2.Module{Name: entry.Name, Channel: entry.Channel}
		if entry.State == v1beta2.StateUnmanaged {
			asked.Managed = new(bool)
		}
		modules = append(modules, asked)
	}
	return modules
}

// change is the effect of the switch on some modules.
type change struct {
	level           Level
	reason, becomes string
}

// The texts for the effects on modules.
const (
	orphaned = "no status of a Kyma names the module of this Manifest, which upstream calls orphaned: this manager deletes it with " +
		"all its objects, unless its Kyma requests the module"
	takenAway = "removed by this manager"
	refused   = "refused by this manager"
	kept      = "kept in the running version, and reported as an Error or a Warning by this manager"
)

// changeOf returns what the switch changes for a module, if anything. A module that upstream also refuses, or already removes, is not
// changed.
func changeOf(kyma *v1beta2.Kyma, v *module.Verdict) (c change, changes bool) {
	c = change{reason: v.Reason}
	state := stateOf(kyma, v)
	switch {
	case state == v1beta2.StateError, state == v1beta2.StateWarning, state == v1beta2.StateDeleting,
		v.Manifest != nil && !v.Manifest.DeletionTimestamp.IsZero():
		return c, false
	case v.Kind == module.Removed && v.Origin.Manifest && !v.Origin.Spec && !v.Origin.Release:
		c.level, c.becomes = Refused, orphaned
	case v.Kind == module.Removed:
		c.level, c.becomes = Refused, takenAway
	case v.Kind == module.Refused:
		c.level, c.becomes = Refused, refused
	case v.Kind == module.Keep:
		c.level, c.becomes = Differs, kept
	default:
		return c, false
	}
	return c, true
}

// stateOf returns upstream's state of a module: that in the status of the Kyma, or for a mandatory module that of its Manifest.
func stateOf(kyma *v1beta2.Kyma, v *module.Verdict) v1beta2.State {
	if !v.Mandatory {
		for i := range kyma.Status.Modules {
			if kyma.Status.Modules[i].Name == v.Module {
				return kyma.Status.Modules[i].State
			}
		}
	}
	if v.Mandatory && v.Manifest != nil {
		return v.Manifest.Status.State
	}
	return ""
}
