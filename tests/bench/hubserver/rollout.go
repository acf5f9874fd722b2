package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const module = "lantern"

// rollOut gives every runtime a Kyma with the module in version 1.0.0, and the module a rollout. Version 1.1.0 is there, and no channel
// offers it.
func rollOut(ctx context.Context, bench *testbench.Bench, runtimes int) error {
	for _, version := range []string{"1.0.0", "1.1.0"} {
		offered := testbench.Module{Name: module, Version: version, Objects: 3, Deployment: true, RollbackTo: ">=1.0.0"}
		if err := bench.Offer(ctx, offered); err != nil {
			return err
		}
	}
	if err := bench.Point(ctx, module, "1.0.0", v1beta2.DefaultChannel); err != nil {
		return err
	}
	for _, runtime := range bench.Sim.All() {
		runtime.ReadyAfter(300 * time.Millisecond) // a wave is seen while it is under way
	}
	if err := bench.GiveAccess(ctx, 0, runtimes); err != nil {
		return err
	}
	batch, err := bench.CreateKymas(ctx, 0, runtimes, module)
	if err != nil {
		return err
	}
	if _, err := bench.StartManager(ctx, testbench.ManagerOptions{}); err != nil {
		return err
	}
	if _, err := bench.Kymas.When(batch.Names, testbench.Ready).Done(ctx); err != nil {
		return fmt.Errorf("not every Kyma became Ready: %w", err)
	}
	return bench.Plan(ctx, module, v1beta2.ModuleRolloutSpec{
		Waves: []v1beta2.RolloutWave{
			{Name: "pilot", Share: "5%"},
			{Name: "early", Share: "50%", Approval: true, MaxConcurrent: 2},
			{Name: "rest"},
		},
		ProgressDeadline: metav1.Duration{Duration: 10 * time.Minute},
	})
}
