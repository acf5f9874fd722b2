package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// workers are the Kymas that get a module with a Deployment, whose end must be seen on the hub.
	workers = 40
	// workerModule is a module with a Deployment, which no Kyma has at first.
	workerModule = "worker"
)

// breakWorkloads returns some Kymas a module with a Deployment, lets it stop running, and run again, and takes the times until their status
// on the hub says so.
func (f *Setup) breakWorkloads(ctx context.Context, r *report.Result) error {
	names := spread(f.Names, workers)
	if err := f.setModule(ctx, names, workerModule, true); err != nil {
		return err
	}
	var seen, healed meter.Latencies
	err := paced(ctx, driftPace, names, func(ctx context.Context, name string) error {
		runtime := f.Runtimes[slices.Index(f.Names, name)].Sim
		for _, runs := range []bool{false, true} {
			took, err := f.measureStatus(ctx, name, runs, func() error {
				return runtime.Mutate(deployments, moduleNamespace, workerModule, availability(runs))
			})
			if err != nil {
				return err
			}
			if runs {
				healed.Add(took)
			} else {
				seen.Add(took)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	tell(r, "a Deployment that stops running is seen in the Kyma's status", &seen, report.AtMost(2000))
	tell(r, "one that runs again is", &healed, report.AtMost(2000))
	return f.setModule(ctx, names, workerModule, false)
}

// measureStatus changes something and takes the time until the Kyma's status says whether everything runs.
func (f *Setup) measureStatus(ctx context.Context, name string, runs bool, change func() error) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, landing)
	defer cancel()
	wait := f.Kymas.When([]string{name}, func(k *v1beta2.Kyma) bool { return testbench.Ready(k) == runs })
	begin := time.Now()
	if err := change(); err != nil {
		wait.Forget()
		return 0, err
	}
	at, err := wait.Done(ctx)
	if err != nil {
		return 0, fmt.Errorf("no one sees that a Deployment runs (%t): %w", runs, err)
	}
	return at[name].Sub(begin), nil
}

// availability makes a Deployment run or not, as its status tells.
func availability(runs bool) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		status, reason, replicas := "False", "MinimumReplicasUnavailable", int64(0)
		if runs {
			status, reason, replicas = "True", "MinimumReplicasAvailable", 1
		}
		o.Object["status"] = map[string]any{
			"observedGeneration": o.GetGeneration(),
			"replicas":           int64(1), "updatedReplicas": int64(1), "readyReplicas": replicas, "availableReplicas": replicas,
			"unavailableReplicas": 1 - replicas,
			"conditions":          []any{map[string]any{"type": "Available", "status": status, "reason": reason}},
		}
	}
}
