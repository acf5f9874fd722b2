package clustercache

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// hear collects the requests in a role's queue.
func hear(t *testing.T, f *Clusters, role Role) func() []types.NamespacedName {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	if err := f.Source(role).Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(queue.ShutDown)
	return func() []types.NamespacedName {
		var heard []types.NamespacedName
		for queue.Len() > 0 {
			request, _ := queue.Get()
			heard = append(heard, request.NamespacedName)
			queue.Done(request)
		}
		return heard
	}
}

func TestRole_SeparatesOwners(t *testing.T) {
	name := types.NamespacedName{Namespace: "ns", Name: "kyma"}
	for role, want := range map[Role]string{Manifests: "ns", Kymas: "kyma|ns", Catalogs: "catalog|ns", Requirements: "requirement|ns"} {
		owner := role.Owner(name)
		if owner.Namespace != want {
			t.Errorf("%q: namespace %q, want %q", role, owner.Namespace, want)
		}
		if gotRole, gotName := roleOf(owner); gotRole != role || gotName != name {
			t.Errorf("%q: taken apart to %q and %s", role, gotRole, gotName)
		}
	}
}

func TestCopies_EnqueueOnlyTheirRole(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	heard := hear(t, b.Clusters, Kymas)
	r := b.mustGet(t, b.remote(t, "copies", cfg))
	owner := types.NamespacedName{Namespace: hubNamespace, Name: "copies"}
	ns := newNamespace(t, foreign, "copies")
	r.Track(Kymas.Owner(owner), []runtimes.Interest{{GroupVersionKind: configMaps, Mode: runtimes.Copy}})
	wantHeard := func(why string) {
		t.Helper()
		eventually(t, why, func() bool { return cmp.Equal(heard(), []types.NamespacedName{owner}) })
	}
	wantHeard("its kinds are known")

	o := newObject(configMaps, ns, "one", types.NamespacedName{})
	o.SetAnnotations(nil)
	id := idOf(o)
	if stamp, known := r.ObjectVersion(id); stamp != "" || !known {
		t.Fatalf("stamp %q of what does not exist, known %t", stamp, known)
	}
	made := own(t, r, o)
	first, known := r.ObjectVersion(id)
	if want := string(made.GetUID()) + "/" + made.GetResourceVersion(); first != want || !known {
		t.Fatalf("stamp %q, want %q", first, want)
	}
	b.wantQuiet(t, "no one tracks it as a Manifest")
	if ids, synced := r.Copies(configMaps.GroupKind()); !synced || !slices.Contains(ids, inventory.ID{Kind: "ConfigMap", Namespace: ns, Name: "one"}) {
		t.Errorf("copies %v, synced %t", ids, synced)
	}
	heard()

	if _, err := at(t, r, foreign, o).Patch(t.Context(), "one", types.MergePatchType, []byte(`{"data":{"theirs":"1"}}`),
		metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	wantHeard("a field that is not ours was added")
	if stamp, _ := r.ObjectVersion(id); stamp == first {
		t.Error("the stamp did not move")
	}
	if err := at(t, r, foreign, o).Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantHeard("it is gone")
	b.wantQuiet(t, "Manifests have nothing to do with it")
}

func TestTrack_OnlyReadsOneObject(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "only", cfg))
	owner, ns := ownerNamed("only"), newNamespace(t, foreign, "only")
	wanted, other := newObject(configMaps, ns, "default", owner), newObject(configMaps, ns, "other", owner)
	for _, o := range []inventory.ID{idOf(wanted), idOf(other)} {
		made := newObject(configMaps, o.Namespace, o.Name, owner)
		made.SetLabels(nil)
		if _, err := at(t, r, foreign, made).Create(t.Context(), made, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	only := runtimes.Interest{
		GroupVersionKind: configMaps, Mode: runtimes.ModuleCR, Keep: true, Only: types.NamespacedName{Namespace: ns, Name: "default"},
	}
	b.trackAll(t, r, owner, only)
	if _, ok := r.Object(idOf(wanted)); !ok {
		t.Error("the one that matters is not there")
	}
	if _, ok := r.Object(idOf(other)); ok {
		t.Error("another one was read")
	}
	strangers := at(t, r, foreign, other)
	if _, err := strangers.Patch(t.Context(), "other", types.MergePatchType, []byte(`{"data":{"a":"1"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	b.wantQuiet(t, "it is not the one")
	if _, err := strangers.Patch(t.Context(), "default", types.MergePatchType, []byte(`{"data":{"a":"1"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "it is the one")
	if n := b.calls.count("WATCH /api/v1/namespaces/" + ns + "/configmaps"); n != 1 {
		t.Errorf("%d streams of it: %q", n, b.calls.all())
	}
}

func TestGet_RefusesAnotherCluster(t *testing.T) {
	cfg := realCluster(t)
	pinned := ""
	b := newBench(t, func(c *Config) { c.Pinned = func(string, string) string { return pinned } })
	target := b.remote(t, "identity", cfg)
	r := b.mustGet(t, target)
	eventually(t, "its identity", func() bool { return r.ID() != "" })
	pinned = r.ID()
	b.mustGet(t, target)
	pinned = "another"
	_, err := b.Get(t.Context(), target)
	problem, ok := errors.AsType[*runtimes.Problem](err)
	if !ok || problem.Reason != v1beta2.ReasonRuntimeReplaced {
		t.Fatalf("error %v", err)
	}
	if n := b.calls.count("GET /api/v1/namespaces/kube-system"); n != 1 {
		t.Errorf("it was asked %d times who it is", n)
	}
}

func TestUntrack_ToleratesDiscardedConnection(t *testing.T) {
	s := newStub(t)
	b := newBench(t, nil)
	target := b.remote(t, "dropped", s.config())
	r := b.mustGet(t, target)
	one, other := ownerNamed("one"), ownerNamed("other")
	r.Track(one, []runtimes.Interest{{GroupVersionKind: configMaps}})
	r.Track(other, []runtimes.Interest{{GroupVersionKind: secrets}})
	b.secrets.remove("access-dropped")
	b.InvalidateAccess(hubNamespace, "dropped")
	r.Untrack(one)
	if ids, synced := r.Copies(configMaps.GroupKind()); len(ids) > 0 || synced {
		t.Errorf("%v is known of a connection that is closed", ids)
	}
}
