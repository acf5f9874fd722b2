package workload

import (
	"context"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// cost is what the manager had spent when something began.
type cost struct {
	world    *testbench.Bench
	usage    meter.Usage
	calls    testbench.Calls
	revision int64
	wire     traffic
}

// traffic is what simulated runtimes had to do with.
type traffic struct {
	// revisions are writes that changed something.
	revisions int64
	// in and out are bytes on the wire, TLS included, as the runtimes see them.
	in, out int64
}

func trafficOf(w *testbench.Bench) (t traffic) {
	if w.Sim == nil {
		return t
	}
	counts := w.Sim.Counts()
	return traffic{revisions: int64(counts.Revisions), in: counts.BytesIn, out: counts.BytesOut}
}

// spending is what it spent until something ended.
type spending struct {
	took  time.Duration
	usage meter.Usage
	calls testbench.Calls
	// revisions are writes of all clients that changed the hub.
	revisions int64
	wire      traffic
	simulated bool
}

// tell adds what the stores and the wire had of it, for each of n Kymas. Real runtimes do not count that.
func (s *spending) tell(r *report.Result, n float64, each string) {
	r.Add("revisions of the hub's store, by all writers"+each, "", float64(s.revisions)/n)
	if !s.simulated {
		return
	}
	r.Add("revisions of runtimes' stores"+each, "", float64(s.wire.revisions)/n)
	r.Add("bytes to runtimes, TLS included"+each, "KiB", kib(s.wire.in)/n)
	r.Add("bytes from runtimes, TLS included"+each, "KiB", kib(s.wire.out)/n)
}

func begin(ctx context.Context, w *testbench.Bench) (*cost, error) {
	c := &cost{world: w, wire: trafficOf(w)}
	var err error
	if c.calls, err = w.Calls(); err != nil {
		return nil, err
	}
	if c.revision, err = meter.Revision(ctx, w.Hub.Config); err != nil {
		return nil, err
	}
	c.usage, err = meter.Of(w.Manager.PID())
	return c, err
}

func (c *cost) end(ctx context.Context) (spending, error) {
	now, err := begin(ctx, c.world)
	if err != nil {
		return spending{}, err
	}
	wire := traffic{now.wire.revisions - c.wire.revisions, now.wire.in - c.wire.in, now.wire.out - c.wire.out}
	return spending{
		took: now.usage.At.Sub(c.usage.At), usage: now.usage.Since(c.usage),
		calls: now.calls.Since(c.calls), revisions: now.revision - c.revision, wire: wire,
		simulated: c.world.Sim != nil,
	}, nil
}

// reads returns the calls that change nothing, the beginnings of watches included.
func reads(c calls.Counts) calls.Counts {
	return c.Where(func(call calls.Call) bool { return !call.Write() })
}

// events returns the writes of events, which Writes leaves out.
func events(c calls.Counts) calls.Counts {
	return c.Where(func(call calls.Call) bool {
		return call.Write() && (call.Resource == "events" || call.Resource == "events.events.k8s.io")
	})
}

// moduleWrites returns those that a module costs: not what the hub keeps in a runtime for itself.
func moduleWrites(c calls.Counts) float64 {
	return float64(c.Writes().Where(func(call calls.Call) bool {
		return !strings.Contains(call.Resource, "kyma-project.io") && !strings.HasPrefix(call.Resource, "customresourcedefinitions") &&
			!strings.HasPrefix(call.Resource, "namespaces")
	}).Total())
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func kib(bytes int64) float64 { return float64(bytes) / (1 << 10) }
