package releasepreview

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// require takes what the version requires of its cluster out of the decisions: the hub does not know it, and what is not known counts as
// missing. What it requires of the Kyma stays.
func (f *Forecast) require() {
	name := module.TemplateName(f.ask.Module, f.ask.Version)
	if template := f.shared.Templates[name]; template != nil {
		own, err := module.Requires(template)
		if err == nil && len(own) > 0 {
			copied := template.DeepCopy()
			copied.Spec.Requires = nil
			for _, one := range f.ofKyma(own) {
				copied.Spec.Requires = append(copied.Spec.Requires, v1beta2.Requirement(one))
			}
			delete(copied.Annotations, v1beta2.AnnotationRequires)
			f.shared.Templates[name] = copied
		}
	}
	if f.component != nil {
		f.component.Requires = f.ofKyma(f.component.Requires)
		f.requires = len(f.component.Requires) > 0
	}
	for _, template := range f.shared.Templates {
		f.requires = f.requires || len(template.Spec.Requires) > 0 || template.Annotations[v1beta2.AnnotationRequires] != ""
	}
}

// ofKyma returns the requirements of a list that are about modules, and notes the others.
func (f *Forecast) ofKyma(list []requirements.Requirement) []requirements.Requirement {
	var kept []requirements.Requirement
	for _, one := range list {
		if one.Module != "" {
			kept = append(kept, one)
		} else {
			f.unseen = requirements.Union(f.unseen, []requirements.Requirement{one})
		}
	}
	return kept
}

func describeAll(list []requirements.Requirement) string {
	texts := make([]string, 0, len(list))
	for _, one := range list {
		texts = append(texts, one.String())
	}
	return strings.Join(texts, ", ")
}

// standIns returns Manifests of a Kyma's other modules, as its status tells of them: whether a requirement is met depends on what is
// installed and ready, and the Manifests of all modules of all Kymas would be too many to read.
func standIns(m *Member) []v1beta2.Manifest {
	known := map[string]bool{}
	for i := range m.Manifests {
		known[m.Manifests[i].Labels[v1beta2.LabelModuleName]] = true
	}
	var made []v1beta2.Manifest
	for i := range m.Kyma.Status.Modules {
		if entry := &m.Kyma.Status.Modules[i]; entry.Version != "" && !known[entry.Name] && entry.State != v1beta2.StateUnmanaged {
			made = append(made, standIn(m.Kyma, entry))
		}
	}
	return made
}

func standIn(kyma *v1beta2.Kyma, entry *v1beta2.ModuleStatus) v1beta2.Manifest {
	yes := true
	name := module.ManifestName(kyma.Name, cmp.Or(entry.OCMComponentName, entry.FQDN), entry.Name)
	if entry.Manifest != nil {
		name = cmp.Or(entry.Manifest.Name, name)
	}
	made := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: kyma.Namespace, Name: name, UID: types.UID("stand-in-" + name), Generation: 1,
		Labels: map[string]string{
			v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelModuleName: entry.Name, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
		},
		Annotations:     map[string]string{v1beta2.AnnotationOCMComponentName: entry.OCMComponentName},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Kyma", Name: kyma.Name, UID: kyma.UID, Controller: &yes}},
	}}
	made.Spec.Version = entry.Version
	made.Status.State, made.Status.ObservedGeneration = entry.State, 1
	made.Status.InstalledVersion = cmp.Or(entry.InstalledVersion, entry.Version)
	return made
}
