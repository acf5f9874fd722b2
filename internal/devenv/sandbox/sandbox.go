package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// State is the state of a sandbox.
type State string

// The states of a sandbox.
const (
	// Starting: it is being created.
	Starting State = "Starting"
	// Running: its clusters serve.
	Running State = "Running"
	// Stopped: its processes have ended, and only its folder is left, which Delete removes.
	Stopped State = "Stopped"
)

const (
	// DefaultName is the name of a sandbox when none is given.
	DefaultName = "local"
	// mostRuntimes is more than most machines can run.
	mostRuntimes = 16

	hubName     = "hub"
	runtimeName = "runtime"

	lockFile    = "lock"
	stateFile   = "sandbox.json"
	pidFile     = "supervisor.pid"
	logFile     = "supervisor.log"
	envFile     = "env"
	mergedFile  = "kubeconfig"
	accessFile  = "access.kubeconfig"
	managerPart = "manager"
)

// Sandbox describes a sandbox, in the file in its folder and in the output for programs.
type Sandbox struct {
	Name    string    `json:"name"`
	State   State     `json:"state"`
	Created time.Time `json:"created,omitzero"`
	// Dir is its folder, Process the supervisor, and Log the supervisor's log.
	Dir     string `json:"dir"`
	Process int    `json:"process,omitempty"`
	Log     string `json:"log,omitempty"`
	// Kubeconfig has a context for each cluster; that of the hub is the current one. Env is a file for shells to source.
	Kubeconfig string    `json:"kubeconfig,omitempty"`
	Env        string    `json:"env,omitempty"`
	Hub        Cluster   `json:"hub,omitzero"`
	Runtimes   []Cluster `json:"runtimes,omitempty"`
	Registry   Registry  `json:"registry,omitzero"`
	Manager    *Manager  `json:"manager,omitempty"`
}

// Cluster is a control plane of a sandbox.
type Cluster struct {
	Name string `json:"name"`
	// Kubeconfig is the administrator's, Server the address of the API server.
	Kubeconfig string `json:"kubeconfig"`
	Server     string `json:"server"`
}

// Registry is where components are published. It uses no TLS and requires no login.
type Registry struct {
	// Host is "127.0.0.1:port", URL the same with its scheme.
	Host string `json:"host"`
	URL  string `json:"url"`
}

// Manager is the lifecycle manager that runs in a sandbox.
type Manager struct {
	Process int    `json:"process"`
	Program string `json:"program"`
	Log     string `json:"log"`
	Metrics string `json:"metrics"`
	// Signatures is the file with the policy on signatures, which is followed without a restart.
	Signatures string `json:"signatures"`
}

// Options configure a sandbox.
type Options struct {
	// Root is the folder of all sandboxes: see the function Root.
	Root string
	// Name is its name; Runtimes is the number of runtimes besides the hub.
	Name     string
	Runtimes int
	// Bare leaves out the programs that turn Deployments into ready pods: each cluster is only an API server.
	Bare bool
	// Supervisor is the program, with arguments, that calls Supervise; the folder is appended as the last argument.
	Supervisor []string
}

// Report receives the progress of a part: key names it, state is one word, text may be empty.
type Report func(key, state, text string)

var (
	// ErrNotFound means that there is no sandbox of that name.
	ErrNotFound = errors.New("there is no such sandbox")
	// ErrTaken means that a sandbox of that name runs, or is being created or deleted.
	ErrTaken = errors.New("there is a sandbox of that name already")
)

// Root returns the folder of all sandboxes: $XDG_STATE_HOME/kyma/sandboxes.
func Root() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "kyma", "sandboxes"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("where to keep sandboxes? %w: set XDG_STATE_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "kyma", "sandboxes"), nil
}

var namePattern = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,30}[a-z0-9])?$`)

// CheckName refuses an invalid name of a sandbox.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%q is not a valid sandbox name: use at most 32 lower-case letters, digits and hyphens, a letter first", name)
	}
	return nil
}

// read returns the description in a folder. A folder without one belongs to a sandbox that is being created.
func read(dir string) (*Sandbox, error) {
	s := &Sandbox{Name: filepath.Base(dir), State: Starting, Dir: dir, Log: filepath.Join(dir, logFile)}
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read what sandbox %s is: %w", s.Name, err)
	}
	return s, nil
}

// write replaces the description of a sandbox atomically, so that no reader sees half of it.
func (s *Sandbox) write() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(s.Dir, stateFile), data)
}

// replace writes a file that only we may read, atomically.
func replace(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// RuntimeNames returns the names of the clusters of that many runtimes: runtime, runtime-2, and so on.
func RuntimeNames(count int) []string {
	var names []string
	for i := range count {
		name := runtimeName
		if i > 0 {
			name = fmt.Sprintf("%s-%d", runtimeName, i+1)
		}
		names = append(names, name)
	}
	return names
}

// Owner returns the running sandbox whose hub is at an address; nil when there is none.
func Owner(all []Sandbox, server string) *Sandbox {
	i := slices.IndexFunc(all, func(s Sandbox) bool {
		return s.State == Running && strings.TrimSuffix(s.Hub.Server, "/") == strings.TrimSuffix(server, "/")
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}
