package setup

import (
	"context"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// lastingPatience bounds how long the end of what outlives the controllers may take. With shutdown it stays below the 30 seconds that
// Kubernetes gives a pod, so that there is time left to hand the share of this replica on.
const lastingPatience = 5 * time.Second

// lasting runs what the controllers use, and ends it after them. controller-runtime has no such group: what needs no leader election it
// ends first, and the controllers, which may have written until then, only when all of that has ended.
type lasting struct {
	ctx     context.Context //nolint:containedctx // of everything that was added
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newLasting() *lasting {
	ctx, cancel := context.WithCancel(context.Background())
	return &lasting{ctx: ctx, cancel: cancel}
}

// of returns a runnable that starts r with the manager, on every replica, and leaves it to end to end it.
func (l *lasting) of(r manager.Runnable) manager.Runnable { return outliving{Runnable: r, lasting: l} }

// end ends everything that was started, and waits for it.
func (l *lasting) end() {
	l.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.running.Wait()
	}()
	patience := time.NewTimer(lastingPatience)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	}
}

// outliving is a runnable that continues when the manager's context ends.
type outliving struct {
	manager.Runnable
	lasting *lasting
}

// Start returns at the end of ctx, or with the error of a runnable that fails before that.
func (o outliving) Start(ctx context.Context) error {
	failed := make(chan error, 1)
	o.lasting.running.Go(func() { failed <- o.Runnable.Start(o.lasting.ctx) })
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// NeedLeaderElection says no: every replica has it.
func (o outliving) NeedLeaderElection() bool { return false }

// endingLast is a manager that ends what lasts when it has ended everything else.
type endingLast struct {
	ctrl.Manager
	lasting *lasting
}

// Start runs the manager until the context ends.
func (m endingLast) Start(ctx context.Context) error {
	defer m.lasting.end()
	return m.Manager.Start(ctx)
}
