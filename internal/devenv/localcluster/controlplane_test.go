package localcluster_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// patience is for a shared machine.
const patience = time.Minute

// childVariable makes the test binary a program that starts a control plane and waits to be killed.
const childVariable = "PROVISION_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		startAndWait(dir)
	}
	os.Exit(m.Run())
}

// TestControlPlane uses one control plane with workloads for everything that must be tested on a real one.
func TestControlPlane(t *testing.T) {
	dir := t.TempDir()
	begin := time.Now()
	cp := start(t, localcluster.Options{Name: "hub", Dir: dir, Workloads: true})
	t.Logf("started in %s", time.Since(begin).Round(time.Millisecond))
	clients := clientsFor(t, cp.Config)

	t.Run("a Deployment becomes Available", func(t *testing.T) { deploymentAvailable(t, clients) })
	t.Run("kwok leaves nodes alone that are not its own", func(t *testing.T) { foreignNode(t, clients) })
	t.Run("a namespace is deleted with its content", func(t *testing.T) { namespaceGoes(t, clients) })
	t.Run("an object is deleted with its owner", func(t *testing.T) { ownedObjectGoes(t, clients) })
	t.Run("the kubeconfig works by itself and with kubectl", func(t *testing.T) { kubeconfigWorks(t, cp) })
	t.Run("a user may do what RBAC allows and no more", func(t *testing.T) { userIsBound(t, cp) })
	t.Run("a ServiceAccount may do what RBAC allows and no more", func(t *testing.T) { serviceAccountIsBound(t, cp, clients) })

	children := processesOf(t, dir)
	if len(children) == 0 {
		t.Fatal("no process found by the folder of its logs: this test cannot see what it wants to see ending")
	}
	if err := cp.Stop(); err != nil { // for instance because a process still runs
		t.Fatal(err)
	}
	assertGone(t, children)
	if _, err := os.Stat(cp.Kubeconfig); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig of a control plane that is no more is still there: %v", err)
	}
	if err := cp.Stop(); err != nil {
		t.Errorf("a second Stop reports %v", err)
	}
}

func TestControlPlane_TwoControlPlanesDoNotDisturbEachOther(t *testing.T) {
	one := start(t, localcluster.Options{Name: "one"})
	two := start(t, localcluster.Options{Name: "two"})
	if one.Config.Host == two.Config.Host {
		t.Fatalf("both listen on %s", one.Config.Host)
	}
	if err := one.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(one.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stop left its temporary folder behind: %v", err)
	}
	if _, err := clientsFor(t, two.Config).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("the second does not work after the first was stopped: %v", err)
	}
}

func TestControlPlane_NothingOutlivesAProgramThatWasKilled(t *testing.T) {
	dir := t.TempDir()
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), childVariable+"="+dir)
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	scratch, ok := strings.CutPrefix(strings.TrimSpace(line), "scratch ")
	if err != nil || !ok {
		t.Fatalf("the program said %q (%v)", line, err)
	}
	children := processesOf(t, dir)
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait() // reports the kill
	if runtime.GOOS == "linux" {
		assertGone(t, children)
	}
	cp := start(t, localcluster.Options{Name: "next"})
	assertGone(t, children)
	if _, err := os.Stat(scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next Start did not remove %s: %v", scratch, err)
	}
	if err := cp.Stop(); err != nil {
		t.Error(err)
	}
}

func TestControlPlane_ACancelledStartLeavesNothing(t *testing.T) {
	assets(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	dir := t.TempDir()
	cp, err := localcluster.Start(ctx, localcluster.Options{Name: "cancelled", Dir: dir})
	if err == nil {
		_ = cp.Stop()
		t.Fatal("the start ignored its context")
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error does not say that the context ended: %v", err)
	}
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
}

func start(t *testing.T, opts localcluster.Options) *localcluster.ControlPlane {
	t.Helper()
	opts.Assets = assets(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	cp, err := localcluster.Start(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cp.Stop() }) // its result is asserted where it matters
	return cp
}

func assets(t *testing.T) string {
	t.Helper()
	dir, err := localcluster.Assets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func clientsFor(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

// startAndWait is the test binary's main function when it plays a program that will be killed.
func startAndWait(dir string) {
	cp, err := localcluster.Start(context.Background(), localcluster.Options{Name: "killed", Dir: dir, Workloads: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("scratch", cp.Scratch())
	select {}
}

// processesOf finds children by the log files that they hold open, which is independent of how Stop finds them.
func processesOf(t *testing.T, dir string) []int {
	t.Helper()
	logs, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/1")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, link := range links {
		target, err := os.Readlink(link)
		var pid int
		if _, scanErr := fmt.Sscanf(link, "/proc/%d/", &pid); err == nil && scanErr == nil && strings.HasPrefix(target, logs+"/") {
			found = append(found, pid)
		}
	}
	return found
}

func assertGone(t *testing.T, pids []int) {
	t.Helper()
	eventually(t, "the children end", func() (bool, error) {
		for _, pid := range pids {
			state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err == nil && !strings.Contains(string(state), ") Z ") && syscall.Kill(pid, 0) == nil {
				return false, fmt.Errorf("process %d of %v still runs", pid, pids)
			}
		}
		return true, nil
	})
}

func eventually(t *testing.T, what string, done func() (bool, error)) {
	t.Helper()
	deadline := time.After(patience)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		ok, err := done()
		if ok {
			return
		}
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("waited %s in vain for: %s: %v", patience, what, err)
		}
	}
}
