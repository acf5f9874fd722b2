package apply

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestHeldBy(t *testing.T) {
	const set = `
  - {manager: %, operation: Update, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:finalizers": {".": {}, 'v:"example.com/work"': {}}}}}`
	for name, test := range map[string]struct{ metadata, want string }{
		"nothing holds it":        {"name: a", ""},
		"an unknown setter":       {"finalizers: [example.com/work]", "finalizer example.com/work"},
		"the setter is named":     {"finalizers: [example.com/work]\n  managedFields:" + setBy(set, "operator"), "finalizer example.com/work (set by operator)"},
		"others set other fields": {"finalizers: [example.com/other]\n  managedFields:" + setBy(set, "operator"), "finalizer example.com/other"},
		"several setters":         {"finalizers: [example.com/work]\n  managedFields:" + setBy(set, "b") + setBy(set, "a"), "finalizer example.com/work (set by a, b)"},
		"one setter in two ways":  {"finalizers: [example.com/work]\n  managedFields:" + setBy(set, "a") + setBy(set, "a"), "finalizer example.com/work (set by a)"},
		"Kubernetes' own has no setter": {
			"finalizers: [kubernetes.io/pvc-protection, foregroundDeletion]\n  managedFields: [{manager: x, fieldsType: FieldsV1, " +
				`fieldsV1: {"f:metadata": {"f:finalizers": {'v:"kubernetes.io/pvc-protection"': {}, 'v:"foregroundDeletion"': {}}}}}]`,
			"finalizers kubernetes.io/pvc-protection, foregroundDeletion",
		},
		"fields that cannot be read": {"finalizers: [a.b/c]\n  managedFields: [{manager: x, fieldsType: FieldsV1, fieldsV1: [1]}]", "finalizer a.b/c"},
		"many are counted":           {"finalizers: [a.b/c, a.b/d, a.b/e, a.b/f, a.b/g]", "finalizers a.b/c, a.b/d, a.b/e, 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("metadata:\n  "+test.metadata), &live.Object); err != nil {
				t.Fatal(err)
			}
			if got := HeldBy(live); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// setBy returns an entry of managed fields of one manager.
func setBy(entry, manager string) string { return strings.Replace(entry, "%", manager, 1) }
