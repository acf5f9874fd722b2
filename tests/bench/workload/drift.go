package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/simruntime"
)

const (
	// drifted objects are deleted or changed, one every driftPace: for a fleet of 1,000 Kymas with 100 objects each 0.24 % a minute.
	drifted   = 240
	driftPace = 250 * time.Millisecond
	// moduleNamespace is where modules install.
	moduleNamespace = "default"
	// repairPoll is how often it is looked whether an object is whole again; times are as exact as that.
	repairPoll = 2 * time.Millisecond
	// repair bounds the waiting for that.
	repair = 2 * time.Minute
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// drift is B6: in runtimes, a user deletes objects of modules and changes others, and Deployments stop running.
func drift(ctx context.Context, b *Bench, f *Setup) error {
	r := b.Result("B6", b.Case(f.Size()))
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	cost, err := begin(ctx, f.Bench)
	if err != nil {
		return err
	}
	deleted, changed, err := f.damage(ctx, b)
	if err != nil {
		return err
	}
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	spent, err := cost.end(ctx)
	if err != nil {
		return err
	}
	n := float64(deleted.Count() + changed.Count())
	tell(r, "a deleted object is back", deleted, report.AtMost(5000))
	tell(r, "a changed object is as it was", changed, report.AtMost(5000))
	r.Add("writes to the runtime for each", "writes", float64(spent.calls.Runtimes.Writes().Total())/n)
	r.Add("writes to the hub for each", "writes", float64(spent.calls.Hub.Writes().Total())/n)
	r.Add("manager's CPU for each", "ms", spent.usage.CPU.Seconds()*1000/n)
	if err := f.breakWorkloads(ctx, r); err != nil {
		return err
	}
	return b.Done(r)
}

// tell adds how many times there are, and what they are.
func tell(r *report.Result, what string, took *meter.Latencies, bound report.Bound) {
	sum := took.Summary()
	r.Add(what+": times", "", float64(sum.Count))
	r.Add(what+", p50", "ms", meter.Milliseconds(sum.P50))
	r.Add(what+", p99", "ms", meter.Milliseconds(sum.P99), bound)
}

// damage deletes and changes objects, no object twice, and takes the times until they are whole again.
func (f *Setup) damage(ctx context.Context, b *Bench) (deleted, changed *meter.Latencies, err error) {
	deleted, changed = &meter.Latencies{}, &meter.Latencies{}
	targets := f.targets(b, drifted)
	err = paced(ctx, driftPace, slices.Sorted(maps.Keys(targets)), func(ctx context.Context, key string) error {
		t := targets[key]
		into, act := changed, f.change
		if t.delete {
			into, act = deleted, f.delete
		}
		took, err := act(ctx, t.runtime, t.name)
		into.Add(took)
		return err
	})
	return deleted, changed, err
}

// target is an object that is damaged.
type target struct {
	runtime *simruntime.Runtime
	name    string
	delete  bool
}

// targets chooses n objects or all that there are: of every Kyma one before any has two, of modules in turn.
func (f *Setup) targets(b *Bench, n int) map[string]target {
	found := map[string]target{}
	k := min(n, f.Size())
	for i := range min(n, f.Size()*len(f.Modules)*b.Objects) {
		round := i / k
		module, object := (i+round)%len(f.Modules), round/len(f.Modules)%b.Objects
		found[fmt.Sprintf("%06d", i)] = target{
			runtime: f.Runtimes[i%k*f.Size()/k].Sim, name: fmt.Sprintf("%s-%04d", f.Modules[module], object), delete: i%2 == 0,
		}
	}
	return found
}

// delete deletes a ConfigMap and waits for another in its place.
func (f *Setup) delete(ctx context.Context, r *simruntime.Runtime, name string) (time.Duration, error) {
	before := r.Get(configMaps, moduleNamespace, name)
	if before == nil {
		return 0, fmt.Errorf("%s has no ConfigMap %s", r.Name(), name)
	}
	begin := time.Now()
	if err := r.Delete(configMaps, moduleNamespace, name); err != nil {
		return 0, err
	}
	return f.whole(ctx, begin, func() bool {
		now := r.Get(configMaps, moduleNamespace, name)
		return now != nil && now.GetUID() != before.GetUID()
	})
}

// change changes what a ConfigMap's module declares, and waits for it to be taken back.
func (f *Setup) change(ctx context.Context, r *simruntime.Runtime, name string) (time.Duration, error) {
	declared, begin := "", time.Now()
	err := r.Mutate(configMaps, moduleNamespace, name, func(o *unstructured.Unstructured) {
		declared = version(o)
		_ = unstructured.SetNestedField(o.Object, "another user's", "data", "version") // a ConfigMap has data
	})
	if err != nil {
		return 0, err
	}
	return f.whole(ctx, begin, func() bool { return version(r.Get(configMaps, moduleNamespace, name)) == declared })
}

// version returns what a ConfigMap of a module says that it is.
func version(o *unstructured.Unstructured) string {
	if o == nil {
		return ""
	}
	text, _, _ := unstructured.NestedString(o.Object, "data", "version")
	return text
}

// whole waits for a condition and returns the time since begin.
func (f *Setup) whole(ctx context.Context, begin time.Time, condition func() bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, repair)
	defer cancel()
	ticker := time.NewTicker(repairPoll)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("an object is not repaired: %w\nthe manager's log ends with:\n%s", ctx.Err(), f.Manager.Log())
		case <-ticker.C:
		}
	}
	return time.Since(begin), nil
}
