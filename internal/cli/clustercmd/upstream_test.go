package clustercmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// watchers is upstream's definition that this manager does not have, without its schema.
const watchers = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "watchers.operator.kyma-project.io"},
"spec": {"group": "operator.kyma-project.io", "names": {"kind": "Watcher", "listKind": "WatcherList", "plural": "watchers", "singular": "watcher"},
"scope": "Namespaced", "versions": [{"name": "v1beta2", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
"x-kubernetes-preserve-unknown-fields": true}}}]}}`

// TestUpstream_TheReportOnAHubOfUpstreams uses a real API server with the objects that upstream leaves.
func TestUpstream_TheReportOnAHubOfUpstreams(t *testing.T) {
	needsServers(t)
	state := alone(t)
	plane, err := localcluster.Start(t.Context(), localcluster.Options{Name: "upstream", Dir: filepath.Join(state, "plane")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("KUBECONFIG", plane.Kubeconfig)
	hubOfUpstreams(t, plane.Kubeconfig)
	before := stored(t, plane.Kubeconfig)

	verdicts(t, console.CodeOK, nil, "check", "--from-upstream")
	if out := ok(t, "check", "--from-upstream"); !strings.Contains(out, "1 Watcher") || !strings.Contains(out, "2 modules of 1 Kyma") {
		t.Errorf("the report:\n%s", out)
	}
	if stored(t, plane.Kubeconfig) != before {
		t.Error("the report changed something")
	}

	kubectl(t, plane.Kubeconfig, "-n", "kcp-system", "patch", "configmap", "maintenance-config", "--type=merge", "-p", `{"data": {"policy.json": "{}"}}`)
	kubectl(t, plane.Kubeconfig, "-n", "kcp-system", "label", "moduletemplate", "template-operator-1.0.0", "operator.kyma-project.io/beta=true")
	verdicts(t, console.CodeError, []string{"maintenance policy", "modules"}, "check", "--from-upstream")
	fails(t, console.CodeError, "[1: kcp-system/sample: template-operator]", "check", "--from-upstream")

	withoutRights(t, plane)
	fails(t, console.CodeError, "the cluster does not answer", "check", "--from-upstream", "--server", "https://127.0.0.1:1")
	fails(t, console.CodeUsage, "leave out --pre", "check", "--from-upstream", "--pre")
}

// withoutRights checks that the report for a user who may read nothing says so, and contains no other finding.
func withoutRights(t *testing.T, plane *localcluster.ControlPlane) {
	t.Helper()
	kubeconfig, err := plane.UserKubeconfig("someone")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "someone.kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	got := kyma(t, "check", "--from-upstream", "-o", "json", "--kubeconfig", path)
	unread := 0
	for _, item := range decode[checkList](t, got.out).Items {
		switch {
		case strings.Contains(item.Message, "so that this report is incomplete"), strings.Contains(item.Message, "cannot be judged"):
			unread++
		default:
			t.Errorf("of what may not be read it says %s %s: %s", item.Verdict, item.Name, item.Message)
		}
		if item.Verdict != managerinstall.Failed {
			t.Errorf("%s is %s", item.Name, item.Verdict)
		}
	}
	if got.code != console.CodeError || unread < 10 {
		t.Errorf("exit code %d, %d kinds were not read:\n%s%s", got.code, unread, got.out, got.err)
	}
}

// hubOfUpstreams creates the objects that upstream leaves in a cluster.
func hubOfUpstreams(t *testing.T, kubeconfig string) {
	t.Helper()
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "watchers.json")
	if err := os.WriteFile(file, []byte(watchers), 0o600); err != nil {
		t.Fatal(err)
	}
	hub := filepath.Join(root, "internal", "takeover", "testdata", "hub.yaml")
	kubectl(t, kubeconfig, "create", "namespace", "kcp-system")
	kubectl(t, kubeconfig, "apply", "--server-side", "-f", filepath.Join(root, "config", "crd", "bases"), "-f", file)
	kubectl(t, kubeconfig, "wait", "--for=condition=Established", "crd", "--all", "--timeout=1m")
	kubectl(t, kubeconfig, "apply", "--server-side", "-f", hub)
	text, err := os.ReadFile(hub)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		if kind := object.GetKind(); kind != "Kyma" && kind != "Manifest" {
			continue
		}
		status, err := json.Marshal(map[string]any{"status": object.Object["status"]})
		if err != nil {
			t.Fatal(err)
		}
		kubectl(t, kubeconfig, "-n", "kcp-system", "patch", object.GetKind(), object.GetName(), "--subresource=status", "--type=merge", "-p", string(status))
	}
}

// stored returns the versions of everything that the report reads.
func stored(t *testing.T, kubeconfig string) string {
	t.Helper()
	return kubectl(t, kubeconfig, "get", "-A", "-o", "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{'\\n'}{end}",
		"kymas,manifests,moduletemplates,modulereleasemetas,watchers,secrets,configmaps,deployments,customresourcedefinitions")
}
