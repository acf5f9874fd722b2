package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/bare"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

// Necessary is what the loop of the necessary writes came to, in so many Kymas.
type Necessary struct {
	kymas         int
	install, bump bare.Outcome
}

// necessary runs the loop of the necessary writes on its share of the spare runtimes, with a Kyma for each. Their creation and their end
// are not in its time, and the hub is as before then. In these runtimes the objects stay.
func (f *Setup) necessary(ctx context.Context, b *Bench) (n Necessary, err error) {
	spec := bare.Necessary{
		Units: bareUnits, Workers: bareWorkers, Modules: b.necessaryModules(b.Modules, version1), Bumped: b.necessaryModules(f.rolled, version2),
	}
	if spec.Hub, err = f.Hub.AccessKubeconfig(); err != nil {
		return n, err
	}
	for i, r := range f.spares(shareNecessary) {
		kyma := testbench.NewKyma(fmt.Sprintf("spare-%04d", i), f.Modules...)
		spec.Kymas, spec.Kubeconfigs = append(spec.Kymas, kyma.Name), append(spec.Kubeconfigs, r.Bare)
		if _, err := f.CreateKyma(ctx, kyma); err != nil {
			return n, err
		}
	}
	n.kymas = len(spec.Kymas)
	n.install, n.bump, err = bare.RunNecessary(ctx, spec)
	return n, errors.Join(err, f.ForgetKymas(ctx, spec.Kymas...))
}

// necessaryModules returns the first of the modules in a version.
func (b *Bench) necessaryModules(count int, version string) []bare.Module {
	modules := make([]bare.Module, count)
	for i := range modules {
		m := testbench.Module{Name: moduleName(i), Version: version, Objects: b.Objects}
		modules[i] = bare.Module{Name: m.Name, Component: m.Component(), Version: version, Content: m.YAML()}
	}
	return modules
}

// forAsMany returns how long a step of the loop would take for k Kymas: each takes the same.
func (n Necessary) forAsMany(step bare.Outcome, k int) time.Duration {
	return time.Duration(float64(step.Took) * float64(k) / float64(n.kymas))
}

// tellInstall compares the loop with a manager that brought k Kymas in. Both of the last two figures say the same, one of rates and the
// other of times: the second is what a user waits for.
func (n Necessary) tellInstall(r *report.Result, k int, took time.Duration) {
	need := n.forAsMany(n.install, k)
	r.Add("necessary writes", "objects/s", n.install.Rate())
	r.Add("necessary writes: CPU for each object", "ms", n.install.CPUPerCall())
	r.Add("necessary writes: to the hub, for each Kyma", "writes", float64(n.install.HubWrites)/float64(n.kymas))
	r.Add("necessary writes: all done after, for as many Kymas", "s", need.Seconds())
	r.Add("share of the necessary writes' rate", "", need.Seconds()/took.Seconds(), report.AtLeast(0.8))
	r.Add(multiple, "", took.Seconds()/need.Seconds(), report.AtMost(1.4))
}

// multiple is told of B2 and of B4.
const multiple = "time, as a multiple of the necessary writes'"

// tellBump compares the loop with a manager that brought a new version to k Kymas.
func (n Necessary) tellBump(r *report.Result, k int, took time.Duration) {
	need := n.forAsMany(n.bump, k)
	r.Add("the necessary writes would need", "s", need.Seconds())
	r.Add(multiple, "", took.Seconds()/need.Seconds(), report.AtMost(1.5))
}

// seconds is the inverse of Duration.Seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
