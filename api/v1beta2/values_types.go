package v1beta2

import "cmp"

const (
	// DefaultValuesKey is the key that holds values in a Secret or a ConfigMap, unless a ValuesReference names another one.
	DefaultValuesKey = "values.yaml"
	// MaxEntryValues is the number of bytes that the values of one entry of spec.modules may have, as JSON.
	MaxEntryValues = 8 << 10
)

// ValuesReference names values in a Secret or a ConfigMap in the namespace of the Kyma on the hub, which carries LabelValues.
type ValuesReference struct {
	// Kind of the object.
	Kind ValuesKind `json:"kind"`

	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key that holds the values, as YAML; default values.yaml.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}

// DataKey returns the key that holds the values.
func (r ValuesReference) DataKey() string { return cmp.Or(r.Key, DefaultValuesKey) }

// ValuesKind is a kind of objects that hold values.
// +kubebuilder:validation:Enum=Secret;ConfigMap
type ValuesKind string

const (
	// ValuesSecret is a Secret.
	ValuesSecret ValuesKind = "Secret"
	// ValuesConfigMap is a ConfigMap.
	ValuesConfigMap ValuesKind = "ConfigMap"
)

// EntryValues are the values of a module's entry in a Kyma, as they reach its Manifest.
type EntryValues struct {
	// From are the objects that hold values, with a hash of what they held when the Kyma took them up. A later one goes before an earlier one.
	// +listType=atomic
	// +optional
	From []HashedValues `json:"from,omitempty"`

	// Inline are the values of the entry itself, as JSON. They go before those of From.
	// +optional
	Inline string `json:"inline,omitempty"`
}

// HashedValues are values in an object of the hub.
type HashedValues struct {
	ValuesReference `json:",inline"`

	// Hash is "sha256:" and 64 hex digits over the values. Other content is not installed until the Kyma takes it up.
	Hash string `json:"hash"`
}
