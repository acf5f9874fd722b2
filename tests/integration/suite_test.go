package integration

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

var (
	// env is shared by all specs; they take unique names.
	env *testkit.Env
	// hubCalls and runtimeCalls count what the manager sends.
	hubCalls, runtimeCalls calls.Counter

	// access is the manager's, as its ServiceAccount; contentDir survives a restart of it.
	access     *rest.Config
	contentDir string
	// stopManager ends the manager that runs.
	stopManager = func() {}
)

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(2 * time.Second)
	RunSpecs(t, "Integration")
}

var _ = BeforeSuite(func() {
	env = testkit.Start(testkit.Options{Runtimes: 2, Workloads: true, HubWorkloads: true})
	access = env.ManagerConfig("config/local")
	dir, err := os.MkdirTemp("", "content-")
	Expect(err).NotTo(HaveOccurred())
	contentDir = dir
	DeferCleanup(os.RemoveAll, dir)
	startManager()
	DeferCleanup(func() { stopManager() })
})

// startManager runs the real manager as its ServiceAccount.
func startManager() {
	GinkgoHelper()
	config := setup.Defaults()
	config.RegistryHost = "http://" + env.Registry.Host
	config.MetricsAddress, config.ProbeAddress = "0", "0"
	config.RuntimeQPS, config.RuntimeBurst = 500, 1000
	config.ContentDir = contentDir
	Expect(config.Validate()).To(Succeed())

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	hooks := setup.Hooks{WrapHub: hubCalls.Wrap, WrapRuntime: runtimeCalls.Wrap, AllowManyManagers: true}
	go func() { done <- setup.Run(ctx, access, config, env.Log.Logger(), hooks) }()
	stopManager = func() {
		GinkgoHelper()
		cancel()
		Eventually(done).Should(Receive(BeNil()), "the manager ends without an error")
		stopManager = func() {}
	}
}

// ctx is the context of the running spec.
func ctx() context.Context { return context.Background() }
