package clustercache

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestIdle_MakesNoCalls(t *testing.T) {
	cfg := realCluster(t)
	b := newBench(t, nil)
	target := b.remote(t, "rest", cfg)
	r := b.mustGet(t, target)
	owner := ownerNamed("rest")
	kinds := []runtimes.Interest{
		{GroupVersionKind: configMaps},
		{GroupVersionKind: secrets},
		{GroupVersionKind: services},
		{GroupVersionKind: namespaces},
		{GroupVersionKind: definitions},
		{GroupVersionKind: deployments, Mode: runtimes.Workload},
	}
	b.trackAll(t, r, owner, kinds...)
	eventually(t, "all kinds are watched", func() bool { return r.streaming() == len(kinds) })
	if n := r.conn.streams.sockets.count(); n != 1 || r.conn.open() != 2 {
		t.Errorf("%d connections for streams and %d in all, want one for all streams and one for all calls", n, r.conn.open())
	}
	before := b.calls.all()
	if len(before) != 1+2*len(kinds) {
		t.Errorf("%d calls to get there, want one probe, and LIST and WATCH per kind: %q", len(before), before)
	}
	for range 10 {
		again := b.mustGet(t, target)
		again.Track(owner, kinds)
		again.Live(inventory.ID{Kind: "ConfigMap", Namespace: "a", Name: "b"})
		again.Report(nil)
		<-time.After(100 * time.Millisecond)
	}
	if again := b.mustGet(t, target); again != r {
		t.Error("another connection for the same Secret")
	}
	if after := b.calls.all(); len(after) != len(before) {
		t.Errorf("calls at rest: %q", after[len(before):])
	}
	b.wantQuiet(t, "nothing happened")
}

func TestTrack_SecondOwnerMakesNoCalls(t *testing.T) {
	cfg := realCluster(t)
	b := newBench(t, nil)
	r := b.mustGet(t, b.remote(t, "second", cfg))
	b.trackAll(t, r, ownerNamed("first"), runtimes.Interest{GroupVersionKind: configMaps}, runtimes.Interest{GroupVersionKind: secrets})
	eventually(t, "both kinds are watched", func() bool { return len(b.calls.all()) == 5 })
	second := ownerNamed("second")
	r.Track(second, []runtimes.Interest{{GroupVersionKind: secrets}})
	if synced, problem := r.Synced(second); !synced || problem != nil {
		t.Fatalf("Synced = %v, %v", synced, problem)
	}
	b.wantQuiet(t, "the kind was known")
	r.Untrack(ownerNamed("first"))
	eventually(t, "the other kind is forgotten", func() bool {
		return r.Live(inventory.ID{Kind: "ConfigMap", Name: "x"}).Presence == inventory.Unknown
	})
	if live := r.Live(inventory.ID{Kind: "Secret", Name: "x"}); live.Presence != inventory.Absent {
		t.Fatalf("Live = %+v, want absent", live)
	}
	if n := len(b.calls.all()); n != 5 {
		t.Fatalf("%d calls, want 5", n)
	}
}

func TestAudit_ListsUnwatchedKinds(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, func(c *Config) { c.MaxStreams, c.AuditInterval = 2, 3*time.Second }), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "audit", cfg))
	owner := ownerNamed("audit")
	ns := newNamespace(t, foreign, "audit")
	accounts := schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
	for _, name := range []string{"a", "b", "c"} { // more Secrets than Services, and no ServiceAccount
		o := newObject(secrets, ns, name, owner)
		if _, err := at(t, r, foreign, o).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	b.trackAll(t, r, owner,
		runtimes.Interest{GroupVersionKind: services}, runtimes.Interest{GroupVersionKind: secrets}, runtimes.Interest{GroupVersionKind: accounts},
		runtimes.Interest{GroupVersionKind: deployments, Mode: runtimes.Workload})
	eventually(t, "the two that deserve it are watched", func() bool {
		return b.calls.count("WATCH /apis/apps/v1/deployments") == 1 && b.calls.count("WATCH /api/v1/secrets") == 1
	})
	o := newObject(accounts, ns, "audited", owner)
	own(t, r, o)
	if err := at(t, r, foreign, o).Delete(t.Context(), "audited", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "the audit found that it is gone")
	if live := r.Live(idOf(o)); live.Presence != inventory.Absent {
		t.Fatalf("Live = %+v, want absent", live)
	}
	if n := b.calls.count("WATCH /api/v1/serviceaccounts") + b.calls.count("WATCH /api/v1/services"); n != 0 {
		t.Errorf("%d streams for kinds that have none", n)
	}
}

func TestDeletionCheck_FollowsDeleteWithoutStream(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, func(c *Config) { c.MaxStreams = 1 }), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "leaving", cfg))
	owner := ownerNamed("leaving")
	ns := newNamespace(t, foreign, "leaving")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps}, runtimes.Interest{GroupVersionKind: deployments, Mode: runtimes.Workload})
	o := newObject(configMaps, ns, "held", owner)
	o.SetFinalizers([]string{"test/hold"})
	own(t, r, o)
	if err := at(t, r, r.Cluster().Dynamic, o).Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "it is terminating")
	_, err := at(t, r, foreign, o).Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "it is gone")
	if live := r.Live(idOf(o)); live.Presence != inventory.Absent {
		t.Fatalf("Live = %+v, want absent", live)
	}
}
