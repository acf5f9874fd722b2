package v1alpha1

import (
	"encoding/json"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// kind is the type of a source as it stands there: no value when the field is missing.
type kind []json.RawMessage

func kindOf(word v1beta2.RefType) kind { return kind{json.RawMessage(strconv.Quote(string(word)))} }

// word reads the type; missing, null and "" are the same.
func (k kind) word() v1beta2.RefType {
	if len(k) == 0 {
		return ""
	}
	var word v1beta2.RefType
	if err := json.Unmarshal(k[0], &word); err != nil {
		return v1beta2.RefType(k[0]) // no string: no known type
	}
	return word
}

func (k kind) equal(other kind) bool {
	return slices.EqualFunc(k, other, func(a, b json.RawMessage) bool { return string(a) == string(b) })
}

// toHub returns what a type of v1alpha1 means:
//  1. "oci-ref" is a Helm chart.
//  2. A layer of a registry without a type is one, too.
//  3. Every other word means the same.
func (k kind) toHub(layer bool) kind {
	if word := k.word(); word == v1beta2.RefTypeOCI || layer && word == "" {
		return kindOf(v1beta2.RefTypeHelmChart)
	}
	return k
}

// fromHub returns how v1alpha1 calls a type of v1beta2: a chart in a layer is "oci-ref", everything else has the same name. Plain YAML,
// which is "oci-ref" in v1beta2, has no name in v1alpha1 and is remembered.
func (k kind) fromHub(layer bool) kind {
	if layer && k.word() == v1beta2.RefTypeHelmChart {
		return kindOf(v1beta2.RefTypeOCI)
	}
	return k
}

// kinds remembers types of sources by the names of their installations.
type kinds map[string]kind

// translator changes the types of sources from one version to the other. What was remembered when it came the other way counts as long
// as it still means what stands there.
type translator struct {
	there, back   func(k kind, layer bool) kind
	known, result kinds
}

func toHub(known kinds) *translator {
	return &translator{there: kind.toHub, back: kind.fromHub, known: known, result: kinds{}}
}

func fromHub(known kinds) *translator {
	return &translator{there: kind.fromHub, back: kind.toHub, known: known, result: kinds{}}
}

// source translates one, and remembers its type where the way back would not find it.
func (t *translator) source(name string, source runtime.RawExtension) runtime.RawExtension {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(source.Raw, &fields); err != nil || fields == nil {
		return *source.DeepCopy() // no object: the API server lets none through
	}
	before, layer := kind{}, isLayer(fields)
	if raw, found := fields["type"]; found {
		before = kind{raw}
	}
	after := t.there(before, layer)
	if known, found := t.known[name]; found && t.back(known, layer).equal(before) {
		after = known
	}
	if !t.back(after, layer).equal(before) {
		t.result[name] = before
	}
	if after.equal(before) {
		return *source.DeepCopy()
	}
	delete(fields, "type")
	if len(after) > 0 {
		fields["type"] = after[0]
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return *source.DeepCopy() // cannot be: these are the pieces of what was read
	}
	return runtime.RawExtension{Raw: raw}
}

// isLayer reports whether a source names a repository, as opposed to an address.
func isLayer(fields map[string]json.RawMessage) bool {
	repo := string(fields["repo"])
	return repo != "" && repo != "null" && repo != `""`
}
