package module

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// manifestIndex maps modules to their Manifests.
type manifestIndex struct {
	kyma        *v1beta2.Kyma
	byModule    map[string][]*v1beta2.Manifest        // of this Kyma; the first one is kept
	byMandatory map[string][]*v1beta2.Manifest        // the same for mandatory modules; a Manifest is in one of the two
	decreed     map[string]*v1beta2.ModuleReleaseMeta // releases of mandatory modules
	byName      map[string]*v1beta2.Manifest          // all Manifests of the Snapshot
	names       map[string]string                     // module -> upstream's name of its Manifest, where the release is known
}

// hold sorts the Manifests of the Snapshot by module.
func hold(w Snapshot) manifestIndex {
	h := manifestIndex{
		kyma:        w.Kyma,
		byModule:    map[string][]*v1beta2.Manifest{},
		byMandatory: map[string][]*v1beta2.Manifest{},
		decreed:     map[string]*v1beta2.ModuleReleaseMeta{},
		byName:      map[string]*v1beta2.Manifest{},
		names:       wantedNames(w),
	}
	for _, release := range w.Mandatory {
		h.decreed[release.Name] = release
	}
	known := h.knownNames()
	for i := range w.Manifests {
		manifest := &w.Manifests[i]
		h.byName[manifest.Name] = manifest
		module := attribute(manifest, known)
		switch {
		case !ours(w.Kyma, manifest) || module == "":
		case h.mandatory(w, module, manifest):
			h.byMandatory[module] = append(h.byMandatory[module], manifest)
		default:
			h.byModule[module] = append(h.byModule[module], manifest)
		}
	}
	for _, sorted := range []map[string][]*v1beta2.Manifest{h.byModule, h.byMandatory} {
		for module, manifests := range sorted {
			slices.SortFunc(manifests, h.preferred(module))
		}
	}
	return h
}

// mandatory reports whether a Manifest belongs to a mandatory module. While the module has a release, the release decides: when it becomes
// mandatory, or stops being so, the installed module is kept instead of being installed again. Otherwise the label of the Manifest decides,
// unless the status shows that the spec requested the module.
func (h manifestIndex) mandatory(w Snapshot, module string, manifest *v1beta2.Manifest) bool {
	if h.decreed[module] != nil {
		return true
	}
	if manifest.Labels[v1beta2.LabelMandatoryModule] != v1beta2.EnabledValue {
		return false
	}
	if slices.ContainsFunc(w.Kyma.Status.Modules, func(entry v1beta2.ModuleStatus) bool {
		return entry.Name == module && entry.Manifest != nil && entry.Manifest.Name == manifest.Name
	}) {
		return false
	}
	release := w.Releases[module]
	asked := slices.ContainsFunc(w.Kyma.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == module })
	return !asked || release == nil || release.Spec.Mandatory != nil || release.DeletionTimestamp != nil
}

// ours reports whether a Manifest belongs to this Kyma. A Manifest whose owner reference was removed by hand is recognised by its labels; a
// stand-alone Manifest may carry the label kyma-name too (it names the runtime), but not managed-by.
func ours(kyma *v1beta2.Kyma, manifest *v1beta2.Manifest) bool {
	if controller := metav1.GetControllerOf(manifest); controller != nil {
		return controller.UID == kyma.UID && controller.Kind == "Kyma"
	}
	return manifest.Labels[v1beta2.LabelKymaName] == kyma.Name &&
		manifest.Labels[v1beta2.LabelManagedBy] == v1beta2.ManagedByLifecycleManager
}

// KymaName returns the name of the Kyma that a Manifest belongs to, "" for a stand-alone Manifest. The latter may carry the label kyma-name
// too, which leads to its cluster, but has neither an owner nor managed-by. A Manifest of a Kyma whose owner reference was removed by hand
// still has both labels.
func KymaName(manifest metav1.Object) string {
	labels := manifest.GetLabels()
	switch owner := metav1.GetControllerOf(manifest); {
	case owner != nil && owner.Kind == "Kyma":
		return owner.Name
	case owner == nil && labels[v1beta2.LabelManagedBy] == v1beta2.ManagedByLifecycleManager:
		return labels[v1beta2.LabelKymaName]
	default:
		return ""
	}
}

// wantedNames returns the names of Manifests by module, for the modules whose component name is known, mandatory ones included.
func wantedNames(w Snapshot) map[string]string {
	names := map[string]string{}
	for i := range w.Kyma.Spec.Modules {
		module := w.Kyma.Spec.Modules[i].Name
		if release := w.Releases[module]; release != nil && release.Spec.OCMComponentName != "" {
			names[module] = ManifestName(w.Kyma.Name, release.Spec.OCMComponentName, module)
		}
	}
	for _, release := range w.Mandatory {
		if release.Spec.OCMComponentName != "" {
			names[release.Name] = ManifestName(w.Kyma.Name, release.Spec.OCMComponentName, release.Name)
		}
	}
	return names
}

// knownNames maps names of Manifests to the modules that have or would get them, from status and spec.
func (h manifestIndex) knownNames() map[string][]string {
	known := map[string][]string{}
	for i := range h.kyma.Status.Modules {
		if entry := &h.kyma.Status.Modules[i]; entry.Manifest != nil {
			known[entry.Manifest.Name] = append(known[entry.Manifest.Name], entry.Name)
		}
	}
	for module, name := range h.names {
		known[name] = append(known[name], module)
	}
	for _, modules := range known {
		slices.Sort(modules)
	}
	return known
}

// attribute returns the module of a Manifest. The name takes precedence over the label, which a user may have changed; the label decides
// between modules that share a name.
func attribute(manifest *v1beta2.Manifest, known map[string][]string) string {
	label := manifest.Labels[v1beta2.LabelModuleName]
	modules := known[manifest.Name]
	if len(modules) == 0 || slices.Contains(modules, label) {
		return label
	}
	return modules[0]
}

// preferred orders the Manifests of one module: those that are not being deleted first, among them the one with the current name, then by
// name.
func (h manifestIndex) preferred(module string) func(a, b *v1beta2.Manifest) int {
	rank := func(manifest *v1beta2.Manifest) int {
		switch {
		case terminating(manifest):
			return 2
		case manifest.Name == h.names[module]:
			return 0
		default:
			return 1
		}
	}
	return func(a, b *v1beta2.Manifest) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	}
}

// of returns the Manifest that counts of a module that is not mandatory, and the others.
func (h manifestIndex) of(module string) (*v1beta2.Manifest, []*v1beta2.Manifest) {
	return parted(h.byModule[module])
}

// parted returns the Manifest that counts, and the others.
func parted(manifests []*v1beta2.Manifest) (*v1beta2.Manifest, []*v1beta2.Manifest) {
	if len(manifests) == 0 {
		return nil, nil
	}
	return manifests[0], manifests[1:]
}

// terminating reports whether a Manifest is being deleted.
func terminating(manifest *v1beta2.Manifest) bool {
	return manifest != nil && manifest.DeletionTimestamp != nil
}

// leaving reports whether a Manifest is marked to leave its objects unmanaged.
func leaving(manifest *v1beta2.Manifest) bool {
	return manifest != nil && manifest.Annotations[v1beta2.AnnotationIsUnmanaged] == v1beta2.EnabledValue
}

// installed is the version of a module that is installed or being installed. The zero value means none.
type installed struct{ Channel, Version, Component string }

// installedOf returns what is installed according to the status, which only this package writes, or else according to the Manifest. The
// status entry of an installation that was being deleted does not count once that installation is gone, and neither does one from before a
// way back that the Manifest shows already.
func installedOf(entry *v1beta2.ModuleStatus, manifest *v1beta2.Manifest) installed {
	if entry != nil && entry.Version != "" && (entry.State != v1beta2.StateDeleting || terminating(manifest)) && !ahead(manifest, entry) {
		return installed{Channel: entry.Channel, Version: entry.Version, Component: entry.OCMComponentName}
	}
	if manifest == nil {
		return installed{}
	}
	return installed{
		Channel:   manifest.Labels[v1beta2.LabelChannel],
		Version:   manifest.Spec.Version,
		Component: componentOf(manifest),
	}
}

// componentOf returns the name of the component that a Manifest was created from.
func componentOf(manifest *v1beta2.Manifest) string {
	return cmp.Or(manifest.Annotations[v1beta2.AnnotationOCMComponentName], manifest.Annotations[v1beta2.AnnotationFQDN])
}
