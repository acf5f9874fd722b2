package kymaedit

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// RefusedValues says why the lifecycle manager would refuse the values of a wish that stands in a Kyma's spec already; empty where it would
// not. They count together with those of the other entries.
func RefusedValues(kyma *v1beta2.Kyma, wish ModuleRequest) string {
	last := kyma.Status.LastSeen
	if wish.Values == nil {
		return ""
	}
	if !module.Synced(kyma) {
		last = nil
	}
	return module.RefusedOnHub(&kyma.Spec, last)[wish.Name]
}

// LostValues returns the values at the top of a module's entry that an edit took away, sorted.
func LostValues(before, after *v1beta2.Kyma, name string) []string {
	had, has := valuesOf(before, name), valuesOf(after, name)
	maps.DeleteFunc(had, func(key string, _ any) bool {
		_, kept := has[key]
		return kept
	})
	return slices.Sorted(maps.Keys(had))
}

// valuesOf returns the values of a module's entry; none where they cannot be read.
func valuesOf(kyma *v1beta2.Kyma, name string) map[string]any {
	var values map[string]any
	if entry := find(&kyma.Spec, name); entry != nil && entry.Values != nil && json.Unmarshal(entry.Values.Raw, &values) != nil {
		return nil
	}
	return values
}
