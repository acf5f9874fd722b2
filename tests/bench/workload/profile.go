package workload

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

// profiled is the time of one processor profile. Several short ones tell more than a long one when a workload has phases.
const profiled = 4 * time.Second

// profiledRest is that of one at rest: a sample is taken for each 10 ms of work, of which there is little.
const profiledRest = 2 * time.Minute

// profile takes processor profiles of the manager (with several replicas, of the first) and of the hub's API server, one after the other,
// until the function that it returns is called, which adds one of the manager's memory: what lives then, and what was allocated until then.
// It does nothing when no one wants any.
func (b *Bench) profile(ctx context.Context, w *testbench.Bench, name string) (end func() error) {
	if b.Profiles == "" {
		return func() error { return nil }
	}
	over := make(chan struct{})
	done := make(chan error, 2)
	path := func(of string, i int) string {
		return filepath.Join(b.Profiles, fmt.Sprintf("%s-%s-%d.pb.gz", name, of, i))
	}
	go func() {
		done <- repeat(over, func(i int) error {
			return meter.SaveCPU(ctx, w.Manager.Profiles, path("manager", i), profiled)
		})
	}()
	go func() {
		clients, err := kubernetes.NewForConfig(w.Hub.Config)
		if err != nil {
			done <- err
			return
		}
		done <- repeat(over, func(i int) error {
			return meter.SaveServerCPU(ctx, clients.Discovery().RESTClient(), path("hub", i), profiled)
		})
	}()
	return func() error {
		close(over)
		if err := errors.Join(<-done, <-done); err != nil {
			return err
		}
		return meter.SaveHeap(ctx, w.Manager.Profiles, filepath.Join(b.Profiles, name+"-manager-heap.pb.gz"))
	}
}

// profileRest takes one long profile of a manager that has nothing to do, which short ones would keep busy.
func (b *Bench) profileRest(ctx context.Context, f *Setup) error {
	if b.Profiles == "" {
		return nil
	}
	path := filepath.Join(b.Profiles, fmt.Sprintf("B3-%d-manager.pb.gz", f.k))
	return meter.SaveCPU(ctx, f.Manager.Profiles, path, profiledRest)
}

// repeat calls until something has ended. The last call is waited for: a program refuses a profile while it takes another.
func repeat(over <-chan struct{}, take func(i int) error) error {
	for i := 0; ; i++ {
		if err := take(i); err != nil {
			return err
		}
		select {
		case <-over:
			return nil
		default:
		}
	}
}
