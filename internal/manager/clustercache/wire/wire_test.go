package wire

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// depths are the levels at which objects are read.
var depths = []Depth{DepthMetadata, DepthFull, DepthWhole}

func TestReadList_ReadsItemByItem(t *testing.T) {
	cases := []struct {
		name, list string
		items      []string
		head       List
		fails      bool
	}{
		{"an ordinary page", `{"kind":"L","metadata":{"resourceVersion":"7","continue":"t"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`,
			[]string{"a", "b"}, List{"7", "t"}, false},
		{"the order of the fields does not matter", `{"items":[{"metadata":{"name":"a"}}],"other":{"x":[1]},"metadata":{"resourceVersion":"7"}}`,
			[]string{"a"}, List{ResourceVersion: "7"}, false},
		{"no items", `{"metadata":{"resourceVersion":"7"},"items":[]}`, nil, List{ResourceVersion: "7"}, false},
		{"null for no items", `{"metadata":{"resourceVersion":"7"},"items":null}`, nil, List{ResourceVersion: "7"}, false},
		{"capitals make another key", `{"Metadata":{"resourceVersion":"9"},"metadata":{"resourceVersion":"7"},
			"items":[{"Metadata":{"name":"x"},"metadata":{"name":"a"},"METADATA":{"name":"y"}}]}`, []string{"a"}, List{ResourceVersion: "7"}, false},
		{"items that are no array", `{"items":{}}`, nil, List{}, true},
		{"an item that is no object", `{"items":[1]}`, nil, List{}, true},
		{"a list that ends early", `{"items":[{"metadata":{"name":"a"}}`, nil, List{}, true},
		{"no list at all", `[]`, nil, List{}, true},
		{"nothing", ``, nil, List{}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, depth := range depths {
				var names []string
				head, err := ReadList(strings.NewReader(c.list), depth, func(o *Object) error {
					names = append(names, o.Metadata.Name)
					return nil
				})
				if (err != nil) != c.fails {
					t.Fatalf("error %v", err)
				}
				if err != nil {
					continue
				}
				if diff := cmp.Diff(c.items, names) + cmp.Diff(c.head, head); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestWireMetadata_FiltersManagedFields(t *testing.T) {
	e, err := ReadEvent([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[
		{"manager":"kubectl","operation":"Update","fieldsV1":{"f:data":{"f:x":{}}}},
		{"manager":"ours","operation":"Apply","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:y":{}}}},
		{"manager":"ours","operation":"Update","subresource":"status","fieldsV1":{"f:status":{}}}]}}}`), DepthMetadata)
	if err != nil {
		t.Fatal(err)
	}
	got := e.Object.Metadata.ManagedBy("ours")
	want := []metav1.ManagedFieldsEntry{
		{Manager: "ours", Operation: "Apply", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:y":{}}}`)},
		{Manager: "ours", Operation: "Update", Subresource: "status", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestWireObject_KeepsOnlyHealthFields(t *testing.T) {
	e, err := ReadEvent([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","uid":"u","generation":3,
		"creationTimestamp":"c","deletionTimestamp":"d","finalizers":["f"],"labels":{"l":"v"}},
		"spec":{"replicas":2,"template":{"spec":{}},"volumeClaimTemplates":[]},"status":{"replicas":1}}}`), DepthFull)
	if err != nil {
		t.Fatal(err)
	}
	got := e.Object.Unstructured("apps/v1", "StatefulSet").Object
	want := map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": map[string]any{"name": "a", "namespace": "n", "uid": "u", "generation": int64(3), "creationTimestamp": "c",
			"deletionTimestamp": "d", "finalizers": []any{"f"}},
		"spec": map[string]any{"replicas": int64(2)}, "status": map[string]any{"replicas": int64(1)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	odd, err := ReadEvent([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a"},"spec":[1],"status":"text"}}`), DepthFull)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apiVersion", "kind", "metadata", "status"}, slices.Sorted(maps.Keys(odd.Object.Unstructured("a/v1", "B").Object))); diff != "" {
		t.Fatal(diff)
	}
}

func TestNumeric_ParsesResourceVersion(t *testing.T) {
	for text, want := range map[string]uint64{"": 0, "1": 1, "18446744073709551615": 1<<64 - 1, "18446744073709551616": 0, "-1": 0, "abc": 0, "1.5": 0} {
		if got := Numeric(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"1"}}}`))
	f.Add([]byte(`{"type":"ERROR","object":{"kind":"Status","code":410}}`))
	f.Add([]byte(`{"type":"MODIFIED","object":{"metadata":{"managedFields":[{"manager":"m","fieldsV1":{"f:a":{}}}]},"status":{"state":"Ready"}}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		for _, depth := range depths {
			if e, err := ReadEvent(data, depth); err == nil {
				e.Object.Unstructured("a/v1", "B")
			}
		}
		ReadFailure(data)
	})
}

func FuzzReadList(f *testing.F) {
	f.Add(`{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}}]}`)
	f.Add(`{"items":null}`)
	f.Fuzz(func(_ *testing.T, data string) {
		for _, depth := range depths {
			_, _ = ReadList(strings.NewReader(data), depth, func(*Object) error { return nil })
		}
	})
}
