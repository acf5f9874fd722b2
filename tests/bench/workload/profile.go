package workload

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
)

// profiled is the time of one processor profile. Several short ones tell more than a long one when a workload has phases.
const profiled = 4 * time.Second

// profile takes processor profiles of the manager and of the hub's API server, one after the other, until the function that it returns is
// called. It does nothing when nobody wants any.
func (b *Bench) profile(ctx context.Context, f *Fleet, name string) (end func() error) {
	if b.Profiles == "" {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 2)
	path := func(of string, i int) string {
		return filepath.Join(b.Profiles, fmt.Sprintf("%s-%d-%s-%d.pb.gz", name, f.k, of, i))
	}
	go func() {
		done <- repeat(ctx, func(ctx context.Context, i int) error {
			return meter.SaveCPU(ctx, f.Manager.Profiles, path("manager", i), profiled)
		})
	}()
	go func() {
		clients, err := kubernetes.NewForConfig(f.Hub.Config)
		if err != nil {
			done <- err
			return
		}
		done <- repeat(ctx, func(ctx context.Context, i int) error {
			return meter.SaveServerCPU(ctx, clients.Discovery().RESTClient(), path("hub", i), profiled)
		})
	}()
	return func() error {
		cancel()
		if err := <-done; err != nil {
			return err
		}
		return <-done
	}
}

// repeat calls until the context ends, which is no error.
func repeat(ctx context.Context, take func(ctx context.Context, i int) error) error {
	for i := 0; ctx.Err() == nil; i++ {
		if err := take(ctx, i); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
