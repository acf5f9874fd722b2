package module

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	// maxValues is the number of bytes that the values of all entries of a Kyma may have: the status of the one on the hub holds them twice.
	maxValues = 96 << 10
	// maxSpelled is the number of bytes above which values are refused without being read: no API server spells accepted ones that long.
	maxSpelled = 8 * v1beta2.MaxEntryValues
)

// ReferredValues is what is known of values in a Secret or a ConfigMap of the hub. The values themselves take no part in any decision.
type ReferredValues struct {
	// Hash of the values.
	Hash string
	// Problem is the reason why there are none.
	Problem string
}

// ValuesFor returns the values for the Manifest of an entry's module, as Resolve decides. While they cannot be had, they are those that the
// Manifest has. refused is why the entry's own cannot be used, empty when they can; known is what the objects hold that it names.
func ValuesFor(
	entry *v1beta2.Module, have *v1beta2.Manifest, refused string, known map[v1beta2.ValuesReference]ReferredValues,
) *v1beta2.EntryValues {
	values, _ := valuesFor(entry, have, refused, known)
	return values
}

func valuesFor(
	entry *v1beta2.Module, have *v1beta2.Manifest, refused string, known map[v1beta2.ValuesReference]ReferredValues,
) (*v1beta2.EntryValues, *refusal) {
	text, problem := entryValues(entry.Values)
	if problem = cmp.Or(refused, problem); problem != "" {
		return presentValues(have), refuse(ruleValuesInvalid, "detail", problem)
	}
	var from []v1beta2.HashedValues
	for _, named := range entry.ValuesFrom {
		named.Key = named.DataKey()
		one, read := known[named]
		if !read {
			one = presentHash(have, named)
		}
		if one.Problem != "" {
			return presentValues(have), refuse(ruleValuesNotFound, "detail", one.Problem)
		}
		from = append(from, v1beta2.HashedValues{ValuesReference: named, Hash: one.Hash})
	}
	if text == "" && from == nil {
		return nil, nil
	}
	return &v1beta2.EntryValues{From: from, Inline: text}, nil
}

// unusableValues says why the values of an entry cannot be used; empty when they can. Those of a merged spec were judged before the merge.
func (r *resolver) unusableValues(module string) string {
	if r.unusable == nil {
		r.unusable = r.Snapshot.RefusedValues
	}
	if r.unusable == nil {
		_, r.unusable = usableValues(r.Snapshot.Kyma.Spec.Modules, nil)
	}
	return r.unusable[module]
}

// presentValues returns the values that a module's Manifest, nil for none, has from its entry.
func presentValues(have *v1beta2.Manifest) *v1beta2.EntryValues {
	if have == nil {
		return nil
	}
	return have.Spec.KymaValues.DeepCopy()
}

// presentHash returns what a module's Manifest knows of values in an object that was not read, as by programs that may not read it.
func presentHash(have *v1beta2.Manifest, named v1beta2.ValuesReference) ReferredValues {
	if present := presentValues(have); present != nil {
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
	if len(values.Raw) > maxSpelled {
		return string(values.Raw), tooManyBytes(len(values.Raw))
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
	switch {
	case !isObject:
		problem = "they are no object: write names and values"
	case len(raw) > v1beta2.MaxEntryValues:
		problem = tooManyBytes(len(raw))
	default:
		problem = nullProblem(known)
	}
	return string(raw), problem
}

func tooManyBytes(size int) string {
	return fmt.Sprintf("they have %d bytes, and at most %d are accepted", size, v1beta2.MaxEntryValues)
}

// rawValues returns the values that a text of entryValues stands for.
func rawValues(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(text)}
}

// nullProblem says where a null is in values; empty when there is none.
func nullProblem(values any) string {
	steps := stepsToNull(values)
	if steps == nil {
		return ""
	}
	slices.Reverse(steps)
	path := "values" + strings.Join(steps, "")
	return fmt.Sprintf("%q is null, which a Kyma does not keep: set another value, or write the null into an object of the hub that "+
		"valuesFrom names", path[:min(len(path), maxText)])
}

// stepsToNull returns the path of the first field in a value that is null, the last step first; nil when there is none.
func stepsToNull(value any) []string {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if value[name] == nil {
				return []string{"." + name}
			}
			if steps := stepsToNull(value[name]); steps != nil {
				return append(steps, "."+name)
			}
		}
	case []any:
		for i, item := range value {
			if steps := stepsToNull(item); steps != nil {
				return append(steps, fmt.Sprintf("[%d]", i))
			}
		}
	}
	return nil
}

// usableValues returns the values of entries in one spelling, by position, and why others cannot be used, by module. In the place of those
// are the ones from before, so that bad values change nothing. Where all together are too large, none of the changes counts.
func usableValues(modules []v1beta2.Module, before *v1beta2.SeenSpec) (texts []string, unusable map[string]string) {
	had := map[string]string{}
	if before != nil {
		for i := range before.Modules {
			had[before.Modules[i].Name] = before.Modules[i].Values
		}
	}
	texts, unusable = make([]string, len(modules)), map[string]string{}
	size := 0
	for i := range modules {
		name := modules[i].Name
		text, problem := entryValues(modules[i].Values)
		if problem != "" {
			text, unusable[name] = had[name], problem
		}
		texts[i] = text
		size += len(text)
	}
	if size <= maxValues {
		return texts, unusable
	}
	for i := range modules {
		if name := modules[i].Name; texts[i] != had[name] {
			texts[i] = had[name]
			unusable[name] = fmt.Sprintf("those of all entries have %d bytes, and at most %d are accepted", size, maxValues)
		}
	}
	return texts, unusable
}

// RefusedOnHub says why values of the hub's entries cannot be used, by module: those that were merged last stay in force, and what is
// installed keeps its values. The map is never nil.
func RefusedOnHub(spec *v1beta2.KymaSpec, last *v1beta2.LastSeen) map[string]string {
	_, unusable := usableValues(spec.Modules, hubIn(last))
	return unusable
}

// hubIn returns the hub's half of a record, nil where there is none.
func hubIn(last *v1beta2.LastSeen) *v1beta2.SeenSpec {
	if last == nil {
		return nil
	}
	return last.Hub
}

// sizeOfValues returns the number of bytes that the values of a seen spec have.
func sizeOfValues(seen *v1beta2.SeenSpec) int {
	size := 0
	for i := range seen.Modules {
		size += len(seen.Modules[i].Values)
	}
	return size
}

// checkValues checks the values of an entry in the Kyma of a runtime, and returns how many bytes they have. It must not name objects of the
// hub: what they hold is for those who may read the hub.
func checkValues(where string, entry *v1beta2.Module) (int, error) {
	if len(entry.ValuesFrom) > 0 {
		return 0, fmt.Errorf("%s.valuesFrom is for the hub's Kyma only: write the values into %s.values", where, where)
	}
	text, problem := entryValues(entry.Values)
	if problem != "" {
		return 0, fmt.Errorf("%s.values cannot be used: %s", where, problem)
	}
	return len(text), nil
}
