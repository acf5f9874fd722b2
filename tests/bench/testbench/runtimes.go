package testbench

import (
	"context"
	"fmt"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/bench/simruntime"
)

// runtimeUser is who the manager is to real runtimes, and bareUser who the bare loop is, which is not counted. On the hub and in simulated
// runtimes bareUser is its user agent.
const (
	runtimeUser = "lifecycle-manager"
	bareUser    = "bare"
)

// Runtime is a managed cluster.
type Runtime struct {
	Name string
	// Kubeconfig is the manager's, Bare that of the one who is not counted among the manager's calls.
	Kubeconfig, Bare []byte
	// Sim is the simulated runtime, nil for a real one.
	Sim *simruntime.Runtime

	plane *localcluster.ControlPlane
	audit *audit
}

// Config is access that is not counted among the manager's calls, without a rate limit.
func (r *Runtime) Config() (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(r.Bare)
	if err != nil {
		return nil, err
	}
	config.QPS, config.UserAgent = -1, bareUser
	return config, nil
}

func (w *Bench) openReal(ctx context.Context, assets string, i int) (*Runtime, error) {
	name := fmt.Sprintf("runtime-%d", i)
	audit, flags, err := newAudit(filepath.Join(w.dir, name), runtimeUser)
	if err != nil {
		return nil, err
	}
	plane, err := localcluster.Start(ctx, localcluster.Options{Name: name, Assets: assets, Workloads: w.opts.Workloads, APIServer: flags})
	if err != nil {
		return nil, err
	}
	r := &Runtime{Name: name, plane: plane, audit: audit}
	if r.Kubeconfig, err = plane.UserKubeconfig(runtimeUser, "system:masters"); err == nil {
		r.Bare, err = plane.UserKubeconfig(bareUser, "system:masters")
	}
	return r, err
}

// openSimulated starts all simulated runtimes in this process. They take their schema from the hub, which is a real API server.
func (w *Bench) openSimulated(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(w.Hub.Config)
	if err != nil {
		return err
	}
	schema, err := clients.Discovery().RESTClient().Get().AbsPath("/openapi/v2").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the schema for simulated runtimes: %w", err)
	}
	if w.Sim, err = simruntime.Start(ctx, simruntime.Options{Runtimes: w.opts.Runtimes, Schema: schema, Logf: w.opts.Logf}); err != nil {
		return err
	}
	w.atEnd(func() error { w.Sim.Close(); return nil })
	for i := range w.Runtimes {
		sim := w.Sim.Runtime(i)
		w.Runtimes[i] = &Runtime{Name: sim.Name(), Kubeconfig: sim.Kubeconfig(), Bare: sim.Kubeconfig(), Sim: sim}
	}
	return nil
}
