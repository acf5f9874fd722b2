package inventory_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// The time per object must not grow with the number of objects.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			objects := randomObjects(rand.New(rand.NewPCG(7, 7)), n)
			entries := appliedAll(objects)
			live := seen(entries)
			b.ReportAllocs()
			for b.Loop() {
				if decision := inventory.Decide(entries, objects, live); decision.InOrder != n {
					b.Fatal(decision.InOrder)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/object")
		})
	}
}

func BenchmarkContentHash(b *testing.B) {
	u := randomObjects(rand.New(rand.NewPCG(8, 8)), 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		inventory.ContentHash(u)
	}
}

func BenchmarkFieldsHash(b *testing.B) {
	entries := []metav1.ManagedFieldsEntry{appliedFields(ports)}
	b.ReportAllocs()
	for b.Loop() {
		inventory.FieldsHash(entries, manager)
	}
}
