package installer

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// order is in which order objects are applied.
type order struct {
	at    map[inventory.ID]inventory.Stage
	names []string // of the parts
}

func newOrder(parts []part) order {
	made := order{at: map[inventory.ID]inventory.Stage{}}
	for _, part := range parts {
		made.names = append(made.names, part.name)
	}
	return made
}

func (o order) stage(id inventory.ID) inventory.Stage { return o.at[id] }

// sorted brings objects into the order in which they are applied.
func (o order) sorted(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *unstructured.Unstructured) int {
		return inventory.CompareStaged(inventory.IDOf(a), inventory.IDOf(b), o.stage)
	})
}
