package testbench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	// readyPatience bounds the first lists of a manager with thousands of Kymas on a busy machine.
	readyPatience = 3 * time.Minute
	// readyPoll is how often a manager that starts is asked whether it is ready; times of a start are as exact as that.
	readyPoll = 5 * time.Millisecond
	// memoryLimit and collect are what config/manager gives it.
	memoryLimit, collect = "GOMEMLIMIT=1800MiB", "GOGC=50"
)

// ManagerOptions say how the manager runs.
type ManagerOptions struct {
	// Flags come after those that the world needs, and win.
	Flags []string
	// Processors is GOMAXPROCS; 0 leaves it alone.
	Processors int
	// Env are further variables of its environment.
	Env []string
}

// Manager is the manager's process.
type Manager struct {
	*process
	// Started is when the process was started, Ready when its caches were filled.
	Started, Ready time.Time
	// Metrics, Probes and Profiles are where it serves them: "http://127.0.0.1:1234".
	Metrics, Probes, Profiles string
}

// BuildManager builds the manager's program into a folder; go's cache makes the second time short.
func BuildManager(ctx context.Context, dir string) (string, error) {
	root, err := localcluster.Root()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "manager")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "./cmd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the manager: %w\n%s", err, out)
	}
	return program, nil
}

// StartManager starts a manager as a deployed one runs, and returns when its caches are filled.
func (w *Bench) StartManager(ctx context.Context, o ManagerOptions) (*Manager, error) {
	m, err := w.LaunchManager(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := m.AwaitReady(ctx); err != nil {
		return nil, errors.Join(err, m.Kill())
	}
	return m, nil
}

// LaunchManager starts a manager and does not wait.
func (w *Bench) LaunchManager(ctx context.Context, o ManagerOptions) (*Manager, error) {
	if w.Manager != nil && w.Manager.Running() {
		return nil, fmt.Errorf("the manager of this world runs already, as process %d", w.Manager.PID())
	}
	m, err := w.launchManager(ctx, o, w.contentDir())
	if err != nil {
		return nil, err
	}
	w.Manager = m
	return m, nil
}

// launchManager starts a process that is a manager, which keeps what it fetches in a folder.
func (w *Bench) launchManager(ctx context.Context, o ManagerOptions, content string) (*Manager, error) {
	free, err := freeAddresses(ctx, 3)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(w.dir, "manager.kubeconfig")
	data, err := w.Hub.AccessKubeconfig()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(kubeconfig, data, 0o600); err != nil {
		return nil, err
	}
	flags := append([]string{
		"--oci-registry-host=http://" + w.Registry.Host,
		"--metrics-bind-address=" + free[0],
		"--health-probe-bind-address=" + free[1],
		"--pprof", "--pprof-bind-address=" + free[2],
		"--content-dir=" + content,
	}, o.Flags...)
	env := append([]string{"KUBECONFIG=" + kubeconfig, memoryLimit, collect}, o.Env...)
	if o.Processors > 0 {
		env = append(env, fmt.Sprintf("GOMAXPROCS=%d", o.Processors))
	}
	m := &Manager{Started: time.Now(), Metrics: "http://" + free[0], Probes: "http://" + free[1], Profiles: "http://" + free[2]}
	m.process, err = launch(w.opts.Manager, w.logPath(), env, flags...)
	return m, err
}

// AwaitReady waits until the manager says that its caches are filled.
func (m *Manager) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		answer := ask(ctx, m.Probes+"/readyz")
		if answer == nil {
			m.Ready = time.Now()
			return nil
		}
		select {
		case <-m.done:
			return fmt.Errorf("the manager ended (%w); its log ends with:\n%s", errors.Join(m.err, answer), m.Log())
		case <-ctx.Done():
			return fmt.Errorf("the manager is not ready after %s: %w; its log ends with:\n%s", readyPatience, answer, m.Log())
		case <-ticker.C:
		}
	}
}

// ask returns nil when the address answers with 200.
func ask(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}

// freeAddresses finds addresses on loopback that no one listens on.
func freeAddresses(ctx context.Context, count int) (found []string, err error) {
	var config net.ListenConfig
	var open []net.Listener
	for range count {
		listener, e := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if e != nil {
			err = e
			break
		}
		open, found = append(open, listener), append(found, listener.Addr().String())
	}
	for _, listener := range open { // only now, so that each is another one
		err = errors.Join(err, listener.Close())
	}
	return found, err
}

// ForgetContent deletes what managers have fetched. Call it while none runs.
func (w *Bench) ForgetContent() error { return os.RemoveAll(w.contentDir()) }

func (w *Bench) contentDir() string { return filepath.Join(w.dir, "content") }

func (w *Bench) logPath() string {
	if w.opts.Logs == "" {
		return filepath.Join(w.dir, "manager.log")
	}
	return filepath.Join(w.opts.Logs, filepath.Base(w.dir)+".log")
}
