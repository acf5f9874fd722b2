package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// graceful is how long a manager may take to end after SIGTERM; its own limit is 20 s.
const graceful = 30 * time.Second

// Manager is one replica: a process that can be started repeatedly. Only Kill, Log and the methods that only read may be called by several
// goroutines at once.
type Manager struct {
	// Name distinguishes replicas.
	Name string
	// Log is its output, over all its processes.
	Log *Log
	// ContentDir holds the content that it fetched, over all its processes.
	ContentDir string
	// Token is its token for the hub's proxy, which no other replica uses.
	Token string
	// Metrics is the URL of its metrics; empty where it serves none.
	Metrics string

	program   string
	arguments []string
	env       []string

	mutex sync.Mutex
	life  *life
}

// life is one process.
type life struct {
	process *os.Process
	ended   chan struct{}
	err     error // read it after ended
}

// NewManager returns one more replica, not started; arguments are appended to those of the rig.
func (r *Rig) NewManager(arguments ...string) (*Manager, error) {
	name := fmt.Sprintf("manager-%d", r.replicas.Add(1))
	token, err := r.Hub.Proxy.Grant(r.Hub.Config)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := r.Hub.Proxy.KubeconfigOf(token)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(r.Dir, name+".kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		return nil, err
	}
	log, err := newLog(filepath.Join(r.Dir, name+".log"))
	if err != nil {
		return nil, err
	}
	r.ends = append(r.ends, log.close)
	m := &Manager{
		Name: name, Log: log, ContentDir: filepath.Join(r.Dir, name+"-content"), Token: token,
		program: r.options.Program, env: append(os.Environ(), "KUBECONFIG="+file),
	}
	m.arguments = r.arguments(m)
	if r.options.Metrics {
		address, err := FreeAddress(context.Background())
		if err != nil {
			return nil, err
		}
		m.Metrics, m.arguments = "http://"+address+"/metrics", append(m.arguments, "--metrics-bind-address="+address)
	}
	m.arguments = append(append(m.arguments, r.options.Arguments...), arguments...)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.all = append(r.all, m)
	return m, nil
}

// arguments returns short back-offs, because a point should take seconds, and limits that do not slow down the tests.
func (r *Rig) arguments(m *Manager) []string {
	return []string{
		"--oci-registry-host=http://" + r.Registry.Host, "--content-dir=" + m.ContentDir,
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--failure-base-delay=50ms", "--failure-max-delay=2s", "--catalog-sync-rate=1000",
		"--k8s-skr-client-qps=500", "--k8s-skr-client-burst=1000",
	}
}

// FreeAddress returns a free loopback address, for endpoints of a manager.
func FreeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// ShortLease returns flags for replicas that share the work: a dead one is replaced within seconds.
func ShortLease() []string {
	return []string{
		"--leader-elect", "--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s", "--leader-election-retry-period=300ms",
	}
}

// Build builds the manager of this checkout.
func Build(ctx context.Context, program string) error {
	root, err := localcluster.Root()
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the manager: %w\n%s", err, out)
	}
	return nil
}

// Arguments adds arguments for all later starts, after all others.
func (m *Manager) Arguments(more ...string) { m.arguments = append(m.arguments, more...) }

// Environment sets a variable, such as a limit of the Go runtime, for later starts; an empty value removes it.
func (m *Manager) Environment(name, value string) {
	var kept []string
	for _, variable := range m.env {
		if !strings.HasPrefix(variable, name+"=") {
			kept = append(kept, variable)
		}
	}
	if m.env = kept; value != "" {
		m.env = append(m.env, name+"="+value)
	}
}

// Start starts the process, which must not run.
func (m *Manager) Start() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.life != nil && !m.life.over() {
		return fmt.Errorf("%s runs already", m.Name)
	}
	command := exec.Command(m.program, m.arguments...)
	command.Env, command.Stdout, command.Stderr = m.env, m.Log, m.Log
	m.Log.begin()
	if err := launch(command); err != nil {
		return fmt.Errorf("cannot start %s: %w", m.Name, err)
	}
	now := &life{process: command.Process, ended: make(chan struct{})}
	go func() {
		now.err = command.Wait()
		close(now.ended)
	}()
	m.life = now
	return nil
}

func (l *life) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

func (m *Manager) current() *life {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.life
}

// Running reports whether the process runs, paused or not.
func (m *Manager) Running() bool {
	now := m.current()
	return now != nil && !now.over()
}

// Ended returns a channel that is closed when the present process ends; nil when it was never started.
func (m *Manager) Ended() <-chan struct{} {
	if now := m.current(); now != nil {
		return now.ended
	}
	return nil
}

// Kill ends the process by SIGKILL and returns when it has ended. It does nothing when no process runs.
func (m *Manager) Kill() error { return m.end(syscall.SIGKILL) }

// Stop ends the process by SIGTERM, as the kubelet does, and returns when it has ended. It does nothing when no process runs.
func (m *Manager) Stop() error { return m.end(syscall.SIGTERM) }

func (m *Manager) end(by syscall.Signal) error {
	now := m.current()
	if now == nil || now.over() {
		return nil
	}
	if err := now.process.Signal(by); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cannot end %s: %w", m.Name, err)
	}
	select {
	case <-now.ended:
		return nil
	case <-time.After(graceful):
		_ = now.process.Kill()
		<-now.ended
		return fmt.Errorf("%s did not end within %s of signal %s", m.Name, graceful, by)
	}
}

// Restart kills the process if it runs, and starts it.
func (m *Manager) Restart() error {
	if err := m.Kill(); err != nil {
		return err
	}
	return m.Start()
}

// Pause stops all its threads at once, in any state; Continue resumes them.
func (m *Manager) Pause() error { return m.signal(syscall.SIGSTOP) }

// Continue ends a Pause.
func (m *Manager) Continue() error { return m.signal(syscall.SIGCONT) }

func (m *Manager) signal(s syscall.Signal) error {
	now := m.current()
	if now == nil || now.over() {
		return fmt.Errorf("%s does not run", m.Name)
	}
	return now.process.Signal(s)
}

// PID returns the id of its present or last process, 0 when there was none.
func (m *Manager) PID() int {
	if now := m.current(); now != nil {
		return now.process.Pid
	}
	return 0
}

// Memory returns its present memory in bytes (resident set) and the highest value so far.
func (m *Manager) Memory() (now, peak int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.PID()))
	if err != nil {
		return 0, 0, fmt.Errorf("cannot read the memory of %s: %w", m.Name, err)
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		name, rest, _ := strings.Cut(line, ":")
		if name != "VmRSS" && name != "VmHWM" {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("cannot read %q: %w", line, err)
		}
		if name == "VmRSS" {
			now = kib << 10
		} else {
			peak = kib << 10
		}
	}
	return now, peak, nil
}
