package testbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/bench/simruntime"
)

// Options says what to build.
type Options struct {
	// Runtimes is how many there are beside the hub.
	Runtimes int
	// Simulated runtimes live in this process, by the thousand; otherwise each is a real API server.
	Simulated bool
	// Workloads makes Deployments in real runtimes become Available, at the price of some more processes for each.
	Workloads bool
	// Dir is an existing folder for what the world writes; Manager the manager's program. BuildManager makes one.
	Dir, Manager string
	// Logs is a folder that keeps the manager's log; without it the log goes with the world.
	Logs string
	// Logf tells what continues; nil means that no one listens.
	Logf func(format string, args ...any)
}

// Bench is what a workload runs on.
type Bench struct {
	Hub      *Hub
	Registry *localcluster.Registry
	// Runtimes are as many as Options asked for.
	Runtimes []*Runtime
	// Sim serves the simulated runtimes; nil when they are real.
	Sim *simruntime.Runtimes
	// Kymas follows every Kyma on the hub.
	Kymas *Follower
	// Manager is the process that StartManager started last; nil before.
	Manager *Manager

	opts Options
	dir  string
	ends []func() error
}

// Open builds a world. The context bounds its start, and the life of the simulated runtimes.
func Open(ctx context.Context, opts Options) (*Bench, error) {
	if opts.Logf == nil {
		opts.Logf = func(string, ...any) {}
	}
	dir, err := os.MkdirTemp(opts.Dir, "world-")
	if err != nil {
		return nil, err
	}
	w := &Bench{opts: opts, dir: dir, Runtimes: make([]*Runtime, opts.Runtimes)}
	w.atEnd(func() error { return os.RemoveAll(dir) })
	if err := w.build(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot build a world for the bench: %w", err), w.Close())
	}
	return w, nil
}

// build starts everything that can be started at once, and the simulated runtimes after the hub, whose schema they speak.
func (w *Bench) build(ctx context.Context) error {
	assets, err := localcluster.Assets(ctx)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		w.Hub, err = openHub(groupCtx, assets, w.dir)
		return err
	})
	group.Go(func() (err error) {
		w.Registry, err = localcluster.StartRegistry(groupCtx, localcluster.RegistryOptions{})
		return err
	})
	if !w.opts.Simulated {
		for i := range w.Runtimes {
			group.Go(func() (err error) {
				w.Runtimes[i], err = w.openReal(groupCtx, assets, i)
				return err
			})
		}
	}
	err = group.Wait()
	w.atEnd(w.endServers)
	if err == nil && w.opts.Simulated {
		err = w.openSimulated(ctx)
	}
	if err != nil {
		return err
	}
	w.Kymas, err = follow(ctx, w.Hub.Client)
	return err
}

func (w *Bench) endServers() error {
	var problems []error
	if w.Hub != nil {
		problems = append(problems, w.Hub.plane.Stop())
	}
	if w.Registry != nil {
		problems = append(problems, w.Registry.Stop())
	}
	for _, r := range w.Runtimes {
		if r != nil && r.plane != nil {
			problems = append(problems, r.plane.Stop())
		}
	}
	return errors.Join(problems...)
}

// Close ends everything, the last first.
func (w *Bench) Close() error {
	var problems []error
	if w.Kymas != nil {
		w.Kymas.stop()
	}
	if w.Manager != nil {
		problems = append(problems, w.Manager.Kill())
	}
	for _, end := range slices.Backward(w.ends) {
		problems = append(problems, end())
	}
	w.ends = nil
	return errors.Join(problems...)
}

func (w *Bench) atEnd(end func() error) { w.ends = append(w.ends, end) }

// Simulated reports whether the runtimes are.
func (w *Bench) Simulated() bool { return w.opts.Simulated }
