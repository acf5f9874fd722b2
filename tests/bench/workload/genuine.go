package workload

import (
	"context"
	"errors"

	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// genuineKymas have a real API server each, and three more are for the bare loops: as many as two cores bear.
	genuineKymas, genuineSpare = 3, 1
	// genuineModules make up for the few Kymas: there are as many objects for each write to the hub as in large fleets.
	genuineModules = 25
)

// genuine is B2 and B4 with real API servers. A simulated runtime takes an object for a fraction of what a real one spends on it, so that
// the hub and the manager look slow beside it; here everything costs what it costs in clusters.
func genuine(ctx context.Context, b *Bench) error {
	o := *b
	o.Modules, o.tier, o.fleet = genuineModules, ", real API servers", nil
	w, err := o.open(ctx, testbench.Options{Runtimes: genuineKymas + shares*genuineSpare})
	if err != nil {
		return err
	}
	f, err := o.race(ctx, &Setup{Bench: w, spare: genuineSpare, k: genuineKymas, rolled: genuineModules})
	if err != nil {
		return err
	}
	return errors.Join(rollout(ctx, &o, f), f.Close())
}
