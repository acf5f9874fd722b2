package hubcontent

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestClean_SaysWhichGenerationsWereCurrent(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": "a", "namespace": "b", "uid": "u", "generation": int64(7), "finalizers": []any{"f"},
			"annotations": map[string]any{corev1.LastAppliedConfigAnnotation: "secret", v1beta2.AnnotationTakeOverFrom: "x", "own": "kept"},
		},
		"status": map[string]any{
			"observedGeneration": int64(6), "appliedGeneration": int64(7),
			"conditions": []any{map[string]any{"observedGeneration": int64(7)}, map[string]any{"observedGeneration": int64(3)}, "odd"},
		},
	}}
	clean(o)
	if o.GetUID() != "" || len(o.GetFinalizers()) > 0 || len(o.GetAnnotations()) != 1 || o.GetAnnotations()["own"] != "kept" {
		t.Errorf("metadata: %v", o.Object["metadata"])
	}
	renumber(o, exportedGeneration, 42)
	status, _ := o.Object["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	first, _ := conditions[0].(map[string]any)
	second, _ := conditions[1].(map[string]any)
	if status["observedGeneration"] != int64(-1) || status["appliedGeneration"] != int64(42) ||
		first["observedGeneration"] != int64(42) || second["observedGeneration"] != int64(0) {
		t.Errorf("status: %v", status)
	}
}

func TestReferences_OfManifest(t *testing.T) {
	all := &metav1.LabelSelector{}
	m := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "m"}, Spec: v1beta2.ManifestSpec{
		Install: v1beta2.InstallInfo{Source: runtime.RawExtension{Raw: []byte(`{"configMaps":[{"name":"c"},{"name":""}]}`)}},
		AdditionalInstalls: []v1beta2.InstallInfo{
			{Source: runtime.RawExtension{Raw: []byte(`not json`)}},
			{Source: runtime.RawExtension{Raw: []byte(`{"credSecretSelector":{"matchLabels":{"a":"b"}}}`)}},
		},
		Config:     &v1beta2.ImageSpec{CredSecretSelector: all},
		KymaValues: &v1beta2.EntryValues{From: []v1beta2.HashedValues{{ValuesReference: v1beta2.ValuesReference{Kind: "Secret", Name: "v"}}}},
	}, Status: v1beta2.ManifestStatus{Injected: []v1beta2.InjectedSecret{{Name: "i"}}}}
	r := newReferences()
	r.ofManifest(m)
	for _, id := range []ID{{"ConfigMap", "n", "c"}, {"Secret", "n", "v"}, {"Secret", "n", "i"}} {
		if len(r.named) != 3 || r.named[id] == "" {
			t.Errorf("named: %v", r.named)
		}
	}
	if len(r.selected) != 1 || r.selected[selection{"n", "a=b"}] == "" {
		t.Errorf("selected: %v", r.selected)
	}
}

func TestDecode_RefusesWhatIsNoContentOfAHub(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\ndata: {key: c2VjcmV0}\n"
	for _, c := range []struct{ name, text, says string }{
		{"another kind", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\n", "no content of a hub"},
		{"no YAML", secret + "---\nc2VjcmV0: [", "document 2 is no YAML"},
		{"a key twice", secret + "data: {key: c2VjcmV0}\n", "document 1 is no YAML"},
		{"an object twice", secret + "---\n" + secret, "Secret b/a is there twice"},
		{"no namespace", strings.Replace(secret, ", namespace: b", "", 1), "has no name, or no namespace"},
		{"a list", "apiVersion: v1\nkind: List\nitems: []\n", "no content of a hub"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Decode(&Content{}, "file.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "file.yaml: ") ||
				strings.Contains(err.Error(), "c2VjcmV0") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
	content := &Content{}
	if err := Decode(content, "file.yaml", []byte("---\n# nothing\n---\n"+secret+"---\n\n")); err != nil || len(content.Objects) != 1 {
		t.Errorf("%d objects: %v", len(content.Objects), err)
	}
}

func TestCompile_NamesWhatIsMissing(t *testing.T) {
	manifest := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta2.GroupVersion.String(), "kind": kindManifest, "metadata": map[string]any{
			"name": "m", "namespace": "n", "labels": map[string]any{v1beta2.LabelKymaName: "k"},
			"annotations": map[string]any{v1beta2.AnnotationExportedFrom: "hub/uid"},
		},
	}}
	says := func(o *unstructured.Unstructured, text string) {
		t.Helper()
		if _, err := compile(&Content{Objects: []*unstructured.Unstructured{o}}, nil); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	says(manifest, "Kyma n/k")
	shard := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kindSecret, "metadata": map[string]any{
			"name": "s", "namespace": "n", "labels": map[string]any{v1beta2.LabelInventory: "uid"},
		},
	}}
	says(shard, "no Manifest")
	manifest.Object["status"] = map[string]any{"inventoryShards": []any{"s"}}
	says(manifest, "Secret n/s")
}
