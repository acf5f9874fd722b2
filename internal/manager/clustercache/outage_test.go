package clustercache

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestWatch_ResumesCutStream(t *testing.T) {
	cfg := realCluster(t)
	b, foreign := newBench(t, nil), stranger(t, cfg)
	r := b.mustGet(t, b.remote(t, "cut", cfg))
	owner := ownerNamed("cut")
	ns := newNamespace(t, foreign, "cut")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps}, runtimes.Interest{GroupVersionKind: secrets}, runtimes.Interest{GroupVersionKind: services})
	eventually(t, "all kinds are watched", func() bool { return r.streaming() == 3 })

	for round := range 3 {
		cut := r.newestConn()
		r.conn.closeSockets()
		o := newObject(configMaps, ns, "while-cut", owner) // made in the gap, or right after it
		if _, err := at(t, r, foreign, o).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		b.wantWake(t, owner, "an object was made while the stream was cut")
		eventually(t, "all streams are back", func() bool { return r.newestConn() != cut && r.streaming() == 3 })
		if n := r.conn.streams.sockets.count(); n != 1 {
			t.Errorf("round %d: %d connections, want one for all streams", round, n)
		}
		if err := at(t, r, foreign, o).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		b.wantWake(t, owner, "it was deleted")
	}
	if n := b.calls.count("GET /api/v1/configmaps"); n != 1 {
		t.Errorf("%d lists, want the first one only", n)
	}
}

func TestWatch_RecoversAfterAPIServerRestart(t *testing.T) {
	realCluster(t)
	env := &envtest.Environment{}
	env.ControlPlane.GetAPIServer().CertDir = t.TempDir()                    // or it would come back with another certificate authority
	env.ControlPlane.GetAPIServer().Configure().Set("request-timeout", "2s") // also how long it waits for our streams when it stops
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Stop() })
	b := newBench(t, nil)
	target := b.remote(t, "restart", cfg)
	r := b.mustGet(t, target)
	owner, late := ownerNamed("restart"), ownerNamed("late")
	ns := newNamespace(t, stranger(t, cfg), "restart")
	b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
	o := newObject(configMaps, ns, "survives", owner)
	own(t, r, o)

	if err := env.ControlPlane.APIServer.Stop(); err != nil {
		t.Fatal(err)
	}
	b.wantWake(t, owner, "the runtime is down")
	target.Owner = late
	_, err = b.Get(t.Context(), target)
	wantReason(t, err, v1beta2.ReasonRuntimeUnreachable)
	if live := r.Live(idOf(o)); live.Presence != inventory.Present {
		t.Errorf("Live = %+v, want what was known before", live)
	}
	if err := env.ControlPlane.APIServer.Start(); err != nil {
		t.Fatal(err)
	}
	seen := b.woken()
	eventuallyWithin(t, time.Minute, "both owners are enqueued", func() bool {
		seen = append(seen, b.woken()...)
		return slices.Contains(seen, owner) && slices.Contains(seen, late)
	})
	if again := b.mustGet(t, target); again != r {
		t.Error("another connection for the same Secret")
	}
	if err := at(t, r, stranger(t, cfg), o).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// An API server that has just started refuses requests for a while that it is about to allow, or does not respond to a watch. The kind's
	// life recovers from both within some minutes.
	t.Cleanup(func() {
		if t.Failed() {
			r.mu.RLock()
			defer r.mu.RUnlock()
			k := r.kinds[configMaps.GroupKind()]
			t.Logf("%d streams, %+v, problem %v, doubt %v, failed last: %v", r.streaming(), k.life, k.problem, k.doubt, k.failed)
		}
	})
	eventuallyWithin(t, 3*time.Minute, "the stream goes on", func() bool { return r.Live(idOf(o)).Presence == inventory.Absent })
}
