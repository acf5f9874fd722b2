package fielddiff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func parsed(t *testing.T, document string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name, from, to string
		want           []Field
	}{
		{"nothing", "{a: {b: 1}}", "{a: {b: 1}}", nil},
		{"fields that the API server maintains are noise",
			"{metadata: {resourceVersion: '1', generation: 1, uid: a, managedFields: [], creationTimestamp: x, selfLink: y}}", "{metadata: {}}", nil},
		{"leaves are sorted by path", "{b: 1, a: {d: x, c: true}}", "{b: 2, a: {d: z, c: false}}",
			[]Field{{"a.c", "true", "false"}, {"a.d", "x", "z"}, {"b", "1", "2"}}},
		{"added and removed values are reported leaf by leaf", "{a: {b: {c: 1, d: 2}}}", "{e: {f: x, g: [1, 2]}}",
			[]Field{{"a.b.c", "1", ""}, {"a.b.d", "2", ""}, {"e.f", "", "x"}, {"e.g[0]", "", "1"}, {"e.g[1]", "", "2"}}},
		{"empty values are reported too", "{a: {}, b: []}", "{c: {}, d: []}",
			[]Field{{"a", "{}", ""}, {"b", "[]", ""}, {"c", "", "{}"}, {"d", "", "[]"}}},
		{"keys that are not words are quoted", "{data: {tls.crt: a, x: b}}", "{data: {tls.crt: c, x: b}}", []Field{{`data["tls.crt"]`, "a", "c"}}},
		{"named items are matched by name", "{l: [{name: a, v: 1}, {name: b, v: 2}]}", "{l: [{name: new, v: 0}, {name: b, v: 3}, {name: a, v: 1}]}",
			[]Field{{"l[name=b].v", "2", "3"}, {"l[name=new].name", "", "new"}, {"l[name=new].v", "", "0"}}},
		{"others by position", "{l: [{v: 1}, {v: 2}]}", "{l: [{v: 1}, {v: 3}, {v: 4}]}", []Field{{"l[1].v", "2", "3"}, {"l[2].v", "", "4"}}},
		{"items with one name twice by position", "{l: [{name: a, v: 1}, {name: a, v: 2}]}", "{l: [{name: a, v: 1}, {name: a, v: 3}]}",
			[]Field{{"l[1].v", "2", "3"}}},
		{"another order of named items is a change", "{l: [{name: a}, {name: b}]}", "{l: [{name: b}, {name: a}]}",
			[]Field{{"l", `[{"name":"a"},{"name":"b"}]`, `[{"name":"b"},{"name":"a"}]`}}},
		{"a changed type is a change of the whole value", "{a: {b: 1}}", "{a: x}", []Field{{"a", `{"b":1}`, "x"}}},
		{"a text that looks like a number differs from the number", "{a: '1', b: [1]}", "{a: 1, b: ['1']}",
			[]Field{{"a", "1", "1"}, {"b[0]", "1", "1"}}},
		{"no value of a Secret is shown", "{apiVersion: v1, kind: Secret, data: {a: eA==, b: eA==}, metadata: {annotations: {x: secret}}}",
			"{apiVersion: v1, kind: Secret, data: {a: eQ==, c: eA==}}",
			[]Field{{"data.a", "(hidden)", "(hidden)"}, {"data.b", "(hidden)", ""}, {"data.c", "", "(hidden)"}, {"metadata.annotations.x", "(hidden)", ""}}},
		{"long values are cut", "{a: " + strings.Repeat("ü", 600) + "}", "{}", []Field{{"a", strings.Repeat("ü", 510) + "…", ""}}},
		{"long values are shown where they differ", "{a: " + strings.Repeat("x", 2000) + "1}", "{a: " + strings.Repeat("x", 2000) + "2}",
			[]Field{{"a", "…" + strings.Repeat("x", 256) + "1", "…" + strings.Repeat("x", 256) + "2"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			from, to := parsed(t, test.from), parsed(t, test.to)
			from.SetName("x")
			to.SetName("x")
			if diff := cmp.Diff(test.want, Compare(from, to)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
