package node

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	// asked is the variable without which nothing runs.
	asked = "NODE_TESTS"
	// keep is the variable that keeps the folder with logs and data.
	keep = "NODE_KEEP"
	// long labels what the short form leaves out.
	long = "long"
	// image is what is built and deployed: no registry has it.
	image = "images.invalid/lifecycle-manager:test"
	// registryPort and runtimePort are ports of the hub's node that lead to the registry and to the runtime's API server. The
	// manager's NetworkPolicy allows both.
	registryPort, runtimePort = "8443", "443"
)

var (
	// root of the checkout.
	root string
	// state is the folder with everything that the suite makes.
	state string
	// assets and programs are what nodes run.
	assets, programs string
	// registry has the modules' components.
	registry *localcluster.Registry
	// hub is the cluster with the operator.
	hub *cluster
)

func TestNode(t *testing.T) {
	if os.Getenv(asked) == "" {
		t.Skipf("%s is not set: this suite needs root, containerd and runc, and is run by make e2e-node", asked)
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(5 * time.Minute)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "node")
}

var _ = ReportAfterSuite("failures", testkit.TellFailures)

// Nothing is built in the checkout: two runs at once do not meet.
var _ = BeforeSuite(func() {
	var err error
	root, err = localcluster.Root()
	Expect(err).NotTo(HaveOccurred())
	stepf("building nodes' programs and images")
	assets, err = localcluster.Assets(context.Background())
	Expect(err).NotTo(HaveOccurred())
	programs = run(nil, filepath.Join(root, "hack", "node", "build.sh"))
	state, err = os.MkdirTemp("", "klm-node-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		if os.Getenv(keep) != "" {
			stepf("logs and data are in %s", state)
			return
		}
		Expect(os.RemoveAll(state)).To(Succeed())
	})
	images := filepath.Join(state, "images")
	Expect(os.MkdirAll(images, 0o755)).To(Succeed())
	run(nil, "make", "image", "IMG="+image, "DIST="+images)
	run(nil, "make", "dashboard-image", "DIST="+images)
	run(nil, filepath.Join(root, "hack", "node", "images.sh"), images)
	run(nil, "go", "build", "-trimpath", "-o", filepath.Join(state, "node"), "./hack/node")

	registry, err = localcluster.StartRegistry(context.Background(), localcluster.RegistryOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(registry.Stop()).To(Succeed()) })
	hub = newCluster("hub", registryPort+"="+registry.Host, runtimePort+"="+filepath.Join(state, "runtime", "api.sock"))
	hub.start()
	DeferCleanup(func() { hub.stop() })
})

// run runs a program in the checkout, as a user would, and returns what it printed last.
func run(env []string, name string, args ...string) string {
	GinkgoHelper()
	out, err := try(env, name, args...)
	Expect(err).NotTo(HaveOccurred(), "%s %s", name, strings.Join(args, " "))
	return out
}

func try(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), &failure{err: err, output: string(out) + stderr.String()}
	}
	return strings.TrimSpace(string(out)), nil
}

// failure is a program that failed, with what it said.
type failure struct {
	err    error
	output string
}

func (f *failure) Error() string { return f.err.Error() + "\n" + f.output }
