package testbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
)

// StartReplicas starts managers that share the Kymas, each with a store of its own, and returns when all have an even share. The first
// one is the World's Manager; all end with the World.
func (w *Bench) StartReplicas(ctx context.Context, count int, o ManagerOptions) ([]*Manager, error) {
	o.Flags = append([]string{"--leader-elect"}, o.Flags...)
	var replicas []*Manager
	for i := range count {
		m, err := w.launchManager(ctx, o, fmt.Sprintf("%s-%d", w.contentDir(), i))
		if err != nil {
			return nil, err
		}
		w.atEnd(m.Kill)
		replicas = append(replicas, m)
	}
	w.Manager = replicas[0]
	for _, m := range replicas {
		if err := m.AwaitReady(ctx); err != nil {
			return nil, err
		}
	}
	return replicas, awaitShares(ctx, replicas)
}

// awaitShares waits until all buckets are worked on, in even shares.
func awaitShares(ctx context.Context, replicas []*Manager) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		uneven := uneven(ctx, replicas)
		if uneven == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the replicas do not share the work: %w", errors.Join(uneven, ctx.Err()))
		case <-ticker.C:
		}
	}
}

func uneven(ctx context.Context, replicas []*Manager) error {
	sum, least := 0, sharding.Buckets/len(replicas)
	for i, m := range replicas {
		said, err := meter.Scrape(ctx, m.Metrics+"/metrics")
		if err != nil {
			return err
		}
		owned := int(said.Sum("lifecycle_mgr_buckets"))
		if owned < least || owned > least+1 {
			return fmt.Errorf("replica %d has %d of %d buckets", i, owned, sharding.Buckets)
		}
		sum += owned
	}
	if sum != sharding.Buckets {
		return fmt.Errorf("%d of %d buckets are worked on", sum, sharding.Buckets)
	}
	return nil
}
