package hostile

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var (
	// env has two runtimes: the first is healthy, the second is behind the hostile servers.
	env *testkit.Env
	// memory samples as long as the suite runs.
	memory *meter
	// managerMetrics are the manager's own metrics.
	managerMetrics *prometheus.Registry
	// contentServer is the address of the manager's content server.
	contentServer net.Addr
)

// quick is the limit for actions that no attack may delay. Test machines are small, and the race detector is slow.
const quick = 30 * time.Second

// verdict is the limit for the verdict on an attack: before it, the manager may have to read all that it keeps of one runtime.
const verdict = 3 * time.Minute

func TestHostile(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "Hostile")
}

var _ = ReportAfterSuite("failures", testkit.TellFailures)

var _ = BeforeSuite(func() {
	GinkgoWriter.TeeTo(&leaks)
	log.SetOutput(io.MultiWriter(os.Stderr, &leaks)) // for code without a logger
	env = testkit.Start(testkit.Options{Runtimes: 2})
	before := runtime.NumGoroutine()
	stop := startManager()
	neighbour = newNeighbour()
	prepare(env.Runtimes[1])
	memory = startMeter()
	DeferCleanup(func() {
		expectAllGone()
		expectNoLeaksAnywhere()
		expectAllPlanted()
		memory.end()
		stop()
		Eventually(runtime.NumGoroutine, 2*time.Minute).Should(BeNumerically("<=", before+20), "no attack has left goroutines behind")
	})
})

// startManager runs the real manager as its ServiceAccount, and returns a function that ends it.
func startManager() (stop func()) {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	config := setup.Defaults()
	config.MetricsAddress, config.ProbeAddress = "0", "0"
	config.ContentDir, config.ContentAddress, config.ContentURL = filepath.Join(dir, "content"), "127.0.0.1:0", "https://content.invalid"
	config.RegistriesFile = writeRegistries(dir)
	signaturesFile = filepath.Join(dir, "signatures", "signatures.yaml")
	Expect(os.Mkdir(filepath.Dir(signaturesFile), 0o700)).To(Succeed())
	Expect(os.WriteFile(signaturesFile, []byte("signatures: []"), 0o600)).To(Succeed())
	config.SignaturesFile = signaturesFile
	config.RegistrySecret, config.PullSecret = createLogin(), createPullSecret()
	Expect(config.Validate()).To(Succeed())

	access := env.ManagerConfig("config/local")
	hatch("the manager's own token", access.BearerToken[strings.LastIndex(access.BearerToken, ".")+1:]).planted.Store(true) // or nothing works
	env.Hub.Apply(env.Hub.Objects("config/components/content/access.yaml")...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	listening := make(chan net.Addr, 1)
	managerMetrics = prometheus.NewRegistry()
	hooks := setup.Hooks{
		AllowManyManagers: true, Metrics: managerMetrics, ContentListening: func(addr net.Addr) { listening <- addr },
	}
	go func() { done <- setup.Run(ctx, access, config, env.Log.Logger(), hooks) }()
	Eventually(listening, "60s").Should(Receive(&contentServer))
	return func() {
		cancel()
		Eventually(done, "60s").Should(Receive(BeNil()), "the manager ends without an error")
	}
}

// writeRegistries configures the registry of the tests as one without TLS.
func writeRegistries(dir string) string {
	GinkgoHelper()
	data, err := json.Marshal(map[string]any{"registries": []any{map[string]any{"host": env.Registry.Host, "plainHTTP": true}}})
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(dir, "registries.yaml")
	Expect(os.WriteFile(file, data, 0o600)).To(Succeed())
	return file
}

// createLogin creates the Secret with which the manager logs in to the registry.
func createLogin() string {
	GinkgoHelper()
	createDockerConfig("registry-login", env.Registry.Host, "reader", registryLogin.secret)
	return "registry-login"
}

// createPullSecret creates the Secret that every synchronised runtime gets.
func createPullSecret() string {
	GinkgoHelper()
	createDockerConfig("image-pull", "images.invalid", "puller", pullSecret.secret)
	return "image-pull"
}

func createDockerConfig(name, host, user, password string) {
	GinkgoHelper()
	data, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]any{"username": user, "password": password}}})
	Expect(err).NotTo(HaveOccurred())
	env.Hub.Create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name},
		Type:       corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: data},
	})
}
