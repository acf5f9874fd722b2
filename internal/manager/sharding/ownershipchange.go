package sharding

import (
	"context"
	"slices"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// OwnershipChange holds the buckets that changed hands.
type OwnershipChange struct {
	// Gained are now owned by this replica, Lost by another one or none. No bucket is in both.
	Gained, Lost [Buckets]bool
}

// Either reports whether a bucket changed hands at all.
func (m *OwnershipChange) Either(bucket int) bool { return m.Gained[bucket] || m.Lost[bucket] }

// OwnershipChanges reports which buckets changed hands.
type OwnershipChanges interface {
	// Each calls do until the context ends, once for everything that moved meanwhile, beginning with what is ours already.
	Each(ctx context.Context, do func(OwnershipChange))
}

// Source makes a controller enqueue what belongs to buckets that changed hands: gained objects are reconciled, lost ones forgotten.
func Source(
	moves OwnershipChanges,
	enqueue func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], moved OwnershipChange),
) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go moves.Each(ctx, func(moved OwnershipChange) { enqueue(ctx, queue, moved) })
		return nil
	})
}

// watcher is one caller of Each.
type watcher struct {
	moved  OwnershipChange
	signal chan struct{}
}

// each implements OwnershipChanges.Each.
func (t *bucketOwnership) each(ctx context.Context, do func(OwnershipChange)) {
	w := &watcher{signal: make(chan struct{}, 1)}
	t.mu.Lock()
	t.watchers = append(t.watchers, w)
	for bucket, stage := range t.stages {
		w.moved.Gained[bucket] = stage == working
	}
	t.mu.Unlock()
	w.signal <- struct{}{}
	defer t.unwatch(w)
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.signal:
		}
		t.mu.Lock()
		moved := w.moved
		w.moved = OwnershipChange{}
		t.mu.Unlock()
		if moved != (OwnershipChange{}) {
			do(moved)
		}
	}
}

func (t *bucketOwnership) unwatch(w *watcher) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = slices.DeleteFunc(t.watchers, func(other *watcher) bool { return other == w })
}

// reportMovesLocked passes on what moved. The caller holds the lock.
func (t *bucketOwnership) reportMovesLocked() {
	if t.moved == (OwnershipChange{}) {
		return
	}
	for _, w := range t.watchers {
		for bucket := range Buckets {
			if t.moved.Either(bucket) {
				w.moved.Gained[bucket], w.moved.Lost[bucket] = t.moved.Gained[bucket], t.moved.Lost[bucket]
			}
		}
		select {
		case w.signal <- struct{}{}:
		default:
		}
	}
	t.moved = OwnershipChange{}
}
