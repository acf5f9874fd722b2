package apply

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// large returns a ConfigMap with that many bytes of data (up to 1 MiB) and 200 KiB of annotations.
func (f *fixture) large(name string, bytes int) *unstructured.Unstructured {
	object := f.configMap(name, "text="+strings.Repeat("x", bytes))
	object.SetAnnotations(map[string]string{ownerKey: mine, "example.com/note": strings.Repeat("y", 200<<10)})
	return object
}

// Server-side apply keeps no copy of the object in an annotation, so an object may be as large as the API server accepts.
func TestObjectBeyondOneMiBIsCreatedAndChanged(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	size := 1<<20 - 100
	i.installs(Created, i.large("large", size))
	for range 2 { // by the migration, and by one call
		size--
		after := i.installs(Updated, i.large("large", size))
		if text, _, _ := unstructured.NestedString(after.Object, "data", "text"); len(text) != size {
			t.Errorf("%d bytes, want %d", len(text), size)
		}
		i.rests(i.large("large", size))
	}
}

func TestObjectThatTheServerCannotStoreIsRefused(t *testing.T) {
	f := onServer(t)
	wide := func(bytes int) *unstructured.Unstructured {
		object := f.object(strings.ReplaceAll(deployment, "name: operator", "name: wide"))
		f.must(unstructured.SetNestedField(object.Object, strings.Repeat("x", bytes), "spec", "template", "metadata", "annotations", "example.com/note"))
		return object
	}
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		says   string
	}{
		"more than a ConfigMap may hold":      {f.configMap("a", "text="+strings.Repeat("x", 1<<20+1)), "FieldValueTooLong"},
		"more than annotations may hold":      {wide(1 << 20), "Too long"},
		"more than a request may hold":        {f.configMap("b", "text="+strings.Repeat("x", 4<<20)), "limit is 3145728"},
		"more than etcd takes":                {f.object(command(1700 << 10)), "request is too large"},
		"more than the API server gives etcd": {f.object(command(2500 << 10)), "larger than max"},
	} {
		t.Run(name, func(t *testing.T) {
			f.T = t
			outcome := f.cluster.Apply(t.Context(), newSteps(test.object), f.opts)[0]
			f.is(outcome, Refused, ClassRefused)
			if outcome.Err == nil || !strings.Contains(outcome.Err.Error(), test.says) || len(outcome.Err.Error()) > 4096 {
				t.Errorf("%d bytes that do not say %q: %.300v", len(outcome.Err.Error()), test.says, outcome.Err)
			}
		})
	}
}

// command returns a Deployment with an argument of that many bytes, which only the storage limits.
func command(bytes int) string {
	return strings.ReplaceAll(strings.ReplaceAll(deployment, "name: operator", "name: long"), "--leader-elect", strings.Repeat("x", bytes))
}
