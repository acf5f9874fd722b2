package permissions_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// FuzzAnalyse reads any objects: it never panics, says the same whatever the order, differs from itself in nothing, and keeps its bounds.
func FuzzAnalyse(f *testing.F) {
	for _, folder := range []string{"08-cert-manager-approves-requests", "11-csi-driver-on-every-node", "24-definition-with-a-new-version", "44-policy-that-denies", "58-unconfined-pod"} {
		var items []any
		for _, o := range load(f, "testdata/pairs/"+folder, "after") {
			items = append(items, o.Object)
		}
		data, err := json.Marshal(items)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint64(1))
	}
	f.Add([]byte(`[{"kind":"List","items":[{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","rules":[{"verbs":["*"]}]},null,3]}]`), uint64(2))
	f.Add([]byte(`[{"kind":"Service","apiVersion":"v1","spec":7},{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","spec":{"group":1}}]`), uint64(3))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		var items []any
		if utiljson.Unmarshal(data, &items) != nil {
			t.Skip()
		}
		objects := []*unstructured.Unstructured{nil}
		for _, item := range items {
			fields, _ := item.(map[string]any)
			objects = append(objects, &unstructured.Unstructured{Object: fields})
		}
		report := permissions.Analyse(objects)
		shuffled := slices.Clone(objects)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(report, permissions.Analyse(shuffled)); diff != "" {
			t.Fatalf("the order of objects changes the report: %s", diff)
		}
		if d := permissions.Compare(report, report); !d.Empty() {
			t.Fatalf("a version differs from itself: %+v", d)
		}
		checkBounds(t, report)
		first := permissions.Compare(permissions.Report{}, report)
		checkBounds(t, permissions.Report{Findings: first.Added})
		for _, sentence := range first.Gravest(5) {
			if len(sentence) > 160 || sentence == "" {
				t.Fatalf("sentence of %d bytes: %q", len(sentence), sentence)
			}
		}
		if _, err := permissions.InstallRole(objects, "installer"); err != nil {
			t.Log(err)
		}
	})
}

// checkBounds fails for findings that are out of order, doubled, or too long to be kept.
func checkBounds(t *testing.T, report permissions.Report) {
	t.Helper()
	seen := map[string]bool{}
	for i, f := range report.Findings {
		if seen[f.Key] || f.Key == "" {
			t.Fatalf("the key %q is there twice, or empty", f.Key)
		}
		seen[f.Key] = true
		if len(f.Sentence) > 160 || len(f.Rule) > 240 || len(f.Subject) > 160 || !utf8.ValidString(f.Sentence+f.Rule+f.Subject) {
			t.Fatalf("texts are out of bounds: %+v", f)
		}
		if i > 0 && report.Findings[i-1].Severity < f.Severity {
			t.Fatalf("%s stands before %s", report.Findings[i-1].Key, f.Key)
		}
	}
	again := permissions.Report{}
	if data, err := json.Marshal(report); err != nil || json.Unmarshal(data, &again) != nil {
		t.Fatalf("the report is no JSON: %v", err)
	}
}

// FuzzAnalyseYAML reads single objects as people write them.
func FuzzAnalyseYAML(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: a, image: b, securityContext: {privileged: true}}]}",
		"apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: {}}}}",
		"apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nwebhooks: [{rules: [{apiGroups: ['*'], resources: ['*/*'], operations: ['*']}]}]",
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nsubjects: [{kind: Group, name: system:serviceaccounts:x}]\nroleRef: {kind: ClusterRole, name: edit}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields := map[string]any{}
		if yaml.Unmarshal([]byte(text), &fields) != nil {
			t.Skip()
		}
		report := permissions.Analyse([]*unstructured.Unstructured{{Object: fields}})
		checkBounds(t, report)
		if d := permissions.Compare(report, report); !d.Empty() {
			t.Fatalf("a version differs from itself: %+v", d)
		}
	})
}
