package apply

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Compare tells the fields in which two states of an object differ, in the order of their paths, as Diff does: without those that the API
// server keeps for itself, and without the values of a Secret. It makes no call.
func Compare(from, to *unstructured.Unstructured) []FieldDiff { return fieldDiffs(from, to) }
