package clustercmd

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/sandbox"
)

// TestDeploy_ALifeOfASandbox follows the README: provision, deploy, change the policy on signatures, delete.
func TestDeploy_ALifeOfASandbox(t *testing.T) {
	needsServers(t)
	state := alone(t)
	manager := builtManager(t)
	deleted(t, "tour")
	made := decode[sandboxDocument](t, ok(t, "provision", "local", "tour", "-o", "json"))
	if made.Kind != "Sandbox" || made.State != sandbox.Running || made.Registry.URL == "" || len(made.Runtimes) != 1 {
		t.Errorf("made %+v", made)
	}
	fails(t, console.CodeError, "there is a sandbox tour already", "provision", "local", "tour")
	environmentWorks(t, made.Sandbox)

	// No kubeconfig names a cluster: the only sandbox is used.
	deploy := []string{"deploy", "--manager", manager, "--modules", "notes", "-o", "json"}
	document := decode[deploymentDocument](t, ok(t, deploy...))
	if len(document.Items) != 1 || document.Items[0].State != v1beta2.StateReady || document.Sandbox != "tour" || document.Items[0].Cluster != "runtime" {
		t.Errorf("deployed %+v", document)
	}
	notes := kubectl(t, made.Runtimes[0].Kubeconfig, "get", "configmaps", "-n", "default", "-o", "name")
	if !strings.Contains(notes, "configmap/notes") {
		t.Errorf("the runtime has no notes:\n%s", notes)
	}
	again := decode[deploymentDocument](t, ok(t, deploy...))
	if again.Manager == nil || again.Manager.Process != document.Manager.Process {
		t.Errorf("to deploy again made another manager: %+v, then %+v", document.Manager, again.Manager)
	}

	// The current cluster is the hub of the sandbox.
	t.Setenv("KUBECONFIG", made.Kubeconfig)
	enforced := decode[deploymentDocument](t, ok(t, append(deploy, "--signatures", "enforce", "--trust", publicKey(t))...))
	if enforced.Items[0].State != v1beta2.StateReady {
		t.Errorf("with signatures: %+v", enforced)
	}
	kubectl(t, made.Hub.Kubeconfig, "patch", "kyma", "demo", "-n", "kcp-system", "--type=merge", "-p", `{"spec":{"channel":"fast"}}`)
	kubectl(t, made.Hub.Kubeconfig, "wait", "kyma/demo", "-n", "kcp-system", "--for=jsonpath={.status.modules[0].version}=1.1.0", "--timeout=3m")

	verdicts(t, console.CodeOK, nil, "check")
	verdicts(t, console.CodeWarning, []string{"manager"}, "check", "--pre") // one runs already

	list := decode[sandboxList](t, ok(t, "provision", "list", "-o", "json"))
	if len(list.Items) != 1 || list.Items[0].Manager == nil {
		t.Fatalf("list: %+v", list)
	}
	process := list.Items[0].Manager.Process
	if got := ok(t, "provision", "delete", "tour"); got != "sandbox/tour deleted\n" {
		t.Errorf("delete prints %q", got)
	}
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(process))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the manager, process %d, still runs: %v", process, err)
	}
	if entries, err := os.ReadDir(filepath.Join(state, "kyma", "sandboxes")); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	fails(t, console.CodeNotFound, "there is no sandbox tour", "provision", "delete", "tour")
}

// environmentWorks checks the environment for a shell.
func environmentWorks(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	text := ok(t, "provision", "env", "tour")
	for _, want := range []string{
		"export KUBECONFIG='" + s.Kubeconfig + "'", "export RUNTIME_KUBECONFIG='" + s.Runtimes[0].Kubeconfig + "'",
		"export REGISTRY='" + s.Registry.URL + "'", "export KYMA_SANDBOX='tour'",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if file, err := os.ReadFile(s.Env); err != nil || string(file) != text {
		t.Errorf("the file differs: %v\n%s", err, file)
	}
	contexts := kubectl(t, s.Kubeconfig, "config", "get-contexts", "-o", "name")
	if contexts != "hub\nruntime\n" {
		t.Errorf("contexts %q", contexts)
	}
	kubectl(t, s.Kubeconfig, "--context", "runtime", "get", "nodes")
}

func publicKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "release.pub")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommandLinesThatMakeNoSense(t *testing.T) {
	alone(t)
	for name, tc := range map[string]struct {
		code int
		says string
		args string
	}{
		"no sandbox to deploy to":            {console.CodeNotFound, "no sandbox runs on this machine", "deploy"},
		"an unknown sandbox":                 {console.CodeNotFound, "kyma provision local other makes it", "deploy --sandbox other"},
		"the usual sandbox, missing":         {console.CodeNotFound, "kyma provision local makes it", "deploy --sandbox local"},
		"signatures without a trusted key":   {console.CodeUsage, "no key is trusted", "deploy --signatures enforce"},
		"a level that there is not":          {console.CodeUsage, "use one of off, audit, enforce", "deploy --signatures maybe"},
		"a trusted key without a level":      {console.CodeUsage, "without --signatures", "deploy --trust key.pem"},
		"a key that is not there":            {console.CodeNotFound, "--trust: open", "deploy --signatures warn --trust no-such-file"},
		"a name that leads elsewhere":        {console.CodeUsage, "is not a valid sandbox name", "provision local ../x"},
		"delete without a name":              {console.CodeUsage, "NAME is missing", "provision delete"},
		"an argument too many":               {console.CodeUsage, "takes no argument \"b\"", "provision local a b"},
		"an unknown verb":                    {console.CodeUsage, "there is no command", "provision cloud"},
		"to supervise by hand":               {console.CodeError, "use kyma provision local", "provision supervise /tmp"},
		"an environment of nothing":          {console.CodeNotFound, "no sandbox runs", "provision env"},
		"two kinds of installation":          {console.CodeUsage, "exclude each other", "install --single-cluster --control-plane"},
		"a part that there is not":           {console.CodeUsage, "there is no part", "install --with dashboards"},
		"an empty list, which is no failure": {console.CodeOK, "There is no sandbox", "provision list"},
		"an export, which needs no cluster":  {console.CodeOK, "kind: CustomResourceDefinition", "install --export"},
		"a dry run, which needs no cluster":  {console.CodeOK, "klm-controller-manager", "install --dry-run=client"},
		"an unknown kind of dry run":         {console.CodeError, "use one of none|client|server", "install --dry-run=maybe"},
	} {
		t.Run(name, func(t *testing.T) { fails(t, tc.code, tc.says, strings.Fields(tc.args)...) })
	}
	if got := decode[sandboxList](t, ok(t, "provision", "list", "-o", "json")); got.Items == nil || got.Kind != "SandboxList" {
		t.Errorf("an empty list is %+v", got)
	}
}
