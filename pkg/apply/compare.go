package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

// Compare returns the fields in which two states of an object differ, ordered by path, as Diff does: without the fields that the API
// server maintains, and without the values of a Secret. It makes no call.
func Compare(from, to *unstructured.Unstructured) []FieldDiff { return fielddiff.Compare(from, to) }
