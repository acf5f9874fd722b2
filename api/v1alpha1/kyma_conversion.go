package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// kymaMemory is what v1alpha1 cannot say of a Kyma.
type kymaMemory struct {
	// Spec without modules; nil when it is what every Kyma of v1alpha1 has.
	Spec *v1beta2.KymaSpec `json:"spec,omitempty"`
	// Modules that say more than their name.
	Modules []v1beta2.Module `json:"modules,omitempty"`
}

// kymaDefaults returns what a Kyma of v1alpha1 means beside its components.
func kymaDefaults() v1beta2.KymaSpec {
	remote := false
	return v1beta2.KymaSpec{Channel: v1beta2.DefaultChannel, Remote: &remote, Readiness: v1beta2.ReadinessBoth}
}

// moduleDefaults returns what a component means, with what the API server fills in.
func moduleDefaults(name string) v1beta2.Module {
	managed := true
	return v1beta2.Module{Name: name, CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete, Managed: &managed}
}

// KymaToHub converts to v1beta2. It fails when the annotation is damaged, and then nothing is written.
func KymaToHub(from *Kyma, to *v1beta2.Kyma) error {
	memory := kymaMemory{}
	if err := readAnnotation(&from.ObjectMeta, AnnotationHub, &memory); err != nil {
		return err
	}
	meta, err := converted(&from.ObjectMeta, "", nil)
	if err != nil {
		return err
	}
	spec := kymaDefaults()
	if memory.Spec != nil {
		spec = *memory.Spec.DeepCopy()
	}
	spec.Modules = nil
	for _, component := range from.Spec.Components {
		spec.Modules = append(spec.Modules, moduleOf(component.Name, memory.Modules))
	}
	*to = v1beta2.Kyma{TypeMeta: typeMeta(v1beta2.GroupVersion.String(), "Kyma"), ObjectMeta: meta, Spec: spec}
	from.Status.DeepCopyInto(&to.Status)
	return nil
}

func moduleOf(name string, remembered []v1beta2.Module) v1beta2.Module {
	for i := range remembered {
		if remembered[i].Name == name {
			return *remembered[i].DeepCopy()
		}
	}
	return moduleDefaults(name)
}

// KymaFromHub converts from v1beta2.
func KymaFromHub(from *v1beta2.Kyma, to *Kyma) error {
	memory, spec := kymaMemory{}, KymaSpec{}
	for i := range from.Spec.Modules {
		module := &from.Spec.Modules[i]
		spec.Components = append(spec.Components, Component{Name: module.Name})
		if !equality.Semantic.DeepEqual(*module, moduleDefaults(module.Name)) {
			memory.Modules = append(memory.Modules, *module.DeepCopy())
		}
	}
	rest := *from.Spec.DeepCopy()
	rest.Modules = nil
	if !equality.Semantic.DeepEqual(rest, kymaDefaults()) {
		memory.Spec = &rest
	}
	var remembered any
	if memory.Spec != nil || memory.Modules != nil {
		remembered = memory
	}
	meta, err := converted(&from.ObjectMeta, AnnotationHub, remembered)
	if err != nil {
		return err
	}
	*to = Kyma{TypeMeta: typeMeta(GroupVersion.String(), "Kyma"), ObjectMeta: meta, Spec: spec}
	from.Status.DeepCopyInto(&to.Status)
	return nil
}

func typeMeta(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}
