package apply

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// maxHolds bounds how many finalizers are named.
const maxHolds = 3

// HeldBy returns what holds an object that is being deleted: "finalizers example.com/cleanup (set by manager), orphan". It takes the
// setters from the managed fields. The API server adds Kubernetes' own finalizers in the name of the client that created the object, so no
// setter is named for them. Empty when there is no finalizer.
func HeldBy(live *unstructured.Unstructured) string {
	finalizers := live.GetFinalizers()
	if len(finalizers) == 0 {
		return ""
	}
	var named []string
	for _, finalizer := range finalizers[:min(len(finalizers), maxHolds)] {
		text := shortened(finalizer, maxMark)
		if managers := settersOf(live, finalizer); len(managers) > 0 {
			text += fmt.Sprintf(" (set by %s)", shortened(strings.Join(managers, ", "), maxMark))
		}
		named = append(named, text)
	}
	if more := len(finalizers) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	noun := "finalizers "
	if len(finalizers) == 1 {
		noun = "finalizer "
	}
	return noun + strings.Join(named, ", ")
}

// settersOf returns the field managers that set a finalizer, sorted by name.
func settersOf(live *unstructured.Unstructured, finalizer string) []string {
	domain, _, qualified := strings.Cut(finalizer, "/")
	if !qualified || strings.HasSuffix("."+domain, ".kubernetes.io") {
		return nil
	}
	path := fieldpath.MakePathOrDie("metadata", "finalizers", value.NewValueInterface(finalizer))
	var managers []string
	for _, entry := range live.GetManagedFields() {
		fields := &fieldpath.Set{}
		if entry.FieldsV1 == nil || fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
			continue
		}
		if fields.Has(path) && !slices.Contains(managers, entry.Manager) {
			managers = append(managers, entry.Manager)
		}
	}
	slices.Sort(managers)
	return managers
}
