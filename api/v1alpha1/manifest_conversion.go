package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// manifestMemory is what v1alpha1 cannot say of a Manifest.
type manifestMemory struct {
	// Spec without what both versions say; nil when it is what every Manifest of v1alpha1 has.
	Spec *v1beta2.ManifestSpec `json:"spec,omitempty"`
	// Types of sources that have no name in v1alpha1.
	Types kinds `json:"types,omitempty"`
}

// sourceMemory is what v1beta2 cannot say of a Manifest.
type sourceMemory struct {
	// Types of sources that are called otherwise in v1beta2.
	Types kinds `json:"types,omitempty"`
}

// manifestDefaults returns what a Manifest of v1alpha1 means beside what it says.
func manifestDefaults() v1beta2.ManifestSpec {
	return v1beta2.ManifestSpec{CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete}
}

// ManifestToHub converts to v1beta2: the first installation is spec.install, the others are additionalInstalls. It fails when the
// annotation is damaged, and then nothing is written.
func ManifestToHub(from *Manifest, to *v1beta2.Manifest) error {
	memory := manifestMemory{}
	if err := readAnnotation(&from.ObjectMeta, AnnotationHub, &memory); err != nil {
		return err
	}
	spec := manifestDefaults()
	if memory.Spec != nil {
		spec = *memory.Spec.DeepCopy()
	}
	types := toHub(memory.Types)
	said := from.Spec.DeepCopy()
	spec.Remote, spec.Resource, spec.Config, spec.CRDs = said.Remote, said.Resource, said.Config, said.CRDs
	spec.Install, spec.AdditionalInstalls = v1beta2.InstallInfo{}, nil
	for i, install := range said.Installs {
		info := v1beta2.InstallInfo{Name: install.Name, Source: types.source(install.Name, install.Source)}
		if i == 0 {
			spec.Install = info
		} else {
			spec.AdditionalInstalls = append(spec.AdditionalInstalls, info)
		}
	}
	var remembered any
	if len(types.result) > 0 {
		remembered = sourceMemory{Types: types.result}
	}
	meta, err := converted(&from.ObjectMeta, AnnotationSpoke, remembered)
	if err != nil {
		return err
	}
	*to = v1beta2.Manifest{TypeMeta: typeMeta(v1beta2.GroupVersion.String(), "Manifest"), ObjectMeta: meta, Spec: spec}
	from.Status.DeepCopyInto(&to.Status)
	return nil
}

// ManifestFromHub converts from v1beta2. A damaged annotation is left out of account: an object that cannot be converted would make the
// whole kind unreadable in v1alpha1.
func ManifestFromHub(from *v1beta2.Manifest, to *Manifest) error {
	known := sourceMemory{}
	if err := readAnnotation(&from.ObjectMeta, AnnotationSpoke, &known); err != nil {
		known = sourceMemory{}
	}
	types := fromHub(known.Types)
	said := from.Spec.DeepCopy()
	spec := ManifestSpec{Remote: said.Remote, Resource: said.Resource, Config: said.Config, CRDs: said.CRDs}
	infos := append([]v1beta2.InstallInfo{said.Install}, said.AdditionalInstalls...)
	if len(infos) == 1 && infos[0].Name == "" && infos[0].Source.Raw == nil {
		infos = nil // nothing to install at all
	}
	for _, info := range infos {
		spec.Installs = append(spec.Installs, InstallInfo{Name: info.Name, Source: types.source(info.Name, info.Source)})
	}
	rest := *said
	rest.Remote, rest.Resource, rest.Config, rest.CRDs = false, nil, nil, nil
	rest.Install, rest.AdditionalInstalls = v1beta2.InstallInfo{}, nil
	memory := manifestMemory{Types: types.result}
	if !equality.Semantic.DeepEqual(rest, manifestDefaults()) {
		memory.Spec = &rest
	}
	var remembered any
	if memory.Spec != nil || len(memory.Types) > 0 {
		remembered = memory
	}
	meta, err := converted(&from.ObjectMeta, AnnotationHub, remembered)
	if err != nil {
		return err
	}
	*to = Manifest{TypeMeta: typeMeta(GroupVersion.String(), "Manifest"), ObjectMeta: meta, Spec: spec}
	from.Status.DeepCopyInto(&to.Status)
	return nil
}
