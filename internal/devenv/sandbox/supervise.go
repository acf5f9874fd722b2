//go:build unix

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
)

// supervisedSandbox is what a supervisor keeps running.
type supervisedSandbox struct {
	plan     plan
	tell     func(message)
	log      logr.Logger
	hub      *localcluster.ControlPlane
	runtimes []*localcluster.ControlPlane
	registry *localcluster.Registry
	control  *controlAPI

	mutex   sync.Mutex // for the following fields, and for writing them
	sandbox Sandbox
	crew    *playground.ProcessGroup
	order   *StartRequest // of the manager that should run
	ended   chan struct{}
}

// Supervise runs a supervisor: it creates the parts of a sandbox, keeps them running until the context ends, and ends them. It must be
// started by Start, in a separate process.
func Supervise(ctx context.Context, dir string) error {
	report := os.NewFile(reportFD, "report")
	if !inherited(dir) || report == nil {
		return errors.New("this is for the supervisor of a sandbox only: use kyma provision local")
	}
	syscall.CloseOnExec(lockFD)
	syscall.CloseOnExec(reportFD)
	log := logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil))
	klog.SetLogger(log)
	logf.SetLogger(log)
	h := &supervisedSandbox{log: log, crew: playground.NewProcessGroup(), ended: make(chan struct{}, 1)}
	h.tell = func(m message) {
		if data, err := json.Marshal(m); err == nil {
			_, _ = report.Write(append(data, '\n')) // the reader may be gone
		}
	}
	err := h.live(ctx, dir, report)
	if ctx.Err() != nil {
		err = nil
	}
	if err != nil {
		h.tell(message{Error: err.Error()})
		log.Error(err, "The sandbox failed")
	}
	return errors.Join(err, h.close())
}

// inherited reports whether this process inherited the lock of the folder.
func inherited(dir string) bool {
	var opened, there syscall.Stat_t
	return syscall.Fstat(lockFD, &opened) == nil && syscall.Stat(filepath.Join(dir, lockFile), &there) == nil && opened.Ino == there.Ino
}

// live creates everything, reports that, and stays.
func (h *supervisedSandbox) live(ctx context.Context, dir string, report *os.File) error {
	data, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err == nil {
		err = json.Unmarshal(data, &h.plan)
	}
	if err != nil {
		return err
	}
	h.sandbox = Sandbox{
		Name: filepath.Base(dir), State: Running, Created: time.Now().UTC().Truncate(time.Second), Dir: dir,
		Process: os.Getpid(), Log: filepath.Join(dir, logFile),
	}
	for _, step := range []func(context.Context) error{h.start, h.writeFiles, h.openControlAPI} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := h.sandbox.write(); err != nil {
		return err
	}
	h.tell(message{Done: true})
	if err := report.Close(); err != nil {
		return err
	}
	h.stay(ctx)
	return nil
}

// start starts clusters and registry at the same time.
func (h *supervisedSandbox) start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	names := RuntimeNames(h.plan.Runtimes)
	h.runtimes = make([]*localcluster.ControlPlane, len(names))
	var mutex sync.Mutex // over tell
	say := func(key, state, text string) {
		mutex.Lock()
		defer mutex.Unlock()
		h.tell(message{Key: key, State: state, Text: text})
	}
	cluster := func(name string, into **localcluster.ControlPlane) func() error {
		return func() (err error) {
			say("cluster/"+name, "Starting", "")
			*into, err = localcluster.Start(ctx, localcluster.Options{
				Name: name, Dir: filepath.Join(h.sandbox.Dir, name), Assets: h.plan.Assets, Workloads: !h.plan.Bare,
			})
			if err == nil {
				say("cluster/"+name, "Ready", (*into).Config.Host)
			}
			return err
		}
	}
	group.Go(cluster(hubName, &h.hub))
	for i, name := range names {
		group.Go(cluster(name, &h.runtimes[i]))
	}
	group.Go(func() (err error) {
		h.registry, err = localcluster.StartRegistry(ctx, localcluster.RegistryOptions{Dir: filepath.Join(h.sandbox.Dir, "registry")})
		if err == nil {
			say("registry", "Ready", "http://"+h.registry.Host)
		}
		return err
	})
	return group.Wait()
}

// stay keeps the manager running, as a kubelet would, until the context ends.
func (h *supervisedSandbox) stay(ctx context.Context) {
	for {
		h.mutex.Lock()
		ended := h.crew.Ended()
		h.mutex.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-h.ended: // another manager runs now
		case <-ended:
			h.revive(ctx)
		}
	}
}

// revive restarts a manager that ended by itself, after a pause.
func (h *supervisedSandbox) revive(ctx context.Context) {
	timer := time.NewTimer(revivePause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	select {
	case <-h.crew.Ended():
	default: // another one was started meanwhile
		return
	}
	h.log.Error(h.crew.Failure(), "The manager is started again")
	if err := errors.Join(h.crew.EndManager(), h.startManager(ctx, *h.order)); err != nil {
		h.log.Error(err, "The manager cannot be started again: deploy it again")
		h.sandbox.Manager = nil
	}
	if err := h.sandbox.write(); err != nil {
		h.log.Error(err, "Cannot write what the sandbox is")
	}
}

// close ends everything: first the programs that use the clusters, then the clusters, at the same time.
func (h *supervisedSandbox) close() error {
	var err error
	if h.control != nil {
		err = h.control.close()
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	err = errors.Join(err, h.crew.End())
	var group errgroup.Group
	for _, plane := range append([]*localcluster.ControlPlane{h.hub}, h.runtimes...) {
		if plane != nil {
			group.Go(plane.Stop)
		}
	}
	err = errors.Join(err, group.Wait())
	if h.registry != nil {
		err = errors.Join(err, h.registry.Stop())
	}
	if err != nil {
		err = fmt.Errorf("not everything ended as it should: %w", err)
	}
	return err
}
