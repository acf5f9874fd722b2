package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// removedShare of the Kymas are deleted, removers at once.
	removedShare = 0.1
	removers     = 16
)

// removals is B9: a tenth of the Kymas is deleted at once. The fleet is not handed on.
func removals(ctx context.Context, b *Bench, f *Setup) error {
	r := b.Result("B9", b.Case(f.Size()))
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	first := f.Size() - max(1, int(removedShare*float64(f.Size())))
	names := f.Names[first:]
	cost, err := begin(ctx, f.Bench)
	if err != nil {
		return err
	}
	took, all, err := f.remove(ctx, b, names)
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
	left := 0
	for i := first; i < f.Size(); i++ {
		left += len(f.Runtimes[i].Sim.Objects(configMaps))
	}
	n := float64(len(names))
	objects := float64(b.Modules * b.Objects)
	r.Add("deleted Kymas", "", n)
	r.Add("all gone after", "s", all.Seconds())
	r.Add("objects deleted", "objects/s", n*objects/all.Seconds())
	r.Add("delete to gone, p50", "s", took.Quantile(0.5).Seconds())
	r.Add("delete to gone, p99", "s", took.Quantile(0.99).Seconds())
	r.Add("objects of modules left behind", "objects", float64(left), report.Exactly(0))
	r.Add("writes to the runtime, for each object of a module", "writes", moduleWrites(spent.calls.Runtimes)/n/objects, report.AtMost(1.05))
	r.Add("writes to the hub, for each Kyma", "writes", float64(spent.calls.Hub.Writes().Total())/n)
	r.Add("manager's CPU for each object", "ms", spent.usage.CPU.Seconds()*1000/n/objects)
	if err := b.Done(r); err != nil {
		return err
	}
	return b.Damaged()
}

// remove deletes Kymas and returns how long each took until it was gone, and all together.
func (f *Setup) remove(ctx context.Context, b *Bench, names []string) (*meter.Latencies, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, b.patience(len(names)))
	defer cancel()
	g := &goers{began: map[string]time.Time{}, waiting: map[string]bool{}}
	for _, name := range names {
		g.waiting[name] = true
	}
	stream, err := f.Hub.Client.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(v1beta2.DefaultNamespace))
	if err != nil {
		return nil, 0, err
	}
	defer stream.Stop()
	begin := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(removers)
	gone := make(chan error, 1)
	go func() { gone <- g.follow(ctx, stream) }()
	for _, name := range names {
		group.Go(func() error {
			g.begin(name)
			return f.Hub.Client.Delete(groupCtx, testbench.NewKyma(name))
		})
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	if err := <-gone; err != nil {
		return nil, 0, fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, f.Manager.Log())
	}
	return &g.took, time.Since(begin), nil
}

// goers are Kymas on their way out.
type goers struct {
	mutex   sync.Mutex
	began   map[string]time.Time
	waiting map[string]bool
	took    meter.Latencies
}

func (g *goers) begin(name string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.began[name] = time.Now()
}

// follow returns when all are gone.
func (g *goers) follow(ctx context.Context, stream watch.Interface) error {
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d Kymas are not gone: %w", g.left(), ctx.Err())
		case event, open := <-stream.ResultChan():
			if !open {
				return fmt.Errorf("the watch of Kymas ended while %d were not gone", g.left())
			}
			if kyma, ok := event.Object.(*v1beta2.Kyma); ok && event.Type == watch.Deleted && g.end(kyma.Name) == 0 {
				return nil
			}
		}
	}
}

// end notes that a Kyma is gone, and returns how many are not.
func (g *goers) end(name string) int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.waiting[name] {
		delete(g.waiting, name)
		g.took.Add(time.Since(g.began[name]))
	}
	return len(g.waiting)
}

func (g *goers) left() int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return len(g.waiting)
}
