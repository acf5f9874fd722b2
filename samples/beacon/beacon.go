package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/declarative"
)

// addKinds registers Beacon and its list. Their definition is in samples/modules/beacon.
func addKinds(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "samples.kyma-project.io", Version: "v1alpha1"}
	scheme.AddKnownTypes(version, &Beacon{}, &BeaconList{})
	metav1.AddToGroupVersion(scheme, version)
}

// Beacon is a light.
type Beacon struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   BeaconSpec   `json:"spec"`
	Status BeaconStatus `json:"status,omitzero"`
}

// BeaconSpec configures the light.
type BeaconSpec struct {
	// Colour of the light: white, red or green.
	Colour string `json:"colour"`
	// Lamps is the number of pods.
	Lamps int64 `json:"lamps"`
	// Flashing is new in 1.1.0.
	Flashing bool `json:"flashing,omitempty"`
}

// BeaconStatus holds the library's status. An operator adds its own fields beside it; see declarative.Reconciler.AfterApply.
type BeaconStatus struct {
	declarative.Status `json:",inline"`
}

// BeaconList is a list of Beacons.
type BeaconList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Beacon `json:"items"`
}

// GetStatus implements declarative.Object.
func (b *Beacon) GetStatus() *declarative.Status { return &b.Status.Status }

// DeepCopyObject implements runtime.Object. For larger types, generate it with controller-gen.
func (b *Beacon) DeepCopyObject() runtime.Object {
	out := &Beacon{TypeMeta: b.TypeMeta, Spec: b.Spec}
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	b.Status.DeepCopyInto(&out.Status.Status)
	return out
}

// DeepCopyObject implements runtime.Object.
func (l *BeaconList) DeepCopyObject() runtime.Object {
	out := &BeaconList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: make([]Beacon, 0, len(l.Items))}
	for i := range l.Items {
		if beacon, ok := l.Items[i].DeepCopyObject().(*Beacon); ok {
			out.Items = append(out.Items, *beacon)
		}
	}
	return out
}
