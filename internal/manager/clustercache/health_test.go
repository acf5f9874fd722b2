package clustercache

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestHealth_OfWorkload(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "workload", cfg))
	owner := ownerNamed("workload")
	ns := newNamespace(t, foreign, "workload")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: deployments, Mode: runtimes.Workload})
	o := deployment(ns, "manager", owner)
	if result, kept := r.Health(idOf(o)); !kept || result.Status != health.Unknown {
		t.Fatalf("Health of what does not exist = %v, %v", result, kept)
	}
	own(t, r, o)
	b.wantQuiet(t, "we made it ourselves")
	if result, kept := r.Health(idOf(o)); !kept || result.Status != health.InProgress {
		t.Fatalf("Health = %v, %v, want in progress", result, kept)
	}
	status := `{"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,
		"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`
	_, err := at(t, r, foreign, o).Patch(t.Context(), "manager", types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "it became ready")
	if result, _ := r.Health(idOf(o)); result.Status != health.Ready {
		t.Fatalf("Health = %v, want ready", result)
	}
	if _, kept := r.Health(inventory.ID{Kind: "ConfigMap", Namespace: ns, Name: "manager"}); kept {
		t.Fatal("a kind that is not tracked has health")
	}
}

// widgets is the kind that a test's CustomResourceDefinition defines; every test has its own group.
func widgets(group string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: "v1alpha1", Kind: "Widget"}
}

func definitionOf(gvk schema.GroupVersionKind, owner types.NamespacedName) *unstructured.Unstructured {
	o := newObject(definitions, "", "widgets."+gvk.Group, owner)
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	o.Object["spec"] = map[string]any{
		"group": gvk.Group, "scope": "Namespaced",
		"names": map[string]any{"kind": gvk.Kind, "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
		"versions": []any{map[string]any{
			"name": gvk.Version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": open},
			"subresources": map[string]any{"status": map[string]any{}},
		}},
	}
	return o
}

func TestHealth_EstablishedDefinitionRelistsItsKind(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "definition", cfg))
	owner, gvk := ownerNamed("definition"), widgets("definition.test")
	ns := newNamespace(t, foreign, "definition")

	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: definitions}, runtimes.Interest{GroupVersionKind: gvk, Mode: runtimes.ModuleCR})
	if objs, synced := r.ModuleCRs(gvk.GroupKind()); len(objs) > 0 || !synced {
		t.Fatalf("ModuleCRs of a kind that is not served = %v, %v", objs, synced)
	}
	if _, err := r.Cluster().Resource(t.Context(), gvk); apply.Classify(err) != apply.ClassKindUnknown {
		t.Fatalf("Resource = %v, want an unknown kind", err)
	}
	crd := definitionOf(gvk, owner)
	own(t, r, crd)
	b.wantWake(t, owner, "the definition is established")
	eventually(t, "the definition is ready", func() bool {
		result, kept := r.Health(idOf(crd))
		return kept && result.Status == health.Ready
	})
	if namespaced, known := r.Namespaced(gvk); !namespaced || !known {
		t.Fatalf("Namespaced = %v, %v", namespaced, known)
	}
	eventually(t, "the kind is watched", func() bool { return b.calls.count("WATCH /apis/definition.test/v1alpha1/widgets") >= 1 })
	// One before the definition came, and one after each list that the server refused although it had reported the kind as established;
	// an outdated discovery is repeated once.
	asked, lists := b.calls.count("GET /apis/definition.test/v1alpha1"), b.calls.count("GET /apis/definition.test/v1alpha1/widgets")
	if asked < 1 || asked > lists+2 {
		t.Errorf("%d discovery calls with %d lists", asked, lists)
	}
	b.woken()

	cr := newObject(gvk, ns, "w", ownerNamed("nobody"))
	cr.SetLabels(nil)
	if _, err := at(t, r, foreign, cr).Create(t.Context(), cr, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "a module CR appeared")
	_, err := at(t, r, foreign, cr).Patch(t.Context(), "w", types.MergePatchType, []byte(`{"status":{"state":"Warning"}}`),
		metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "a module CR changed its state")
	objs, synced := r.ModuleCRs(gvk.GroupKind())
	if !synced || len(objs) != 1 || objs[0].Namespace != ns || objs[0].Name != "w" || objs[0].State != "Warning" {
		t.Fatalf("ModuleCRs = %+v, %v", objs, synced)
	}
	_, err = at(t, r, foreign, cr).Patch(t.Context(), "w", types.MergePatchType, []byte(`{"status":{"other":1}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	b.wantQuiet(t, "the state stays")

	if err := at(t, r, foreign, crd).Delete(t.Context(), crd.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the definition and its objects are gone", func() bool {
		objs, synced := r.ModuleCRs(gvk.GroupKind())
		return r.Live(idOf(crd)).Presence == inventory.Absent && synced && len(objs) == 0
	})
	b.wantWake(t, owner, "the definition is gone")
}

func TestHealth_OfNamespace(t *testing.T) {
	cfg := realCluster(t)
	b := newBench(t, nil)
	r := b.mustGet(t, b.remote(t, "namespace", cfg))
	owner := ownerNamed("namespace")
	o := newObject(namespaces, "", fmt.Sprintf("health-%d", time.Now().UnixNano()), owner)
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: namespaces})
	own(t, r, o)
	if result, kept := r.Health(idOf(o)); !kept || result.Status != health.Ready {
		t.Fatalf("Health = %v, %v, want ready by what the write returned", result, kept)
	}

	again := ownerNamed("namespace-after-a-restart")
	second := newBench(t, nil)
	r = second.mustGet(t, second.remote(t, "namespace", cfg))
	second.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: namespaces})
	second.trackAll(t, r, again, runtimes.Interest{GroupVersionKind: configMaps})
	if n := second.calls.count("GET /api/v1/namespaces/" + o.GetName()); n != 0 {
		t.Fatalf("%d calls for a health that no one asked for", n)
	}
	for range 3 {
		if result, kept := r.Health(idOf(o)); !kept || result.Status == health.InProgress {
			t.Fatalf("Health = %v, %v", result, kept)
		}
	}
	second.wantWake(t, owner, "its health was read")
	if result, _ := r.Health(idOf(o)); result.Status != health.Ready {
		t.Fatalf("Health = %v, want ready", result)
	}
	if n := second.calls.count("GET /api/v1/namespaces/" + o.GetName()); n != 1 {
		t.Fatalf("%d calls, want one for all questions", n)
	}
}
