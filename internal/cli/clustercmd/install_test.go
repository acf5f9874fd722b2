package clustercmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const kymaText = `{"apiVersion":"operator.kyma-project.io/v1beta2","kind":"Kyma",` +
	`"metadata":{"name":"held","namespace":"kcp-system"},"spec":{"channel":"regular"}}`

// TestInstallation goes through the life of an installation on one cluster, whose node only pretends to run the manager.
func TestInstallation(t *testing.T) {
	needsServers(t)
	state := alone(t)
	plane, err := localcluster.Start(t.Context(), localcluster.Options{Name: "install", Dir: filepath.Join(state, "plane"), Workloads: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("KUBECONFIG", plane.Kubeconfig)
	flags := []string{"--registry", "registry.example.com", "--image", "example.com/lm:1.0.0", "--timeout", "3m"}

	verdicts(t, console.CodeOK, nil, "check", "--pre")
	verdicts(t, console.CodeError, []string{"definitions", "manager"}, "check")
	fails(t, console.CodeOK, "Create", append([]string{"install", "--dry-run=server"}, flags...)...)
	if out := kubectl(t, plane.Kubeconfig, "get", "crds", "-o", "name"); strings.Contains(out, "kyma") {
		t.Errorf("a dry run changed something:\n%s", out)
	}

	// Objects that kubectl creates from the export are adopted.
	file := filepath.Join(state, "export.yaml")
	if err := os.WriteFile(file, []byte(ok(t, append([]string{"install", "--export"}, flags...)...)), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, plane.Kubeconfig, "apply", "--server-side", "-f", file)
	first := actions(t, append([]string{"install", "-o", "json"}, flags...)...)
	if slices.Contains(first, "Created") || !slices.Contains(first, "Adopted") {
		t.Errorf("the first installation: %v", first)
	}
	second := actions(t, append([]string{"install", "-o", "json"}, flags...)...)
	if got := slices.Compact(slices.Sorted(slices.Values(second))); !slices.Equal(got, []string{"Unchanged"}) {
		t.Errorf("the second installation: %v", second)
	}
	// kwok's pods hold no lease.
	verdicts(t, console.CodeWarning, []string{"leader"}, "check")
	verdicts(t, console.CodeWarning, []string{"manager"}, "check", "--pre")

	// An upgrade removes objects that are no longer part of it.
	third := ok(t, append([]string{"install", "--single-cluster", "-o", "wide"}, flags...)...)
	if !strings.Contains(third, "klm-local-installer") {
		t.Errorf("an upgrade to a single cluster:\n%s", third)
	}
	ok(t, append([]string{"install"}, flags...)...)
	if out := kubectl(t, plane.Kubeconfig, "get", "serviceaccounts", "-n", managerinstall.Namespace, "-o", "name"); strings.Contains(out, "klm-local-installer") {
		t.Errorf("what is no longer part of it is still there:\n%s", out)
	}
	uninstalled(t, plane)
}

func uninstalled(t *testing.T, plane *localcluster.ControlPlane) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kyma.json")
	if err := os.WriteFile(file, []byte(kymaText), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, plane.Kubeconfig, "apply", "-f", file)
	fails(t, console.CodeError, "the cluster still has 1 Kyma (kcp-system/held)", "uninstall")
	fails(t, console.CodeUsage, "--yes confirms it", "uninstall", "--cascade")
	if out := kubectl(t, plane.Kubeconfig, "get", "kymas", "-A", "-o", "name"); !strings.Contains(out, "held") {
		t.Fatalf("a refusal changed something:\n%s", out)
	}
	ok(t, "uninstall", "--cascade", "--yes", "--timeout=3m")
	left := kubectl(t, plane.Kubeconfig, "get", "crds,clusterroles,clusterrolebindings,priorityclasses,namespaces", "-o", "name")
	for _, name := range []string{"kyma", "klm", "kcp"} {
		if strings.Contains(left, name) {
			t.Errorf("something with %s is left:\n%s", name, left)
		}
	}
	if secrets := kubectl(t, plane.Kubeconfig, "get", "secrets", "-A", "-o", "name"); strings.Contains(secrets, "lifecycle-manager") {
		t.Errorf("the inventory is left:\n%s", secrets)
	}
	ok(t, "uninstall")
	verdicts(t, console.CodeOK, nil, "check", "--pre")
}

// actions returns what happened to each object.
func actions(t *testing.T, args ...string) []string {
	t.Helper()
	var found []string
	for _, c := range decode[changeList](t, ok(t, args...)).Items {
		found = append(found, c.Action)
	}
	return found
}

// verdicts checks the exit code of a check, and the names of its results that are not well.
func verdicts(t *testing.T, code int, bad []string, args ...string) {
	t.Helper()
	got := kyma(t, append(args, "-o", "json")...)
	var names []string
	for _, r := range decode[checkList](t, got.out).Items {
		if r.Verdict != managerinstall.Passed && r.Name != "leader" || code == console.CodeWarning && r.Verdict != managerinstall.Passed {
			names = append(names, r.Name)
		}
	}
	if got.code != code || !slices.Equal(names, bad) {
		t.Errorf("kyma %s: exit code %d, want %d; not well are %v, want %v\n%s", strings.Join(args, " "), got.code, code, names, bad, got.out)
	}
}

func TestRightsThatAreMissing(t *testing.T) {
	needsServers(t)
	state := alone(t)
	plane, err := localcluster.Start(t.Context(), localcluster.Options{Name: "rights", Dir: filepath.Join(state, "plane")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	kubeconfig, err := plane.UserKubeconfig("someone")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, "someone.kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, console.CodeError, "you may not create", "check", "--pre", "--kubeconfig", path)
	fails(t, console.CodeError, "does not answer", "check", "--pre", "--server", "https://127.0.0.1:1")
}
