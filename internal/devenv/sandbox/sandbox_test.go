package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/sandbox"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// superviseWord is the argument that makes the test binary a supervisor.
const superviseWord = "supervise-a-sandbox"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == superviseWord {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := sandbox.Supervise(ctx, os.Args[2])
		stop()
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func options(t *testing.T, root, name string, runtimes int) sandbox.Options {
	t.Helper()
	apiserver.Need(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // as users do it, so that a failed test leaves nothing behind
		if err := sandbox.Delete(context.Background(), root, name); err != nil && !errors.Is(err, sandbox.ErrNotFound) {
			t.Error(err)
		}
	})
	return sandbox.Options{Root: root, Name: name, Runtimes: runtimes, Bare: true, Supervisor: []string{self, superviseWord}}
}

func start(t *testing.T, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Start(t.Context(), o, func(key, state, text string) { t.Log(o.Name, key, state, text) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSandbox_TwoSandboxesStandSideBySide(t *testing.T) {
	root := t.TempDir()
	one := start(t, options(t, root, "one", 2))
	two := start(t, options(t, root, "two", 1))
	if len(one.Runtimes) != 2 || one.Runtimes[1].Name != "runtime-2" || len(two.Runtimes) != 1 {
		t.Errorf("the runtimes are %v and %v", one.Runtimes, two.Runtimes)
	}
	for _, kubeconfig := range []string{one.Hub.Kubeconfig, one.Runtimes[0].Kubeconfig, one.Runtimes[1].Kubeconfig, two.Kubeconfig} {
		serves(t, kubeconfig)
	}
	serversDiffer(t, one, two)
	filesAreForUsAlone(t, one)
	if _, err := sandbox.Start(t.Context(), options(t, root, "two", 1), func(string, string, string) {}); !errors.Is(err, sandbox.ErrTaken) {
		t.Errorf("a second sandbox of the same name: %v", err)
	}
	if got := states(t, root); !slices.Equal(got, []string{"one Running", "two Running"}) {
		t.Errorf("List() = %v", got)
	}
	all, _ := sandbox.List(root)
	if owner := sandbox.Owner(all, two.Hub.Server+"/"); owner == nil || owner.Name != "two" {
		t.Errorf("the hub of two belongs to %v", owner)
	}

	processes := below(t, one.Process)
	if len(processes) < 6 {
		t.Fatalf("three clusters are more than %d processes: this test does not see what it wants to see ending", len(processes))
	}
	if err := sandbox.Delete(t.Context(), root, "one"); err != nil {
		t.Fatal(err)
	}
	gone(t, append(processes, one.Process))
	if _, err := os.Stat(one.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is still there: %v", err)
	}
	if got := states(t, root); !slices.Equal(got, []string{"two Running"}) {
		t.Errorf("List() = %v", got)
	}
	serves(t, two.Kubeconfig)
	if err := sandbox.Delete(t.Context(), root, "one"); !errors.Is(err, sandbox.ErrNotFound) {
		t.Errorf("to delete it again: %v", err)
	}
}

func TestSandbox_WhatAKilledSupervisorLeft(t *testing.T) {
	root := t.TempDir()
	s := start(t, options(t, root, "victim", 1))
	processes := below(t, s.Process)
	if err := syscall.Kill(s.Process, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, append(processes, s.Process))
	become(t, root, "victim Stopped")                // the lock ends with the last thread, which may be after the process is seen to end
	again := start(t, options(t, root, "victim", 1)) // takes over the folder
	serves(t, again.Kubeconfig)
	if err := syscall.Kill(again.Process, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := sandbox.Delete(t.Context(), root, "victim"); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestSandbox_AStartThatIsGivenUpLeavesNothing(t *testing.T) {
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := sandbox.Start(ctx, options(t, root, "early", 1), func(_, _, _ string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Start() = %v", err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestSandbox_ASupervisorThatFailsSaysWhy(t *testing.T) {
	o := options(t, t.TempDir(), "broken", 1)
	o.Supervisor = []string{"/bin/sh", "-c", "echo oh no >&2; exit 3"}
	_, err := sandbox.Start(t.Context(), o, func(string, string, string) {})
	if err == nil || !strings.Contains(err.Error(), "ended before it was up") || !strings.Contains(err.Error(), "oh no") {
		t.Errorf("Start() = %v", err)
	}
	if got := states(t, o.Root); len(got) != 0 {
		t.Errorf("List() = %v", got)
	}
}

func TestSandbox_WhatIsRefusedBeforeAnythingIsMade(t *testing.T) {
	root := t.TempDir()
	for name, tc := range map[string]struct {
		options sandbox.Options
		want    string
	}{
		"a name that leads elsewhere": {sandbox.Options{Root: root, Name: "../other", Runtimes: 1}, "is not a valid sandbox name"},
		"no runtime":                  {sandbox.Options{Root: root, Name: "local"}, "0 runtimes"},
		"too many runtimes":           {sandbox.Options{Root: root, Name: "local", Runtimes: 99}, "99 runtimes"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := sandbox.Start(t.Context(), tc.options, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Start() = %v, want %q", err, tc.want)
			}
		})
	}
	if err := sandbox.Supervise(t.Context(), root); err == nil || !strings.Contains(err.Error(), "kyma provision local") {
		t.Errorf("Supervise() by hand = %v", err)
	}
	if err := sandbox.Delete(t.Context(), root, "../other"); err == nil {
		t.Error("Delete() takes a name that leads elsewhere")
	}
}

func serves(t *testing.T, kubeconfig string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(config.Host, "https://127.0.0.1:") {
		t.Errorf("%s leads to %s, which is not loopback", kubeconfig, config.Host)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "it-serves-"}}
	if _, err := clients.CoreV1().ConfigMaps("default").Create(t.Context(), settings, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

func serversDiffer(t *testing.T, all ...*sandbox.Sandbox) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range all {
		for _, address := range []string{s.Hub.Server, s.Runtimes[0].Server, s.Registry.URL} {
			if seen[address] {
				t.Errorf("%s is there twice", address)
			}
			seen[address] = true
		}
	}
}

// filesAreForUsAlone checks the permissions of every file and folder: kubeconfigs and keys are among them.
func filesAreForUsAlone(t *testing.T, s *sandbox.Sandbox) {
	t.Helper()
	info, err := os.Stat(s.Dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
	for _, file := range []string{s.Kubeconfig, s.Env, s.Hub.Kubeconfig, filepath.Join(s.Dir, "sandbox.json"), filepath.Join(s.Dir, "door.json")} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", file, info, err)
		}
	}
}

// become waits until the sandboxes are in these states.
func become(t *testing.T, root string, want ...string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		if slices.Equal(states(t, root), want) {
			return
		}
		<-tick.C
	}
	t.Errorf("List() = %v, want %v", states(t, root), want)
}

func states(t *testing.T, root string) []string {
	t.Helper()
	all, err := sandbox.List(root)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for i := range all {
		found = append(found, all[i].Name+" "+string(all[i].State))
	}
	return found
}

// below returns the processes that a parent started, directly and indirectly.
func below(t *testing.T, parent int) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	parents := map[int]int{}
	for _, file := range files {
		if pid, of, ok := parentOf(file); ok {
			parents[pid] = of
		}
	}
	var found []int
	for pid := range parents {
		for of := parents[pid]; of > 1; of = parents[of] {
			if of == parent {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// parentOf reads a process that has not ended.
func parentOf(file string) (pid, parent int, ok bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, false
	}
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
	parent, err = strconv.Atoi(fields[1])
	return pid, parent, err == nil && fields[0] != "Z"
}

// gone waits a moment, because a killed process takes one to end.
func gone(t *testing.T, pids []int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		left := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
			_, _, runs := parentOf(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
			return !runs
		})
		if len(left) == 0 {
			return
		}
		<-tick.C
	}
	t.Errorf("of %v some still run", pids)
}
