package clustercache

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestObserve_ForeignChangeEnqueuesOwner(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "events", cfg))
	owner := ownerNamed("events")
	ns := newNamespace(t, foreign, "events")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})

	o := newObject(configMaps, ns, "one", owner)
	o.Object["data"] = map[string]any{"ours": "1"}
	made := own(t, r, o)
	b.wantQuiet(t, "we made it ourselves")
	recorded := r.Live(idOf(o))
	want := inventory.Live{
		Presence: inventory.Present, UID: made.GetUID(), Owner: owner.String(),
		Fields: inventory.FieldsHash(made.GetManagedFields(), v1beta2.FieldManagerModule),
	}
	if recorded != want {
		t.Fatalf("Live = %+v, want %+v", recorded, want)
	}

	strangers := at(t, r, foreign, o)
	patch := func(body string) {
		t.Helper()
		if _, err := strangers.Patch(t.Context(), "one", types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
			t.Fatal(err)
		}
	}
	patch(`{"data":{"theirs":"1"}}`)
	b.wantQuiet(t, "a field that is not ours was added")
	if live := r.Live(idOf(o)); live != recorded {
		t.Fatalf("Live = %+v, want %+v", live, recorded)
	}
	patch(`{"data":{"ours":"2"}}`)
	b.wantWake(t, owner, "a field of ours was changed")
	if live := r.Live(idOf(o)); live.Fields == recorded.Fields {
		t.Fatal("Fields did not move")
	}
	patch(`{"metadata":{"finalizers":["test/hold"]}}`)
	if err := strangers.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "it is terminating")
	if live := r.Live(idOf(o)); !live.Terminating {
		t.Fatalf("Live = %+v, want terminating", live)
	}
	patch(`{"metadata":{"finalizers":null}}`)
	b.wantWake(t, owner, "it is gone")
	if live := r.Live(idOf(o)); live != (inventory.Live{Presence: inventory.Absent}) {
		t.Fatalf("Live = %+v, want absent", live)
	}
	if _, err := strangers.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "a user made it anew")
}

func TestObserveWrite_EnqueuesNoOwner(t *testing.T) {
	cfg := realCluster(t)
	b := newBench(t, func(c *Config) { c.QPS, c.Burst = 1000, 1000 })
	r := b.mustGet(t, b.remote(t, "own", cfg))
	owner := ownerNamed("own")
	ns := newNamespace(t, stranger(t, cfg), "own")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps}, runtimes.Interest{GroupVersionKind: deployments, Mode: runtimes.Workload})
	b.wantQuiet(t, "nothing happened")

	var workers sync.WaitGroup
	for i := range 40 {
		workers.Go(func() {
			o := newObject(configMaps, ns, fmt.Sprintf("c%d", i), owner)
			own(t, r, o)
			for round := range 3 {
				o := newObject(configMaps, ns, fmt.Sprintf("c%d", i), owner)
				o.Object["data"] = map[string]any{"round": fmt.Sprint(round)}
				applied, err := at(t, r, r.Cluster().Dynamic, o).Apply(t.Context(), o.GetName(), o,
					metav1.ApplyOptions{FieldManager: v1beta2.FieldManagerModule, Force: true})
				if err != nil {
					t.Error(err)
					return
				}
				r.Cluster().Learn(applied)
			}
		})
		if i%5 == 0 {
			workers.Go(func() { own(t, r, deployment(ns, fmt.Sprintf("d%d", i), owner)) })
		}
	}
	workers.Wait()
	b.wantQuiet(t, "all writes were our own")
	for i := range 40 {
		if live := r.Live(inventory.ID{Kind: "ConfigMap", Namespace: ns, Name: fmt.Sprintf("c%d", i)}); live.Presence != inventory.Present {
			t.Fatalf("c%d: %+v", i, live)
		}
	}
}

func deployment(namespace, name string, owner types.NamespacedName) *unstructured.Unstructured {
	o := newObject(deployments, namespace, name, owner)
	o.Object["spec"] = map[string]any{
		"replicas": int64(1),
		"selector": map[string]any{"matchLabels": map[string]any{"app": name}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": name}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
		},
	}
	return o
}
