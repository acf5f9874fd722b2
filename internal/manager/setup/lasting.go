package setup

import (
	"context"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// lastingPatience bounds the time to stop the runnables that outlive the controllers. Together with shutdown it is less than the 30 seconds
// that Kubernetes gives a pod, which leaves time to hand over the share of this replica.
const lastingPatience = 5 * time.Second

// lasting runs runnables that the controllers use, and stops them after the controllers. controller-runtime has no such group: it first
// stops everything that needs no leader election, and only then the controllers, which may write until then.
type lasting struct {
	ctx     context.Context //nolint:containedctx // of everything that was added
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newLasting() *lasting {
	ctx, cancel := context.WithCancel(context.Background())
	return &lasting{ctx: ctx, cancel: cancel}
}

// of returns a runnable that starts r with the manager, on every replica, and leaves it to the method end to stop it.
func (l *lasting) of(r manager.Runnable) manager.Runnable { return outliving{Runnable: r, lasting: l} }

// end stops everything that was started, and waits for it.
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

// NeedLeaderElection returns false: every replica runs it.
func (o outliving) NeedLeaderElection() bool { return false }

// endingLast is a manager that stops the lasting runnables after everything else.
type endingLast struct {
	ctrl.Manager
	lasting *lasting
}

// Start runs the manager until the context ends.
func (m endingLast) Start(ctx context.Context) error {
	defer m.lasting.end()
	return m.Manager.Start(ctx)
}
