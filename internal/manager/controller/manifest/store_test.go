package manifest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestInventory_SurvivesTheStatusUnchanged(t *testing.T) {
	entries := []inventory.Entry{entryOf(deploymentID), {ID: accountID, Version: "v1"}}
	if diff := cmp.Diff(entries, fromStatus(toStatus(entries))); diff != "" {
		t.Errorf("something was lost (-want +got):\n%s", diff)
	}
	if got := toStatus(nil); got != nil {
		t.Errorf("an empty inventory is %v in the status", got)
	}
	upstream := []v1beta2.Resource{{Group: "apps", Version: "v1", Kind: "Deployment", Name: "operator", Namespace: "default"}}
	if diff := cmp.Diff([]inventory.Entry{{ID: deploymentID, Version: "v1"}}, fromStatus(upstream)); diff != "" {
		t.Errorf("what upstream recorded counts as planned (-want +got):\n%s", diff)
	}
}

func TestShardCache(t *testing.T) {
	var cache shardCache
	key, other := types.NamespacedName{Namespace: "a", Name: "b"}, types.NamespacedName{Namespace: "a", Name: "c"}
	names, entries := []string{"one", "two"}, []inventory.Entry{entryOf(deploymentID)}
	if _, ok := cache.get(key, names); ok {
		t.Error("an empty cache knows something")
	}
	cache.put(key, names, entries)
	names[0], entries[0] = "changed", inventory.Entry{}
	if got, ok := cache.get(key, []string{"one", "two"}); !ok || len(got) != 1 || got[0] != entryOf(deploymentID) {
		t.Errorf("got %v, %v", got, ok)
	}
	for name, asked := range map[string][]string{"other shards": {"one"}, "another order": {"two", "one"}, "none": nil} {
		if _, ok := cache.get(key, asked); ok {
			t.Errorf("%s are answered", name)
		}
	}
	if _, ok := cache.get(other, []string{"one", "two"}); ok {
		t.Error("another Manifest is answered")
	}
	cache.forget(key)
	if _, ok := cache.get(key, []string{"one", "two"}); ok || len(cache.known) != 0 {
		t.Error("what was forgotten is still there")
	}
}

// many returns an inventory that does not fit into a status.
func many(count int) []inventory.Entry {
	entries := make([]inventory.Entry, 0, count)
	for i := range count {
		entries = append(entries, entryOf(inventory.ID{Kind: "ConfigMap", Namespace: "default", Name: fmt.Sprintf("map-%05d", i)}))
	}
	return entries
}

func secretsIn(t *testing.T, r *Reconciler) []string {
	t.Helper()
	list := &corev1.SecretList{}
	if err := r.Client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func TestInventory_IsSplitIntoShardsWhenLarge(t *testing.T) {
	manifest := newManifest()
	r := newReconciler(t, manifest)
	w := newScope(stored(t, r, manifest), testTime)
	w.runtime = &cluster{}
	w.recorded = many(inventory.InlineLimit + 10)
	w.report(waitingFor("a"))
	if err := r.flush(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	first := secretsIn(t, r)
	got := stored(t, r, manifest)
	if len(got.Status.Synced) != inventory.InlineLimit || len(first) != 1 || !cmp.Equal(first, got.Status.InventoryShards) {
		t.Fatalf("%d inline, Secrets %q, shards %q", len(got.Status.Synced), first, got.Status.InventoryShards)
	}
	for name, reader := range map[string]*Reconciler{"from the cache": r, "after a restart": {Client: r.Client, Reader: r.Reader}} {
		entries, err := reader.loadInventory(t.Context(), got)
		if diff := cmp.Diff(w.recorded, entries); diff != "" || err != nil {
			t.Errorf("%s: error %v, something was lost (-want +got):\n%s", name, err, diff)
		}
	}

	w.recorded = many(inventory.InlineLimit + 9)
	if err := r.flush(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	second := secretsIn(t, r)
	if got := stored(t, r, manifest); len(second) != 1 || second[0] == first[0] || !cmp.Equal(second, got.Status.InventoryShards) {
		t.Errorf("the old shard stays: Secrets %q, shards %q", second, got.Status.InventoryShards)
	}
}

// reached is a Fleet whose clusters all respond.
type reached struct{ *cluster }

func (r reached) Get(context.Context, Target) (Runtime, error) { return r.cluster, nil }
func (reached) Changed(context.Context, string, string)        {}
func (reached) Source() source.TypedSource[reconcile.Request]  { return nil }

func TestInventory_StopsOnUnreadableShard(t *testing.T) {
	const name = "sample.inventory.abc"
	manifest := newManifest(func(m *v1beta2.Manifest) {
		m.Status.Synced, m.Status.InventoryShards = toStatus([]inventory.Entry{entryOf(accountID)}), []string{name}
	})
	damaged := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: manifest.Namespace, Name: name}}
	for title, r := range map[string]*Reconciler{
		"it is missing": newReconciler(t, manifest.DeepCopy()),
		"it is damaged": newReconciler(t, manifest.DeepCopy(), damaged),
	} {
		t.Run(title, func(t *testing.T) {
			r.Clusters = reached{&cluster{}}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(manifest)}); err != nil {
				t.Fatal(err)
			}
			got := stored(t, r, manifest)
			ready := conditions.Find(got.Status.Conditions, v1beta2.ConditionReady)
			if ready == nil || ready.Reason != v1beta2.ReasonInventoryUnreadable || !strings.Contains(ready.Message, name) {
				t.Errorf("it is told as %+v", ready)
			}
			if len(got.Status.Synced) != 1 || !cmp.Equal(got.Status.InventoryShards, []string{name}) {
				t.Errorf("the record is now %v and %q", got.Status.Synced, got.Status.InventoryShards)
			}
		})
	}
}

func TestInventory_RejectsShardOfAnotherManifest(t *testing.T) {
	manifest, before := newManifest(), newManifest(func(m *v1beta2.Manifest) { m.UID = "uid-before" })
	r := newReconciler(t, manifest)
	if err := r.createShard(t.Context(), before, "sample.inventory.abc", []byte("data")); err != nil {
		t.Fatal(err)
	}
	if err := r.createShard(t.Context(), manifest, "sample.inventory.abc", []byte("data")); !apierrors.IsConflict(err) {
		t.Errorf("one that goes with its old owner is counted on: error %v", err)
	}
	if err := r.createShard(t.Context(), before, "sample.inventory.abc", []byte("data")); err != nil {
		t.Errorf("our own is not taken again after a crash: %v", err)
	}
}

func TestShardNames(t *testing.T) {
	long := newManifest(func(m *v1beta2.Manifest) { m.Name = strings.Repeat("abcdefg-.", 28) })
	name := shardName(long, "0123456789abcdef")
	if len(name) > 253 || strings.Contains(name, "-.inventory") || strings.Contains(name, "..inventory") || !strings.HasSuffix(name, ".inventory.0123456789abcdef") {
		t.Errorf("%d characters: %s", len(name), name)
	}
	if got := shardName(newManifest(), "abc"); got != "sample.inventory.abc" {
		t.Errorf("got %s", got)
	}
}

func TestFlush_WritesNothingWithoutAChange(t *testing.T) {
	w, _ := settledWork()
	w.report(w.healthy())
	w.manifest.Status.Synced = toStatus(w.recorded)
	r := newReconciler(t, w.manifest.DeepCopy())
	manifest := stored(t, r, w.manifest)
	again := newScope(manifest, metav1.Now())
	again.runtime, again.sources = w.runtime, w.sources
	again.recorded, again.stored = fromStatus(manifest.Status.Synced), fromStatus(manifest.Status.Synced)
	again.manifest.Status.Resolved = w.manifest.Status.Resolved
	again.report(again.healthy())
	if err := r.flush(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, r, manifest).ResourceVersion; got != manifest.ResourceVersion {
		t.Errorf("resourceVersion %s became %s", manifest.ResourceVersion, got)
	}
}

func TestFlush_HandlesAnotherWriter(t *testing.T) {
	begin := func(t *testing.T) (*Reconciler, *scope) {
		t.Helper()
		manifest := newManifest()
		r := newReconciler(t, manifest)
		w := newScope(stored(t, r, manifest), testTime)
		w.runtime = &cluster{}
		w.recorded = []inventory.Entry{entryOf(deploymentID)}
		w.report(waitingFor("a"))
		return r, w
	}
	t.Run("who changed the spec: what was done is recorded, for the spec that it was done for", func(t *testing.T) {
		r, w := begin(t)
		other := stored(t, r, w.manifest)
		other.Generation, other.Labels = other.Generation+1, map[string]string{"some": "label"}
		if err := r.Client.Update(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		if err := r.flush(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		got := stored(t, r, w.manifest)
		if len(got.Status.Synced) != 1 || got.Labels["some"] != "label" || got.Status.ObservedGeneration != w.generation {
			t.Errorf("status %+v, labels %v", got.Status, got.Labels)
		}
	})
	t.Run("who changed the status: theirs stands, and the pass begins anew", func(t *testing.T) {
		r, w := begin(t)
		other := stored(t, r, w.manifest)
		other.Status.State, other.Status.Synced = v1beta2.StateReady, toStatus([]inventory.Entry{entryOf(accountID)})
		if err := r.Client.Status().Update(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		if err := r.flush(t.Context(), w); !apierrors.IsConflict(err) {
			t.Errorf("error %v, want a conflict", err)
		}
		if got := stored(t, r, w.manifest); got.Status.Synced[0].Kind != accountID.Kind {
			t.Errorf("the other writer's inventory was lost: %v", got.Status.Synced)
		}
	})
	t.Run("who made it anew: it is another Manifest", func(t *testing.T) {
		r, w := begin(t)
		if err := r.Client.Delete(t.Context(), stored(t, r, w.manifest)); err != nil {
			t.Fatal(err)
		}
		gone := stored(t, r, w.manifest)
		gone.Finalizers = nil
		if err := r.Client.Update(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		anew := newManifest(func(m *v1beta2.Manifest) { m.UID = "uid-2" })
		if err := r.Client.Create(t.Context(), anew); err != nil {
			t.Fatal(err)
		}
		// an API server gives no resourceVersion twice, and refuses another UID besides
		anew.Labels = map[string]string{"made": "anew"}
		if err := r.Client.Update(t.Context(), anew); err != nil {
			t.Fatal(err)
		}
		if err := r.flush(t.Context(), w); err == nil {
			t.Error("the status of the old one was written to the new one")
		}
		if got := stored(t, r, anew); len(got.Status.Synced) != 0 {
			t.Errorf("the new one has the inventory of the old one: %v", got.Status.Synced)
		}
	})
}
