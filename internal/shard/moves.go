package shard

import (
	"context"
	"slices"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Moved are buckets that changed hands.
type Moved struct {
	// Gained are ours now, Lost are somebody else's. None is both.
	Gained, Lost [Buckets]bool
}

// Either says that a bucket changed hands at all.
func (m *Moved) Either(bucket int) bool { return m.Gained[bucket] || m.Lost[bucket] }

// Moves tells which buckets changed hands.
type Moves interface {
	// Each calls do until the context ends, once for everything that moved meanwhile, beginning with what is ours already.
	Each(ctx context.Context, do func(Moved))
}

// Source has a controller enqueue what belongs to buckets that changed hands: what came is looked at, what went is let go of.
func Source(
	moves Moves, enqueue func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], moved Moved),
) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go moves.Each(ctx, func(moved Moved) { enqueue(ctx, queue, moved) })
		return nil
	})
}

// watcher is one caller of Each.
type watcher struct {
	moved  Moved
	signal chan struct{}
}

// each is Moves.Each.
func (t *tenure) each(ctx context.Context, do func(Moved)) {
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
		w.moved = Moved{}
		t.mu.Unlock()
		if moved != (Moved{}) {
			do(moved)
		}
	}
}

func (t *tenure) unwatch(w *watcher) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = slices.DeleteFunc(t.watchers, func(other *watcher) bool { return other == w })
}

// tell passes on what moved. The caller holds the lock.
func (t *tenure) tell() {
	if t.moved == (Moved{}) {
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
	t.moved = Moved{}
}
