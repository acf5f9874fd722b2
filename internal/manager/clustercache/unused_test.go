package clustercache

import (
	"context"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// hasHealth reports whether the runtime of a world has a connection.
func (b *bench) kept() bool {
	b.Clusters.mu.Lock()
	defer b.Clusters.mu.Unlock()
	return b.runtimes[key{namespace: hubNamespace, name: "world"}] != nil
}

func TestClusters_ClosesUnusedConnection(t *testing.T) {
	owner := ownerNamed("a")
	for name, use := range map[string]func(t *testing.T, b *bench, w *memoryServer, r *Runtime){
		"it was asked for once": func(*testing.T, *bench, *memoryServer, *Runtime) {},
		"its last owner left": func(t *testing.T, b *bench, _ *memoryServer, r *Runtime) {
			b.trackAll(t, r, owner, runtimes.Interest{GroupVersionKind: configMaps})
			<-time.After(3 * time.Hour)
			if !b.kept() {
				t.Fatal("one that is tracked is closed")
			}
			r.Untrack(owner)
		},
		"it does not answer": func(_ *testing.T, b *bench, w *memoryServer, r *Runtime) {
			w.setDown(true)
			r.conn.openBreaker(context.DeadlineExceeded)
			_ = r.conn.admit(t.Context(), owner, b.patience) // asked once, and is turned away
		},
		"others have asked for it for a while": func(t *testing.T, b *bench, _ *memoryServer, r *Runtime) {
			for range 30 {
				<-time.After(2 * time.Minute)
				if b.find(key{namespace: hubNamespace, name: "world"}) != r {
					t.Fatal("one that is asked for is closed")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(configMapPath)
			inWorld(t, w, nil, func(t *testing.T, b *bench, r *Runtime) {
				use(t, b, w, r)
				<-time.After(40 * time.Minute)
				if b.kept() || r.ctx.Err() == nil {
					t.Error("the connection is kept")
				}
			})
		})
	}
}
