package module

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
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
	text, problem := entryValues(entry.Values)
	if total := sizeOfValues(r.Snapshot.Kyma.Spec.Modules); problem == "" && text != "" && total > maxValues {
		problem = fmt.Sprintf("those of all entries have %d bytes, and at most %d are accepted", total, maxValues)
	}
	if problem != "" {
		return presentValues(v), refuse(ruleValuesInvalid, "detail", problem)
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

// HashValues returns the hash of values as an object of the hub holds them.
func HashValues(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ValuesProblem says why an entry cannot have such values; empty when it can.
func ValuesProblem(values *runtime.RawExtension) string {
	_, problem := entryValues(values)
	return problem
}

// SameValues reports whether two entries set the same values.
func SameValues(a, b *runtime.RawExtension) bool {
	is, _ := entryValues(a)
	other, _ := entryValues(b)
	return is == other
}

// entryValues returns the values of an entry in one spelling, as JSON, which is empty for none; and why they cannot be used. A null is
// refused since API servers take it out of an entry when they patch another one: what it takes away would come back by itself.
func entryValues(values *runtime.RawExtension) (text, problem string) {
	if values == nil || len(values.Raw) == 0 {
		return "", ""
	}
	var known any
	if utiljson.Unmarshal(values.Raw, &known) != nil {
		return string(values.Raw), "they are not valid JSON"
	}
	fields, isObject := known.(map[string]any)
	if known == nil || isObject && len(fields) == 0 {
		return "", ""
	}
	raw, err := json.Marshal(known)
	if err != nil {
		panic(err) // they came from JSON
	}
	switch path := nullIn(known, "values"); {
	case !isObject:
		problem = "they are no object: write names and values"
	case len(raw) > v1beta2.MaxEntryValues:
		problem = fmt.Sprintf("they have %d bytes, and at most %d are accepted", len(raw), v1beta2.MaxEntryValues)
	case path != "":
		problem = fmt.Sprintf("%q is null, which a Kyma does not keep: set another value, or write the null into an object of the hub that "+
			"valuesFrom names", path[:min(len(path), maxText)])
	}
	return string(raw), problem
}

// rawValues returns the values that a text of entryValues stands for.
func rawValues(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(text)}
}

// nullIn returns the path of the first field in a value that is null, empty when there is none.
func nullIn(value any, path string) string {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below := path + "." + name
			if value[name] == nil {
				return below
			}
			if found := nullIn(value[name], below); found != "" {
				return found
			}
		}
	case []any:
		for i, item := range value {
			if found := nullIn(item, fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
	}
	return ""
}

// sizeOfValues returns the number of bytes that the values of entries have. Those that are too large for one entry do not count: they are
// refused there.
func sizeOfValues(modules []v1beta2.Module) int {
	size := 0
	for i := range modules {
		if values := modules[i].Values; values != nil && len(values.Raw) <= v1beta2.MaxEntryValues {
			size += len(values.Raw)
		}
	}
	return size
}

// checkValues checks the values of an entry in the Kyma of a runtime. It must not name objects of the hub: what they hold is for those who
// may read the hub.
func checkValues(where string, entry *v1beta2.Module) error {
	if len(entry.ValuesFrom) > 0 {
		return fmt.Errorf("%s.valuesFrom is for the hub's Kyma only: write the values into %s.values", where, where)
	}
	if problem := ValuesProblem(entry.Values); problem != "" {
		return fmt.Errorf("%s.values cannot be used: %s", where, problem)
	}
	return nil
}
