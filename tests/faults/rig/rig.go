package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// Options configure a rig.
type Options struct {
	// Dir holds the logs and the manager's content. Default: a temporary folder, which Stop deletes.
	Dir string
	// Program is the manager. Default: the one that the variable FAULTS_MANAGER names, or one that is built from this checkout into Dir.
	Program string
	// Earlier is the manager of the version before. Default: the one that the variable EarlierVariable names; none where it names none.
	Earlier string
	// Arguments are appended to the rig's own for every manager, and so override them.
	Arguments []string
	// Metrics lets every manager serve its metrics, each at an address of its own.
	Metrics bool
}

// Server is a cluster and the proxy in front of it. Its Client bypasses the proxy.
type Server struct {
	*testkit.Cluster

	// Proxy is the manager's only access.
	Proxy *proxy.Proxy
}

// Rig is the environment of a fault run.
type Rig struct {
	// Dir is that of Options.
	Dir string
	// Hub has our CRDs and namespace kcp-system.
	Hub *Server
	// Runtimes are two: the one of the Kyma under test, and one that is not involved.
	Runtimes []*Server
	// Registry holds the components. Its Inject injects faults.
	Registry *localcluster.Registry
	// Watch has seen every status that was written to the hub.
	Watch *testkit.Watch
	// Manager is the first replica; it is not started yet.
	Manager *Manager
	// Earlier is the manager of the version before, not started; nil where none is known.
	Earlier *Manager

	options  Options
	env      *testkit.Env
	replicas atomic.Int32
	mutex    sync.Mutex // guards all
	all      []*Manager
	pair     []*Manager
	shifted  *Manager
	ends     []func() error
	// Bystander is the Kyma on the second runtime that no fault may affect.
	Bystander string
}

const (
	runtimes        = 2
	programVariable = "FAULTS_MANAGER"
	// EarlierVariable names the program of the version before.
	EarlierVariable = "FAULTS_MANAGER_BEFORE"
)

// Start starts everything except the manager. The context bounds the start, and the life of the proxies.
func Start(ctx context.Context, options Options) (*Rig, error) {
	r := &Rig{options: options, Dir: options.Dir}
	if err := r.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot prepare the rig: %w", err), r.Stop())
	}
	env, err := testkit.Launch(ctx, testkit.Options{Runtimes: runtimes, Quiet: true})
	if err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	r.env, r.Registry, r.Watch = env, env.Registry, env.Watch
	r.ends = append(r.ends, env.Stop)
	if r.Hub, err = r.serve(ctx, "hub", env.Hub); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	for i, cluster := range env.Runtimes {
		server, err := r.serve(ctx, fmt.Sprintf("runtime-%d", i+1), cluster)
		if err != nil {
			return nil, errors.Join(err, r.Stop())
		}
		r.ends = append(r.ends, startWorkloads(cluster.Client))
		r.Runtimes = append(r.Runtimes, server)
	}
	if r.Manager, err = r.NewManager(); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	if r.options.Earlier == "" {
		r.options.Earlier = os.Getenv(EarlierVariable)
	}
	if r.options.Earlier != "" {
		if r.Earlier, err = r.NewManager(); err != nil {
			return nil, errors.Join(err, r.Stop())
		}
		r.Earlier.program = r.options.Earlier
	}
	return r, nil
}

func (r *Rig) prepare(ctx context.Context) error {
	if r.Dir == "" {
		dir, err := os.MkdirTemp("", "faults-")
		if err != nil {
			return err
		}
		r.Dir = dir
		r.ends = append(r.ends, func() error { return os.RemoveAll(dir) })
	}
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return err
	}
	r.Dir = dir
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	if r.options.Program == "" {
		r.options.Program = os.Getenv(programVariable)
	}
	if r.options.Program != "" {
		return nil
	}
	r.options.Program = filepath.Join(r.Dir, "manager")
	return Build(ctx, r.options.Program)
}

func (r *Rig) serve(ctx context.Context, name string, cluster *testkit.Cluster) (*Server, error) {
	front, err := proxy.New(context.WithoutCancel(ctx), proxy.Options{Name: name, Upstream: cluster.Config})
	if err != nil {
		return nil, err
	}
	r.ends = append(r.ends, front.Close)
	return &Server{Cluster: cluster, Proxy: front}, nil
}

// Servers returns the hub and the runtimes.
func (r *Rig) Servers() []*Server { return append([]*Server{r.Hub}, r.Runtimes...) }

// Managers returns all replicas that there are, running or not. Other goroutines may create more meanwhile.
func (r *Rig) Managers() []*Manager {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.all)
}

// Replica returns the n-th, from 0, of several replicas that share the work by short leases. The first call creates it.
func (r *Rig) Replica(n int) (*Manager, error) {
	for len(r.pair) <= n {
		replica, err := r.NewManager(ShortLease()...)
		if err != nil {
			return nil, err
		}
		r.pair = append(r.pair, replica)
	}
	return r.pair[n], nil
}

// ClearFaults removes every fault: proxies and registry serve normally.
func (r *Rig) ClearFaults() {
	for _, server := range r.Servers() {
		server.Proxy.Reach(proxy.Open)
	}
	r.Registry.Inject(nil)
}

// Stop ends everything, the managers first.
func (r *Rig) Stop() error {
	var err error
	for _, manager := range r.Managers() {
		err = errors.Join(err, manager.Kill())
	}
	for _, end := range slices.Backward(r.ends) {
		err = errors.Join(err, end())
	}
	r.ends, r.all = nil, nil
	return err
}
