package remotesync

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAlike(t *testing.T) {
	type m = map[string]any
	type l = []any
	for _, test := range []struct {
		name       string
		one, other any
		want       bool
	}{
		{"nothing and nothing", nil, nil, true},
		{"numbers by kind and value", int64(1), int64(1), true},
		{"a whole number is no fraction", int64(1), 1.0, false},
		{"text is no number", "1", int64(1), false},
		{"nothing is not false", nil, false, false},
		{"maps by what they hold", m{"a": l{m{"b": true}}, "c": nil}, m{"c": nil, "a": l{m{"b": true}}}, true},
		{"deep inside one differs", m{"a": l{m{"b": true}}}, m{"a": l{m{"b": false}}}, false},
		{"one key more", m{"a": "x"}, m{"a": "x", "b": "y"}, false},
		{"another key with nothing is not the key", m{"a": nil}, m{"b": nil}, false},
		{"lists have an order", l{"a", "b"}, l{"b", "a"}, false},
		{"a longer list", l{"a"}, l{"a", "a"}, false},
		{"a map is no list", m{}, l{}, false},
		{"text is no list", "a", l{"a"}, false},
	} {
		if got := alike(test.one, test.other); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if got := alike(test.other, test.one); got != test.want {
			t.Errorf("%s, the other way round: %v", test.name, got)
		}
	}
}

func TestStale_ReturnsOnlyOurOutdatedLabels(t *testing.T) {
	one := template(t, "copy")
	field := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	for _, test := range []struct {
		name   string
		labels map[string]string
		fields []metav1.ManagedFieldsEntry
		want   map[string]any
	}{
		{"what is wanted", nil, []metav1.ManagedFieldsEntry{field("catalog-sync", `{"f:metadata":{"f:labels":{"f:operator.kyma-project.io/beta":{}}}}`)},
			map[string]any{}},
		{"a label that came with the creation", map[string]string{"old": "x"},
			[]metav1.ManagedFieldsEntry{field("catalog-sync", `{"f:metadata":{"f:labels":{".":{},"f:old":{}}}}`)},
			map[string]any{"labels": map[string]any{"old": nil}}},
		{"one of another manager", map[string]string{"theirs": "x"},
			[]metav1.ManagedFieldsEntry{field("another", `{"f:metadata":{"f:labels":{"f:theirs":{}}}}`)}, map[string]any{}},
		{"one that another manager wrote, too", map[string]string{"old": "x"}, []metav1.ManagedFieldsEntry{
			field("catalog-sync", `{"f:metadata":{"f:labels":{"f:old":{}}}}`), field("another", `{"f:metadata":{"f:labels":{"f:old":{}}}}`),
		}, map[string]any{}},
		{"the label of a namespace's name, and the claim", map[string]string{"kubernetes.io/metadata.name": "x", "operator.kyma-project.io/hub": "x"},
			[]metav1.ManagedFieldsEntry{field("catalog-sync",
				`{"f:metadata":{"f:labels":{"f:kubernetes.io/metadata.name":{},"f:operator.kyma-project.io/hub":{}}}}`)}, map[string]any{}},
		{"one that is gone already", nil, []metav1.ManagedFieldsEntry{field("catalog-sync", `{"f:metadata":{"f:labels":{"f:old":{}}}}`)},
			map[string]any{}},
		{"nonsense", map[string]string{"old": "x"}, []metav1.ManagedFieldsEntry{field("catalog-sync", `{"f:metadata":[]}`), {Manager: "catalog-sync"}},
			map[string]any{}},
	} {
		live := one.Object.DeepCopy()
		labels := live.GetLabels()
		maps.Copy(labels, test.labels)
		live.SetLabels(labels)
		live.SetManagedFields(test.fields)
		if got := one.stale(live); !alike(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestDefaulted_MatchesTheAPIServersDefaults(t *testing.T) {
	schema := map[string]any{"type": "object"}
	spec := map[string]any{"names": map[string]any{"kind": "Web", "singular": "website"}, "schema": schema}
	got, _ := defaulted(spec).(map[string]any)
	want := map[string]any{
		"names":      map[string]any{"kind": "Web", "listKind": "WebList", "singular": "website"},
		"conversion": map[string]any{"strategy": "None"}, "schema": schema,
	}
	if !alike(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if names, _ := spec["names"].(map[string]any); len(spec) != 2 || len(names) != 2 {
		t.Errorf("the definition itself was changed: %v", spec)
	}
	for _, none := range []any{nil, "text", map[string]any{"names": "text", "conversion": int64(1)}} {
		if got := defaulted(none); !alike(got, none) {
			t.Errorf("%v became %v", none, got)
		}
	}
}
