package integration

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

var (
	// env is shared by all specs; they take unique names.
	env *testkit.Env
	// web serves files, Helm repositories and git repositories, by TLS that only the registries file makes trusted.
	web *testkit.Web
	// hubCalls and runtimeCalls count what the manager sends.
	hubCalls, runtimeCalls calls.Counter
	// runtimeLog keeps what it sends to runtimes, with the names of the objects.
	runtimeLog calls.Log

	// access is the manager's, as its ServiceAccount; contentDir survives a restart of it.
	access     *rest.Config
	contentDir string
	// registriesFile is what --registries-file names.
	registriesFile string
	// signaturesFile is what --signatures-file names; specs put the rules for their own components into it.
	signaturesFile string
	// contentServer is where the running manager serves content; it is requested under contentURL.
	contentServer net.Addr
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

var _ = ReportAfterSuite("failures", testkit.TellFailures)

var _ = BeforeSuite(func() {
	env = testkit.Start(testkit.Options{Runtimes: 1, Workloads: true, HubWorkloads: true})
	access = env.ManagerConfig("config/local")
	dir, err := os.MkdirTemp("", "content-")
	Expect(err).NotTo(HaveOccurred())
	contentDir = dir
	DeferCleanup(os.RemoveAll, dir)
	web = testkit.StartWeb()
	registriesFile = filepath.Join(GinkgoT().TempDir(), "registries.yaml")
	writeRegistries(trust(web))
	signaturesFile = filepath.Join(filepath.Dir(registriesFile), "signatures.yaml")
	writeSignatures()
	env.Hub.Apply(env.Hub.Objects("config/components/content/access.yaml")...)
	startManager()
	DeferCleanup(func() { stopManager() })
})

// contentURL is what the manager is told to call its content server.
const contentURL = "https://content.example.com:8444"

// startManager runs the real manager as its ServiceAccount.
func startManager(changes ...func(*setup.Config)) {
	GinkgoHelper()
	config := setup.Defaults()
	config.RegistryHost = "http://" + env.Registry.Host
	config.MetricsAddress, config.ProbeAddress = "0", "0"
	config.RuntimeQPS, config.RuntimeBurst = 500, 1000
	config.ContentDir, config.RegistriesFile, config.SignaturesFile = contentDir, registriesFile, signaturesFile
	config.ContentAddress, config.ContentURL = "127.0.0.1:0", contentURL
	for _, change := range changes {
		change(&config)
	}
	Expect(config.Validate()).To(Succeed())

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	listening := make(chan net.Addr, 1)
	managerMetrics = prometheus.NewRegistry()
	hooks := setup.Hooks{
		WrapHub: hubCalls.Wrap, WrapRuntime: wrapRuntime, AllowManyManagers: true,
		ContentListening: func(addr net.Addr) { listening <- addr },
		Metrics:          managerMetrics,
	}
	go func() { done <- setup.Run(ctx, access, config, env.Log.Logger(), hooks) }()
	stopManager = func() {
		GinkgoHelper()
		cancel()
		Eventually(done).Should(Receive(BeNil()), "the manager ends without an error")
		stopManager = func() {}
	}
	Eventually(listening, "60s").Should(Receive(&contentServer), "the content server listens")
}

func wrapRuntime(next http.RoundTripper) http.RoundTripper {
	return runtimeCalls.Wrap(runtimeLog.Wrap(next))
}

// trust returns a registries file that says how to speak to web servers.
func trust(servers ...*testkit.Web) []byte {
	GinkgoHelper()
	var entries []any
	for _, server := range servers {
		entries = append(entries, map[string]any{"host": server.Host, "ca": string(server.CA)})
	}
	data, err := json.Marshal(map[string]any{"registries": entries})
	Expect(err).NotTo(HaveOccurred())
	return data
}

// writeRegistries replaces the registries file at once, as an editor does.
func writeRegistries(data []byte) {
	GinkgoHelper()
	draft := registriesFile + ".new"
	Expect(os.WriteFile(draft, data, 0o600)).To(Succeed())
	Expect(os.Rename(draft, registriesFile)).To(Succeed())
}

// ctx returns the context of the running spec.
func ctx() context.Context { return context.Background() }
