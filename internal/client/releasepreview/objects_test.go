package releasepreview

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var manager = inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "kyma-system", Name: "manager"}

func TestDiffObjects(t *testing.T) {
	const config = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}, data: {a: "1"}}`
	const image = "spec.template.spec.containers[name=manager].image"
	daemon := func(image, strategy string) string {
		return fmt.Sprintf(`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: ns}, spec: {updateStrategy: {type: %s}, `+
			`template: {spec: {containers: [{name: x, image: "%s"}]}}}}`, strategy, image)
	}
	for name, test := range map[string]struct {
		before, after []string
		want          ObjectChanges
	}{
		"nothing in both is nothing": {want: ObjectChanges{}},
		"what is in both and equal is counted": {
			before: []string{config}, after: []string{config}, want: ObjectChanges{Unchanged: 1},
		},
		"what only one side has comes or goes": {
			before: []string{config}, after: []string{deployment("a:1")},
			want: ObjectChanges{Added: []inventory.ID{manager}, Removed: []inventory.ID{{Kind: "ConfigMap", Namespace: "ns", Name: "c"}}},
		},
		"a Deployment with another image restarts": {
			before: []string{deployment("a:1")}, after: []string{deployment("a:2")},
			want: ObjectChanges{
				Changed:  []ChangedObject{{ID: manager, Fields: []Field{{image, "a:1", "a:2"}}}},
				Restarts: []inventory.ID{manager},
			},
		},
		"a Deployment with another number of replicas does not restart": {
			before: []string{deployment("a:1")}, after: []string{strings.Replace(deployment("a:1"), "replicas: 1", "replicas: 2", 1)},
			want: ObjectChanges{Changed: []ChangedObject{{ID: manager, Fields: []Field{{"spec.replicas", "1", "2"}}}}},
		},
		"a DaemonSet that replaces its pods only on request does not restart by itself": {
			before: []string{daemon("a:1", "OnDelete")}, after: []string{daemon("a:2", "OnDelete")},
			want: ObjectChanges{Changed: []ChangedObject{{
				ID:     inventory.ID{Group: "apps", Kind: "DaemonSet", Namespace: "ns", Name: "d"},
				Fields: []Field{{"spec.template.spec.containers[name=x].image", "a:1", "a:2"}},
			}}},
		},
		"another version of the same kind is no other object": {
			before: []string{`{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: p, namespace: ns}}`},
			after:  []string{`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: ns}}`},
			want: ObjectChanges{Changed: []ChangedObject{{
				ID:     inventory.ID{Group: "policy", Kind: "PodDisruptionBudget", Namespace: "ns", Name: "p"},
				Fields: []Field{{"apiVersion", "policy/v1beta1", "policy/v1"}},
			}}},
		},
		"a Secret shows which keys change, and no value": {
			before: []string{`{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {a: b25l}}`},
			after:  []string{`{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {a: dHdv, b: dHdv}}`},
			want: ObjectChanges{Changed: []ChangedObject{{
				ID:     inventory.ID{Kind: "Secret", Namespace: "ns", Name: "s"},
				Fields: []Field{{"data.a", fielddiff.SecretValue, fielddiff.SecretValue}, {"data.b", "", fielddiff.SecretValue}},
			}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := DiffObjects(objects(t, test.before...), objects(t, test.after...))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDiffObjects_ListsABoundedNumberOfFields: a generated ConfigMap may have thousands of keys.
func TestDiffObjects_ListsABoundedNumberOfFields(t *testing.T) {
	made := func(value string) *unstructured.Unstructured {
		data := map[string]any{}
		for i := range maxFields + 7 {
			data[fmt.Sprintf("key-%04d", i)] = value
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "large"}, "data": data,
		}}
	}
	got := DiffObjects([]*unstructured.Unstructured{made("a")}, []*unstructured.Unstructured{made("b")})
	if len(got.Changed) != 1 || len(got.Changed[0].Fields) != maxFields || got.Changed[0].MoreFields != 7 {
		t.Errorf("%d objects, the first with %d fields and %d more", len(got.Changed), len(got.Changed[0].Fields), got.Changed[0].MoreFields)
	}
}

// randomContent returns objects of a random content, among them Secrets with the given value, which also stands elsewhere.
func randomContent(r *rand.Rand, value string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	add := func(kind, apiVersion string, fields map[string]any) {
		fields["apiVersion"], fields["kind"] = apiVersion, kind
		fields["metadata"] = map[string]any{"name": fmt.Sprintf("o%d", r.IntN(4)), "namespace": "n", "labels": map[string]any{"a": fmt.Sprint(r.IntN(3))}}
		all = append(all, &unstructured.Unstructured{Object: fields})
	}
	for range 1 + r.IntN(6) {
		switch r.IntN(5) {
		case 0:
			add("Secret", "v1", map[string]any{"stringData": map[string]any{fmt.Sprint("k", r.IntN(3)): value}})
		case 1:
			add("Secret", "v1", map[string]any{"data": map[string]any{"k": base64.StdEncoding.EncodeToString([]byte(value))}})
		case 2:
			add("ConfigMap", "v1", map[string]any{"data": map[string]any{"k": "before " + value + " after", "n": fmt.Sprint(r.IntN(9))}})
		case 3:
			add("Deployment", "apps/v1", map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
				"containers": []any{map[string]any{"name": "x", "image": "example.com/x:1", "args": []any{"--password=" + value}}},
			}}}})
		default:
			add("ConfigMap", "v1", map[string]any{"data": map[string]any{"n": fmt.Sprint(r.IntN(9))}})
		}
	}
	// A version that has the value anywhere has it in a Secret: otherwise nothing says that it is one.
	add("Secret", "v1", map[string]any{"stringData": map[string]any{"v": value}})
	all[len(all)-1].SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"v":"` + value + `"}}`})
	return all
}

func TestDiffObjects_OfEqualObjectsIsEmpty(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		content := randomContent(r, "some-password-1")
		copied := make([]*unstructured.Unstructured, len(content))
		for i := range content {
			copied[i] = content[i].DeepCopy()
		}
		if got := DiffObjects(content, copied); !got.Empty() || len(got.Restarts) > 0 {
			t.Fatalf("seed %d: %+v", seed, got)
		}
	}
}

// TestCompare_ShowsNoValueOfASecret in any form of output, also where a chart wrote it elsewhere.
func TestCompare_ShowsNoValueOfASecret(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		old, next := fmt.Sprintf("old-secret-%016x", r.Uint64()), fmt.Sprintf("new-secret-%016x", r.Uint64())
		data := func(value string) func(*v1beta2.ModuleTemplateSpec) {
			return func(spec *v1beta2.ModuleTemplateSpec) {
				spec.Data = object(t, `{apiVersion: v1, kind: Secret, metadata: {name: d}, stringData: {x: "`+value+`"}}`)
			}
		}
		before, after := newTemplate("1.0.0", data(old)), newTemplate("1.1.0", data(next))
		changes := Compare(
			&Side{Version: "1.0.0", Objects: randomContent(r, old), Template: &before},
			&Side{Version: "1.1.0", Objects: randomContent(r, next), Template: &after},
		)
		shown := asJSON(t, changes) + asJSON(t, changes.Summary(0))
		for _, value := range []string{old, next} {
			for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value))} {
				if strings.Contains(shown, form) {
					t.Fatalf("seed %d: the output holds %s:\n%s", seed, form, shown)
				}
			}
		}
	}
}

func FuzzDiffObjects(f *testing.F) {
	f.Add(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"dmFsdWU="}}`, `{"kind":"Secret","data":[1,{"a":null}]}`)
	f.Add(`{"kind":"DaemonSet","apiVersion":"apps/v1","spec":{"template":1}}`, `{"kind":"DaemonSet","apiVersion":"apps/v1","spec":[]}`)
	f.Add(`{"metadata":{"labels":1}}`, `{}`)
	f.Fuzz(func(t *testing.T, one, other string) {
		before, after := &unstructured.Unstructured{}, &unstructured.Unstructured{}
		if before.UnmarshalJSON([]byte(one)) != nil || after.UnmarshalJSON([]byte(other)) != nil {
			t.Skip()
		}
		there := DiffObjects([]*unstructured.Unstructured{before}, []*unstructured.Unstructured{after})
		back := DiffObjects([]*unstructured.Unstructured{after}, []*unstructured.Unstructured{before})
		if len(there.Added) != len(back.Removed) || len(there.Changed) != len(back.Changed) || there.Unchanged != back.Unchanged {
			t.Errorf("there %+v, back %+v", there, back)
		}
		if same := DiffObjects([]*unstructured.Unstructured{before}, []*unstructured.Unstructured{before.DeepCopy()}); !same.Empty() {
			t.Errorf("an object differs from itself: %+v", same)
		}
	})
}
