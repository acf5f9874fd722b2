package fleet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// depths are the ways in which objects are read.
var depths = []needs{{}, {health: true, state: true}, {keep: true}}

func TestAListIsReadItemByItem(t *testing.T) {
	cases := []struct {
		name, list string
		items      []string
		head       wireList
		fails      bool
	}{
		{"an ordinary page", `{"kind":"L","metadata":{"resourceVersion":"7","continue":"t"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`,
			[]string{"a", "b"}, wireList{"7", "t"}, false},
		{"the order of the fields does not matter", `{"items":[{"metadata":{"name":"a"}}],"other":{"x":[1]},"metadata":{"resourceVersion":"7"}}`,
			[]string{"a"}, wireList{ResourceVersion: "7"}, false},
		{"no items", `{"metadata":{"resourceVersion":"7"},"items":[]}`, nil, wireList{ResourceVersion: "7"}, false},
		{"null for no items", `{"metadata":{"resourceVersion":"7"},"items":null}`, nil, wireList{ResourceVersion: "7"}, false},
		{"capitals make another key", `{"Metadata":{"resourceVersion":"9"},"metadata":{"resourceVersion":"7"},
			"items":[{"Metadata":{"name":"x"},"metadata":{"name":"a"},"METADATA":{"name":"y"}}]}`, []string{"a"}, wireList{ResourceVersion: "7"}, false},
		{"items that are no array", `{"items":{}}`, nil, wireList{}, true},
		{"an item that is no object", `{"items":[1]}`, nil, wireList{}, true},
		{"a list that ends early", `{"items":[{"metadata":{"name":"a"}}`, nil, wireList{}, true},
		{"no list at all", `[]`, nil, wireList{}, true},
		{"nothing", ``, nil, wireList{}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, depth := range depths {
				var names []string
				head, err := readList(strings.NewReader(c.list), depth, func(o *wireObject) error {
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

func TestOnlyTheFieldsOfOneManagerCount(t *testing.T) {
	e, err := readEvent([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[
		{"manager":"kubectl","operation":"Update","fieldsV1":{"f:data":{"f:x":{}}}},
		{"manager":"ours","operation":"Apply","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:y":{}}}},
		{"manager":"ours","operation":"Update","subresource":"status","fieldsV1":{"f:status":{}}}]}}}`), needs{})
	if err != nil {
		t.Fatal(err)
	}
	got := e.Object.Metadata.managed("ours")
	want := []metav1.ManagedFieldsEntry{
		{Manager: "ours", Operation: "Apply", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:y":{}}}`)},
		{Manager: "ours", Operation: "Update", Subresource: "status", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestAnObjectIsSpelledOutForItsHealthOnly(t *testing.T) {
	e, err := readEvent([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","uid":"u","generation":3,
		"creationTimestamp":"c","deletionTimestamp":"d","finalizers":["f"],"labels":{"l":"v"}},
		"spec":{"replicas":2,"template":{"spec":{}},"volumeClaimTemplates":[]},"status":{"replicas":1}}}`), needs{health: true})
	if err != nil {
		t.Fatal(err)
	}
	got := e.Object.object("apps/v1", "StatefulSet").Object
	want := map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": map[string]any{"name": "a", "namespace": "n", "uid": "u", "generation": int64(3), "creationTimestamp": "c",
			"deletionTimestamp": "d", "finalizers": []any{"f"}},
		"spec": map[string]any{"replicas": int64(2)}, "status": map[string]any{"replicas": int64(1)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	odd, err := readEvent([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a"},"spec":[1],"status":"text"}}`), needs{health: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apiVersion", "kind", "metadata", "status"}, sortedKeys(odd.Object.object("a/v1", "B").Object)); diff != "" {
		t.Fatal(diff)
	}
}

func TestAResourceVersionIsANumberOrNothing(t *testing.T) {
	for text, want := range map[string]uint64{"": 0, "1": 1, "18446744073709551615": 1<<64 - 1, "18446744073709551616": 0, "-1": 0, "abc": 0, "1.5": 0} {
		if got := numeric(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(event("ADDED", metaOf("a", "u", "1", "o"))))
	f.Add([]byte(event("ERROR", `{"kind":"Status","code":410}`)))
	f.Add([]byte(`{"type":"MODIFIED","object":{"metadata":{"managedFields":[{"manager":"m","fieldsV1":{"f:a":{}}}]},"status":{"state":"Ready"}}}`))
	r := &Runtime{cfg: Config{FieldManager: "m"}.defaulted()}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, depth := range depths {
			e, err := readEvent(data, depth)
			if err != nil {
				continue
			}
			if o := r.reduce(&e.Object, widgets("fuzz.test"), depth); o.body != nil && o.body.object(o.version) == nil {
				t.Errorf("a body cannot be read again: %q", o.body.rest)
			}
		}
		readFailure(data)
	})
}

func FuzzReadList(f *testing.F) {
	f.Add(`{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}}]}`)
	f.Add(`{"items":null}`)
	f.Fuzz(func(_ *testing.T, data string) {
		for _, depth := range depths {
			_, _ = readList(strings.NewReader(data), depth, func(*wireObject) error { return nil })
		}
	})
}
