package terminal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// completes is the program by which kubectl asks a plugin for completion, as `make cli` writes it.
const completes = `#!/bin/sh\nexec kubectl-kyma __complete "$@"\n`

// TestKubectlPlugin has kyma where kubectl looks for plugins.
func TestKubectlPlugin(t *testing.T) {
	h := newHub(t, "one")
	h.offers("one", "two")
	h.says(module("one", v1beta2.StateReady, ""))
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if written := strings.ReplaceAll(string(makefile), "$$", "$"); !strings.Contains(written, completes) {
		t.Error("make cli writes another kubectl_complete-kyma than this test does")
	}
	folder := t.TempDir()
	if err := os.Symlink(h.program, filepath.Join(folder, "kubectl-kyma")); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(completes, `\n`, "\n")
	if err := os.WriteFile(filepath.Join(folder, "kubectl_complete-kyma"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	kubectl := func(args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), started.Kubectl, args...)
		command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "KUBECONFIG="+h.kubeconfig)
		out, err := command.Output()
		if err != nil {
			t.Errorf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	expect := func(what, out, want string) {
		t.Helper()
		if !strings.Contains(out, want) {
			t.Errorf("%s: there is no %q in:\n%s", what, want, out)
		}
	}
	expect("the help text", kubectl("kyma", "--help"), "kubectl kyma [command]")
	expect("the help text of a command", kubectl("kyma", "add", "--help"), "kubectl kyma add NAME")
	expect("a command with a flag of kubectl", kubectl("kyma", "list", "-n", h.namespace, "-o", "name"), "module/one\n")
	expect("completed commands", kubectl("__complete", "kyma", "unm"), "unmanage")
	expect("completed modules", kubectl("__complete", "kyma", "add", "-n", h.namespace, "t"), "two")
	expect("completed versions", kubectl("__complete", "kyma", "add", "-n", h.namespace, "two@1.1"), "two@1.1.0")
	if out := kubectl("__complete", "kyma", "add", "-n", h.namespace, "two:"); !strings.Contains(out, "two:fast\ntwo:regular\n") {
		t.Errorf("completed channels: %q", out)
	}
}
