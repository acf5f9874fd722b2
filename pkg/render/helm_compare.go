package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// sameObjects refuses a chart whose two renders differ, and says where. Values are not shown: what differs is often a password.
func sameObjects(first, second []*unstructured.Unstructured) error {
	others := make(map[inventory.ID]*unstructured.Unstructured, len(second))
	for _, object := range second {
		others[inventory.IDOf(object)] = object
	}
	for _, object := range first {
		id := inventory.IDOf(object)
		other, ok := others[id]
		if !ok {
			return nonDeterministic("%s is in only one of them", id)
		}
		if at, differs := differingField(object.Object, other.Object, ""); differs {
			return nonDeterministic("%s differs in %s", id, at)
		}
		delete(others, id)
	}
	for _, object := range second {
		if id := inventory.IDOf(object); others[id] != nil {
			return nonDeterministic("%s is in only one of them", id)
		}
	}
	return nil
}

func nonDeterministic(format string, args ...any) error {
	return &content.Error{Reason: content.ReasonNonDeterministic, Err: fmt.Errorf("rendering the chart twice gives two results: "+
		format+": what is random or depends on the time must come from the values", args...)}
}

// differingField is the path of the first field that differs.
func differingField(a, b any, at string) (path string, differs bool) {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return at, true
		}
		return differingKey(a, b, at)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return at, true
		}
		for i := range a {
			if path, differs := differingField(a[i], b[i], at+"["+strconv.Itoa(i)+"]"); differs {
				return path, true
			}
		}
		return "", false
	default:
		return at, !reflect.DeepEqual(a, b)
	}
}

func differingKey(a, b map[string]any, at string) (path string, differs bool) {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		below := at + "." + key
		if at == "" {
			below = key
		}
		left, inLeft := a[key]
		right, inRight := b[key]
		if inLeft != inRight {
			return below, true
		}
		if path, differs := differingField(left, right, below); differs {
			return path, true
		}
	}
	return "", false
}
