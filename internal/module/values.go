package module

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// maxValues is the number of bytes that the values of all entries of a Kyma may have: the status of the one on the hub holds them twice.
const maxValues = 96 << 10

// ReferredValues is what is known of values in a Secret or a ConfigMap of the hub. The values themselves take no part in any decision.
type ReferredValues struct {
	// Hash of the values.
	Hash string
	// Problem is the reason why there are none.
	Problem string
}

// valuesOf returns the values for the Manifest of an entry's module. While they cannot be had, those that the Manifest has stay.
func (r *resolver) valuesOf(v *Verdict, entry *v1beta2.Module) (*v1beta2.EntryValues, *refusal) {
	text := valuesText(entry.Values)
	switch total := sizeOfValues(r.Snapshot.Kyma.Spec.Modules); {
	case text == "":
	case len(text) > v1beta2.MaxEntryValues:
		return presentValues(v), refuse(ruleValuesInvalid, "detail",
			fmt.Sprintf("they have %d bytes, and at most %d are accepted", len(text), v1beta2.MaxEntryValues))
	case total > maxValues:
		return presentValues(v), refuse(ruleValuesInvalid, "detail",
			fmt.Sprintf("those of all entries have %d bytes, and at most %d are accepted", total, maxValues))
	}
	var from []v1beta2.HashedValues
	for _, named := range entry.ValuesFrom {
		named.Key = named.DataKey()
		known, read := r.Values[named]
		if !read {
			known = presentHash(v, named)
		}
		if known.Problem != "" {
			return presentValues(v), refuse(ruleValuesNotFound, "detail", known.Problem)
		}
		from = append(from, v1beta2.HashedValues{ValuesReference: named, Hash: known.Hash})
	}
	if text == "" && from == nil {
		return nil, nil
	}
	return &v1beta2.EntryValues{From: from, Inline: text}, nil
}

// presentValues returns the values that a module's Manifest has from its entry.
func presentValues(v *Verdict) *v1beta2.EntryValues {
	if v.Manifest == nil {
		return nil
	}
	return v.Manifest.Spec.KymaValues.DeepCopy()
}

// presentHash returns what a module's Manifest knows of values in an object that was not read, as by programs that may not read it.
func presentHash(v *Verdict, named v1beta2.ValuesReference) ReferredValues {
	if present := presentValues(v); present != nil {
		for _, from := range present.From {
			if from.ValuesReference == named {
				return ReferredValues{Hash: from.Hash}
			}
		}
	}
	return ReferredValues{Problem: fmt.Sprintf("%s %s was not read", named.Kind, named.Name)}
}

// valuesText returns the values of an entry in one spelling, as JSON; empty for none. What cannot be read stays as it is, for the Manifest
// to report.
func valuesText(values *runtime.RawExtension) string {
	if values == nil || len(values.Raw) == 0 {
		return ""
	}
	var known any
	if utiljson.Unmarshal(values.Raw, &known) != nil {
		return string(values.Raw)
	}
	if fields, ok := known.(map[string]any); known == nil || ok && len(fields) == 0 {
		return ""
	}
	text, err := json.Marshal(known)
	if err != nil {
		return string(values.Raw)
	}
	return string(text)
}

// SameValues reports whether two entries set the same values.
func SameValues(a, b *runtime.RawExtension) bool { return valuesText(a) == valuesText(b) }

// sizeOfValues returns the number of bytes that the values of entries have.
func sizeOfValues(modules []v1beta2.Module) int {
	size := 0
	for i := range modules {
		size += len(valuesText(modules[i].Values))
	}
	return size
}

// mergesValues reports whether the values of a spec are merged with those of the other side. The status holds what is merged, twice: values
// that are too large for that are left out of it, and refused when they are used.
func mergesValues(modules []v1beta2.Module) bool {
	return sizeOfValues(modules) <= maxValues && !slices.ContainsFunc(modules, func(entry v1beta2.Module) bool {
		return len(valuesText(entry.Values)) > v1beta2.MaxEntryValues
	})
}

// HashValues returns the hash of values as an object of the hub holds them.
func HashValues(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// rawValues is the opposite of valuesText.
func rawValues(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(text)}
}

// checkValues checks the values of an entry in the Kyma of a runtime. It must not name objects of the hub: what they hold is for those who
// may read the hub.
func checkValues(where string, entry *v1beta2.Module) error {
	if len(entry.ValuesFrom) > 0 {
		return fmt.Errorf("%s.valuesFrom is for the hub's Kyma only: write the values into %s.values", where, where)
	}
	if entry.Values == nil {
		return nil
	}
	text := valuesText(entry.Values)
	if len(text) > v1beta2.MaxEntryValues {
		return fmt.Errorf("%s.values has %d bytes, but at most %d are accepted", where, len(text), v1beta2.MaxEntryValues)
	}
	var fields map[string]any
	if text != "" && utiljson.Unmarshal([]byte(text), &fields) != nil {
		return fmt.Errorf("%s.values is no object: write names and values", where)
	}
	return nil
}
