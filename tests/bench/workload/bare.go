package workload

import (
	"context"
	"errors"

	"github.com/kyma-project/lifecycle-manager/tests/bench/bare"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// bareRuntimes are what B0 has in each tier: one real API server, many simulated runtimes.
	bareReal, bareSimulated = 1, 40
	// bareModules is how many modules the real API server gets, so that a rate is told of some thousand calls.
	bareModules = 50
)

// bareLoop is B0: what a plain client reaches, by the same number of workers, with nothing else continuing. What it reaches when it also
// makes the necessary writes on the hub stands in B2, whose fleets have a hub.
func bareLoop(ctx context.Context, b *Bench) error {
	return errors.Join(b.bareOn(ctx, false, bareReal, bareModules), b.bareOn(ctx, true, bareSimulated, b.Modules))
}

func (b *Bench) bareOn(ctx context.Context, simulated bool, runtimes, modules int) (err error) {
	w, err := b.open(ctx, testbench.Options{Runtimes: runtimes, Simulated: simulated})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	which := "one real API server"
	if simulated {
		which = "simulated runtimes"
	}
	r := b.Result("B0", which)
	spec := bareSpec(w.Runtimes)
	steps := []struct {
		what, version string
		mode          bare.Mode
	}{
		{"create by server-side apply", version1, bare.Apply},
		{"apply without change", version1, bare.Apply},
		{"change by server-side apply", version2, bare.Apply},
		{"list metadata", version2, bare.List},
	}
	for _, step := range steps {
		spec.Mode, spec.Modules = step.mode, b.content(modules, step.version)
		outcome, err := bare.Run(ctx, spec)
		if err != nil {
			return err
		}
		b.Logf("B0: %s, %s: %.0f calls/s", which, step.what, outcome.Rate())
		r.Add(step.what, "calls/s", outcome.Rate())
		r.Add(step.what+", one call, p50", "ms", outcome.P50)
		r.Add(step.what+", client's CPU for each call", "ms", outcome.CPUPerCall())
	}
	return b.Done(r)
}

// content returns what modules install, as the manager would.
func (b *Bench) content(modules int, version string) [][]byte {
	content := make([][]byte, modules)
	for i := range content {
		content[i] = testbench.Module{Name: moduleName(i), Version: version, Objects: b.Objects}.YAML()
	}
	return content
}

func bareSpec(runtimes []*testbench.Runtime) bare.Spec {
	spec := bare.Spec{Mode: bare.Apply, Units: bareUnits, Workers: bareWorkers}
	for _, r := range runtimes {
		spec.Kubeconfigs = append(spec.Kubeconfigs, r.Bare)
	}
	return spec
}

// The shares of a fleet's spare runtimes: for the bare loop before and after the manager's Kymas, and for that of the necessary writes.
const (
	shareBefore = iota
	shareAfter
	shareNecessary
	shares
)

// spares returns a share of the spare runtimes.
func (f *Setup) spares(share int) []*testbench.Runtime {
	return f.Runtimes[f.k+share*f.spare : f.k+(share+1)*f.spare]
}

// bare runs the bare loop on a share of the fleet's spare runtimes.
func (f *Setup) bare(ctx context.Context, b *Bench, share int, version string) (bare.Outcome, error) {
	spec := bareSpec(f.spares(share))
	spec.Modules = b.content(b.Modules, version)
	return bare.Run(ctx, spec)
}
