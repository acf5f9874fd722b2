//go:build unix

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// startTimeout bounds the start of one program. It is long because test machines are small and shared.
	startTimeout = 4 * time.Minute
	// stopTimeout bounds the wait for killed processes to end.
	stopTimeout = 20 * time.Second
	// adminUser is the user of the admin kubeconfig; its group may do everything.
	adminUser  = "admin"
	adminGroup = "system:masters"
)

// Options configure a control plane.
type Options struct {
	// Name distinguishes control planes in folder names and kubeconfig contexts. Default "controlplane".
	Name string
	// Dir is the folder for the kubeconfig and the folder "logs". Default: a temporary folder, which Stop deletes.
	Dir string
	// Assets is the folder with the programs. Default: the one that the function Assets finds or builds.
	Assets string
	// Workloads adds kube-controller-manager, kube-scheduler and kwok with one node, so that a Deployment becomes Available, namespaces are
	// deleted with their content, garbage collection follows owners, and each namespace gets its ServiceAccount. Without it the API server
	// only stores and serves.
	Workloads bool
	// APIServer are further flags of kube-apiserver, without the dashes, such as those of an audit log.
	APIServer map[string]string
}

// ControlPlane is a running Kubernetes control plane.
type ControlPlane struct {
	// Name is that of Options.
	Name string
	// Dir holds the kubeconfig and the folder "logs".
	Dir string
	// Config is the administrator's, without a rate limit.
	Config *rest.Config
	// Kubeconfig is a file for the administrator that refers to no other file.
	Kubeconfig string
	// Kubectl is a kubectl of the API server's version.
	Kubectl string

	assets    string
	workloads bool
	flags     map[string]string
	scratch   *scratch
	keeper    *lockedThread
	plane     *envtest.ControlPlane
	logs      []*os.File
	once      sync.Once
	stopErr   error
}

// Start starts a control plane and returns when it serves, and with Workloads when pods can be scheduled. The context bounds only the
// start: the control plane ends by Stop or with this process.
func Start(ctx context.Context, opts Options) (*ControlPlane, error) {
	if opts.Name == "" {
		opts.Name = "controlplane"
	}
	cp, err := prepare(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("cannot prepare control plane %q: %w", opts.Name, err)
	}
	release := cp.scratch.killWhenDone(ctx)
	endTurn, err := AcquireStartSlot(ctx)
	if err == nil {
		err = cp.start(ctx)
		endTurn()
	}
	release()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start control plane %q: %w", opts.Name, err), cp.Stop())
	}
	return cp, nil
}

// Stop ends the processes and deletes their data and the kubeconfig; logs stay when Options named a folder for them. Nothing has to be
// saved, so it takes a second or two. It returns an error when a process still runs after 20 s. A further call does nothing and returns the
// same error.
func (cp *ControlPlane) Stop() error {
	cp.once.Do(func() {
		cp.scratch.kill()
		err := cp.scratch.awaitEnd(stopTimeout)
		for _, log := range cp.logs {
			err = errors.Join(err, log.Close())
		}
		if e := os.Remove(cp.Kubeconfig); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
		if cp.stopErr = errors.Join(err, cp.scratch.remove()); cp.stopErr != nil {
			cp.stopErr = fmt.Errorf("cannot stop control plane %q cleanly: %w", cp.Name, cp.stopErr)
		}
		cp.keeper.close()
	})
	return cp.stopErr
}

// prepare sets up everything that a start needs and that fails for simple reasons: programs and folders.
func prepare(ctx context.Context, opts Options) (*ControlPlane, error) {
	cp := &ControlPlane{Name: opts.Name, assets: opts.Assets, workloads: opts.Workloads, flags: opts.APIServer}
	var err error
	if cp.assets == "" {
		if cp.assets, err = Assets(ctx); err != nil {
			return nil, err
		}
	}
	cp.Kubectl = filepath.Join(cp.assets, "kubectl")
	if opts.Dir != "" {
		if cp.Dir, err = filepath.Abs(opts.Dir); err != nil {
			return nil, err
		}
	}
	if cp.scratch, err = newScratch(scratchParent(cp.Dir), cp.Name); err != nil {
		return nil, err
	}
	if cp.Dir == "" {
		cp.Dir = cp.scratch.dir
	}
	cp.Kubeconfig = filepath.Join(cp.Dir, "kubeconfig")
	if err := os.MkdirAll(cp.logFolder(), 0o700); err != nil {
		return nil, errors.Join(err, cp.scratch.remove())
	}
	cp.keeper = newLockedThread()
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context) error {
	if err := cp.startPlane(ctx); err != nil {
		return err
	}
	config, err := cp.AddUser(adminUser, adminGroup)
	if err != nil {
		return err
	}
	cp.Config = config
	data, err := KubeconfigOf(cp.Name, cp.Config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(cp.Kubeconfig, data, 0o600); err != nil {
		return err
	}
	if err := cp.awaitServing(ctx); err != nil {
		return err
	}
	if !cp.workloads {
		return nil
	}
	return cp.startWorkloads(ctx)
}
