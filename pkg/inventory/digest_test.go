package inventory_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// definitionMetadata returns the metadata of a definition that one client applied, with changes.
func definitionMetadata(changes ...func(*metav1.ObjectMeta)) *metav1.ObjectMeta {
	applied := appliedFields(`{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:versions":{}}}`)
	applied.Time = &metav1.Time{Time: time.Unix(1, 0)}
	metadata := &metav1.ObjectMeta{
		Name: "widgets.example.com", ResourceVersion: "1", Generation: 1,
		Labels: map[string]string{"a": "1", "b": "2"}, Annotations: map[string]string{"c": "3"},
		ManagedFields: []metav1.ManagedFieldsEntry{applied},
	}
	for _, change := range changes {
		change(metadata)
	}
	return metadata
}

func TestDefinitionDigest(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*metav1.ObjectMeta)
		stays  bool
	}{
		{"nothing", func(*metav1.ObjectMeta) {}, true},
		{"the resourceVersion, by a change of the status", func(m *metav1.ObjectMeta) { m.ResourceVersion = "2" }, true},
		{"who wrote the status", func(m *metav1.ObjectMeta) {
			status := appliedFields(`{"f:status":{"f:conditions":{}}}`)
			status.Manager, status.Subresource = "kube-apiserver", "status"
			m.ManagedFields = append(m.ManagedFields, status)
		}, true},
		{"a finalizer, which the API server sets", func(m *metav1.ObjectMeta) { m.Finalizers = []string{"x"} }, true},
		{"the spec", func(m *metav1.ObjectMeta) { m.Generation = 2 }, false},
		{"a label", func(m *metav1.ObjectMeta) { m.Labels["a"] = "2" }, false},
		{"one label more", func(m *metav1.ObjectMeta) { m.Labels["c"] = "3" }, false},
		{"a label less", func(m *metav1.ObjectMeta) { delete(m.Labels, "a") }, false},
		{"an annotation", func(m *metav1.ObjectMeta) { m.Annotations["c"] = "4" }, false},
		{"a label that becomes an annotation", func(m *metav1.ObjectMeta) {
			delete(m.Labels, "a")
			m.Annotations["a"] = "1"
		}, false},
		{"two labels that swap their values", func(m *metav1.ObjectMeta) { m.Labels["a"], m.Labels["b"] = "2", "1" }, false},
		{"the beginning of its deletion", func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, false},
		{"a field that another client took over", func(m *metav1.ObjectMeta) {
			m.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:a":{}}}}`)
		}, false},
		{"another client that owns a field, too", func(m *metav1.ObjectMeta) {
			other := appliedFields(`{"f:metadata":{"f:labels":{"f:a":{}}}}`)
			other.Manager = "kubectl"
			m.ManagedFields = append(m.ManagedFields, other)
		}, false},
		{"when a client wrote last, after a backup", func(m *metav1.ObjectMeta) { m.ManagedFields[0].Time = &metav1.Time{Time: time.Unix(2, 0)} }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := inventory.DefinitionDigest(definitionMetadata()), inventory.DefinitionDigest(definitionMetadata(test.change))
			if (before == after) != test.stays {
				t.Errorf("stays is %t, want %t", before == after, test.stays)
			}
		})
	}
}
