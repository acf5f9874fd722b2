package crdsafety

import "slices"

// The rules. Their names are API: users write them into allowCRDChanges.
const (
	// ScopeChanged: the kind moves between namespaced and cluster-scoped.
	ScopeChanged = "ScopeChanged"
	// NamesChanged: group, plural, singular, kind or list kind changed, or a short name is gone.
	NamesChanged = "NamesChanged"
	// StoredVersionRemoved: a version is gone in which objects may be stored.
	StoredVersionRemoved = "StoredVersionRemoved"
	// VersionRemoved: a version that was served is gone, or is no longer served.
	VersionRemoved = "VersionRemoved"
	// FieldRemoved: a field is gone from the schema; its values are dropped.
	FieldRemoved = "FieldRemoved"
	// TypeChanged: a field has another type.
	TypeChanged = "TypeChanged"
	// EnumNarrowed: an enum lost a value, or a field got an enum.
	EnumNarrowed = "EnumNarrowed"
	// BoundNarrowed: a minimum, maximum, length, count, pattern, format or multipleOf allows less than before.
	BoundNarrowed = "BoundNarrowed"
	// RequiredAdded: a field without a default became required.
	RequiredAdded = "RequiredAdded"
	// DefaultChanged: a field that exists got, lost or changed its default.
	DefaultChanged = "DefaultChanged"
	// ValidationRuleAdded: an x-kubernetes-validations rule is new or reads differently.
	ValidationRuleAdded = "ValidationRuleAdded"
	// PreserveUnknownFieldsRemoved: fields that the schema does not name are no longer kept.
	PreserveUnknownFieldsRemoved = "PreserveUnknownFieldsRemoved"
	// ListTypeChanged: x-kubernetes-list-type, its keys or x-kubernetes-map-type changed, so that lists and maps merge differently.
	ListTypeChanged = "ListTypeChanged"
	// NullableRemoved: null is no longer accepted.
	NullableRemoved = "NullableRemoved"
	// UnknownChange: something changed, and whether that is safe cannot be decided here.
	UnknownChange = "UnknownChange"
	// ObjectInvalid: an object that exists does not fit the new schema.
	ObjectInvalid = "ObjectInvalid"
)

var rules = []string{
	ScopeChanged, NamesChanged, StoredVersionRemoved, VersionRemoved, FieldRemoved, TypeChanged, EnumNarrowed, BoundNarrowed,
	RequiredAdded, DefaultChanged, ValidationRuleAdded, PreserveUnknownFieldsRemoved, ListTypeChanged, NullableRemoved,
	UnknownChange, ObjectInvalid,
}

// Rules lists the names of all rules, for messages and documents.
func Rules() []string { return slices.Clone(rules) }

// Known reports whether there is a rule of that name. Names are case-sensitive.
func Known(rule string) bool { return slices.Contains(rules, rule) }

// Finding is one thing that a change of a definition breaks.
type Finding struct {
	// Rule is one of the names of this package.
	Rule string
	// Definition is the name of the CustomResourceDefinition.
	Definition string
	// Version of the custom resource; empty when the finding is about the definition as a whole.
	Version string
	// Path of the field, such as spec.rules[*].name or spec.labels.* (the values of a map); empty for the whole object.
	Path string
	// Message describes what happens, in one clause.
	Message string
	// Values reports whether the finding is about values in objects. Without an object it breaks nothing: see [Evidence.Weigh].
	Values bool
}

// Refuse returns the findings whose rule is not allowed, in their order. A name that is not a rule allows nothing: check with [Known].
func Refuse(findings []Finding, allowed []string) (left []Finding) {
	for _, finding := range findings {
		if !slices.Contains(allowed, finding.Rule) {
			left = append(left, finding)
		}
	}
	return left
}
