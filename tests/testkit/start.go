package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	// patience bounds every single step. It is long because test machines are small and shared.
	patience = time.Minute
	// startPatience bounds the start of everything, including the first build of the programs.
	startPatience = 20 * time.Minute
	// logsVariable names a folder for the logs of API servers and other programs, for analysis after a failure.
	logsVariable = "TESTKIT_LOGS"
)

// Options configure the environment of a suite.
type Options struct {
	// Runtimes is the number of runtimes besides the hub.
	Runtimes int
	// Workloads makes Deployments in runtimes become Available, deletes namespaces completely and collects garbage. Without it runtimes are
	// only API servers, which start faster: content must then not include Namespaces, whose deletion would never end.
	Workloads bool
	// HubWorkloads does the same for the hub, for local Kymas and for objects that Kubernetes deletes with their owner.
	HubWorkloads bool
	// Quiet leaves the loggers of controller-runtime and client-go alone; otherwise they write to Env.Log.
	Quiet bool
}

// Env is the environment of a suite.
type Env struct {
	// Hub has our CRDs and namespace kcp-system.
	Hub *Cluster
	// Runtimes are those that Options requested.
	Runtimes []*Cluster
	// Registry is empty at first; Publish and Offer fill it.
	Registry *localcluster.Registry
	// Mapping determines how Publish maps component names to repositories; empty means the default.
	Mapping descriptor.Mapping
	// Log records the log of a manager that uses Log.Logger(), and that of controller-runtime and client-go.
	Log *Log
	// Watch follows every Kyma and Manifest.
	Watch *Watch
}

// Start starts everything for a suite, inside BeforeSuite. Everything ends with the suite, which fails when an invariant was violated in
// the meantime.
func Start(opts Options) *Env {
	ginkgo.GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	env, err := Launch(ctx, opts)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	ginkgo.DeferCleanup(func() {
		caughtUp := env.Watch.CatchUp() // otherwise the last statuses are not judged
		broken := env.Watch.Violations()
		gomega.Expect(errors.Join(caughtUp, env.Stop())).To(gomega.Succeed())
		gomega.Expect(broken).To(gomega.BeEmpty(), "invariants that were violated while the suite ran")
	})
	return env
}

// Launch is Start for callers other than a Ginkgo suite, such as benchmarks; they call Stop themselves.
func Launch(ctx context.Context, opts Options) (*Env, error) {
	assets, err := localcluster.Assets(ctx)
	if err != nil {
		return nil, err
	}
	env := &Env{Runtimes: make([]*Cluster, opts.Runtimes), Log: NewLog(ginkgo.GinkgoWriter)}
	if !opts.Quiet {
		logf.SetLogger(env.Log.Logger())
		klog.SetLogger(env.Log.Logger())
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		env.Hub, err = startHub(groupCtx, localcluster.Options{Name: "hub", Assets: assets, Workloads: opts.HubWorkloads})
		return err
	})
	for i := range opts.Runtimes {
		group.Go(func() (err error) {
			name := fmt.Sprintf("runtime-%d", i+1)
			env.Runtimes[i], err = startCluster(groupCtx, localcluster.Options{Name: name, Assets: assets, Workloads: opts.Workloads})
			return err
		})
	}
	group.Go(func() (err error) {
		env.Registry, err = localcluster.StartRegistry(groupCtx, localcluster.RegistryOptions{})
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, env.Stop())
	}
	if env.Watch, err = follow(ctx, env.Hub.Client, ginkgo.GinkgoWriter); err != nil {
		return nil, errors.Join(err, env.Stop())
	}
	return env, nil
}

// Stop ends everything that was started.
func (e *Env) Stop() error {
	var err error
	if e.Watch != nil {
		e.Watch.stop()
	}
	if e.Registry != nil {
		err = e.Registry.Stop()
	}
	for _, cluster := range append([]*Cluster{e.Hub}, e.Runtimes...) {
		if cluster != nil {
			err = errors.Join(err, cluster.Stop())
		}
	}
	return err
}

// FaultFree declares that the running spec meets no faults: it fails when a Kyma or Manifest turns to state Error before the spec has
// ended, or when an error is logged. Objects from before the call do not count: an earlier spec's Kyma may follow its Manifest late.
func (e *Env) FaultFree() {
	ginkgo.GinkgoHelper()
	gomega.Expect(e.Watch.CatchUp()).To(gomega.Succeed()) // with the effects of the previous spec
	turned, lines := e.Watch.errorsOfOthers(), len(e.Log.Errors())
	ginkgo.DeferCleanup(func() {
		ginkgo.GinkgoHelper()
		gomega.Expect(e.Watch.CatchUp()).To(gomega.Succeed())
		gomega.Expect(turned()).To(gomega.BeEmpty(), "objects that turned to Error in a fault-free spec")
		gomega.Expect(e.Log.Errors()[lines:]).To(gomega.BeEmpty(), "errors that were logged in a fault-free spec")
	})
}

// startCluster starts one control plane and a client for it.
func startCluster(ctx context.Context, opts localcluster.Options) (*Cluster, error) {
	if logs := os.Getenv(logsVariable); logs != "" {
		opts.Dir = filepath.Join(logs, fmt.Sprintf("%s-%d", opts.Name, os.Getpid()))
	}
	plane, err := localcluster.Start(ctx, opts)
	if err != nil {
		return nil, err
	}
	cluster, err := newCluster(plane)
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return cluster, nil
}
