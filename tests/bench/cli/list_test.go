package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/getcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	kymas     = 1000
	modules   = 5
	maxCalls  = 12
	maxFactor = 2
)

// BenchmarkList takes the time of `kyma list -A -o json` and compares it with kubectl's.
func BenchmarkList(b *testing.B) {
	log.SetLogger(logr.Discard())
	environment := &envtest.Environment{
		BinaryAssetsDirectory: os.Getenv("KUBEBUILDER_ASSETS"),
		CRDDirectoryPaths:     []string{"../../../config/crd/bases"}, ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = environment.Stop() })
	fill(b, config)
	user, err := environment.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	access, err := user.KubeConfig()
	if err != nil {
		b.Fatal(err)
	}
	kubeconfig := filepath.Join(b.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, access, 0o600); err != nil {
		b.Fatal(err)
	}
	requests := 0
	ours, theirs := time.Duration(1<<62), time.Duration(1<<62)
	for b.Loop() {
		begun := time.Now()
		requests = list(b, config)
		ours = min(ours, time.Since(begun))
		begun = time.Now()
		kubectl(b, kubeconfig)
		theirs = min(theirs, time.Since(begun))
	}
	b.ReportMetric(float64(requests), "requests")
	b.ReportMetric(ours.Seconds()*1000, "kyma-ms")
	b.ReportMetric(theirs.Seconds()*1000, "kubectl-ms")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "ratio")
	if requests > maxCalls {
		b.Errorf("%d requests, more than %d", requests, maxCalls)
	}
	if ours > maxFactor*theirs {
		b.Errorf("it takes %s, more than %d times the %s of kubectl", ours, maxFactor, theirs)
	}
}

func list(b *testing.B, config *rest.Config) (requests int) {
	b.Helper()
	var out, said bytes.Buffer
	to := target.Of(config)
	for _, command := range getcmd.Commands(&console.Console{In: strings.NewReader(""), Out: &out, Err: &said}, to) {
		if command.Name() != "list" {
			continue
		}
		command.SetArgs([]string{"-A", "-o", "json"})
		if err := command.ExecuteContext(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if found := strings.Count(out.String(), `"kyma":`); found != kymas*modules {
		b.Fatalf("%d modules are listed: %s", found, said.String())
	}
	return to.Requests()
}

func kubectl(b *testing.B, kubeconfig string) {
	b.Helper()
	program := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	command := exec.CommandContext(b.Context(), program, "--kubeconfig", kubeconfig, "get", "kymas,manifests", "-A", "-o", "json")
	if _, err := command.Output(); err != nil {
		b.Fatal(err)
	}
}

// fill writes the fleet, many at once.
func fill(b *testing.B, config *rest.Config) {
	b.Helper()
	c, err := target.Of(config).Client()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.DefaultNamespace}}); err != nil {
		b.Fatal(err)
	}
	if err := testbench.CreateIdleKymas(b.Context(), c, kymas, modules); err != nil {
		b.Fatal(err)
	}
}
