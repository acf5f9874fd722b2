package shards

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	lease  = 15 * time.Second // long enough for a machine that does much else
	renew  = 11 * time.Second
	retry  = 400 * time.Millisecond
	grace  = 10 * time.Second // what a failover may take beyond the lease
	longer = 60 * time.Second
)

var (
	env    *testkit.Env
	access *rest.Config
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	flag.Parse() // before anyone asks whether to be verbose
	log := testkit.NewLog(io.Discard)
	if testing.Verbose() {
		log = testkit.NewLog(os.Stderr)
	}
	logf.SetLogger(log.Logger())
	klog.SetLogger(log.Logger())
	made, err := testkit.Launch(context.Background(), testkit.Options{Runtimes: 1, Quiet: true})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	env = made
	env.Log = log
	defer func() { _ = env.Stop() }()
	gomega.RegisterFailHandler(func(message string, _ ...int) { panic(message) })
	access = env.ManagerConfig("config/local")
	return m.Run()
}

// manager is one of several in this process.
type manager struct {
	t        *testing.T
	name     string
	registry *prometheus.Registry
	cancel   context.CancelFunc
	done     chan error

	mu      sync.Mutex
	cut     bool          // nothing reaches the hub
	hold    chan struct{} // writes to runtimes wait for it, before the fence
	held    int
	wrote   map[string]int // writes by name of the Manifest or Kyma on the hub
	calls   int            // to the hub, but for Leases
	leases  int
	runtime int // writes that a runtime answered
}

var errCut = errors.New("cut off by the test")

// start runs a manager.
func start(t *testing.T, name string) *manager {
	t.Helper()
	config := setup.Defaults()
	config.RegistryHost, config.MetricsAddress, config.ProbeAddress = "http://"+env.Registry.Host, "0", "0"
	config.ContentDir, config.RuntimeQPS, config.RuntimeBurst = t.TempDir(), 500, 1000
	config.LeaderElection, config.LeaseDuration, config.RenewDeadline, config.RetryPeriod = true, lease, renew, retry
	m := &manager{t: t, name: name, registry: prometheus.NewRegistry(), done: make(chan error, 1), wrote: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	hooks := setup.Hooks{WrapHub: m.wrapHub, WrapRuntime: m.wrapRuntime, AllowManyManagers: true, Metrics: m.registry}
	go func() { m.done <- setup.Run(ctx, access, config, env.Log.Logger().WithName(name), hooks) }()
	t.Cleanup(m.stop)
	return m
}

// stop ends a manager as a rollout does.
func (m *manager) stop() {
	m.t.Helper()
	m.set(func() { m.cut = false })
	m.cancel()
	if err, open := <-m.done; open {
		close(m.done)
		if err != nil {
			m.t.Errorf("%s ended with %v", m.name, err)
		}
	}
}

func (m *manager) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func (m *manager) wrapHub(next http.RoundTripper) http.RoundTripper {
	return transport(func(req *http.Request) (*http.Response, error) {
		m.mu.Lock()
		cut := m.cut
		switch {
		case strings.Contains(req.URL.Path, "/leases"):
			m.leases++
		case cut:
		default:
			m.calls++
			if req.Method != http.MethodGet {
				if _, name, ok := strings.Cut(req.URL.Path, "/manifests/"); ok {
					m.wrote[strings.TrimSuffix(name, "/status")]++
				}
			}
		}
		m.mu.Unlock()
		if cut {
			return nil, errCut
		}
		return next.RoundTrip(req)
	})
}

func (m *manager) wrapRuntime(next http.RoundTripper) http.RoundTripper {
	return transport(func(req *http.Request) (*http.Response, error) {
		if req.Method == http.MethodGet {
			return next.RoundTrip(req)
		}
		m.mu.Lock()
		hold := m.hold
		if hold != nil {
			m.held++
		}
		m.mu.Unlock()
		if hold != nil {
			<-hold
		}
		resp, err := next.RoundTrip(req)
		if err == nil {
			m.set(func() { m.runtime++ })
		}
		return resp, err
	})
}

// metric returns the sum of a metric of the manager.
func (m *manager) metric(name string) int {
	families, err := m.registry.Gather()
	if err != nil {
		m.t.Error(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() == name {
			for _, metric := range family.GetMetric() {
				sum += metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
			}
		}
	}
	return int(sum)
}

func (m *manager) buckets() int { return m.metric("lifecycle_mgr_buckets") }

// shared waits until the managers have even shares.
func shared(t *testing.T, within time.Duration, managers ...*manager) {
	t.Helper()
	eventually(t, within, func() error {
		sum := 0
		for _, m := range managers {
			owned := m.buckets()
			sum += owned
			if owned < assignment.Buckets/len(managers) || owned > assignment.Buckets/len(managers)+1 {
				return fmt.Errorf("%s has %d buckets, and there are %d managers", m.name, owned, len(managers))
			}
		}
		if sum != assignment.Buckets {
			return fmt.Errorf("%d buckets are shared out", sum)
		}
		return nil
	})
}

func eventually(t *testing.T, within time.Duration, holds func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %s: %v", within, err)
		case <-tick.C:
		}
	}
}

// subjects makes Kymas with a module each, all in one runtime.
func subjects(t *testing.T, count int) (kymas []*v1beta2.Kyma) {
	t.Helper()
	for range count {
		module := testkit.Unique("maps")
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 3), "regular")
		env.Offer(module, "2.0.0", testkit.ConfigMaps(module, "2.0.0", 3))
		env.Offer(module, "3.0.0", testkit.ConfigMaps(module, "3.0.0", 3))
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module), testkit.Unsynced())
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		env.Hub.Create(kyma)
		kymas = append(kymas, kyma)
	}
	return kymas
}

// removeLast removes Kymas when the test has ended, while the managers that were started before still run.
func removeLast(t *testing.T, kymas []*v1beta2.Kyma) {
	t.Helper()
	t.Cleanup(func() {
		for _, kyma := range kymas {
			_ = env.Hub.Client.Delete(context.Background(), kyma)
		}
		eventually(t, longer, func() error {
			left := &v1beta2.ManifestList{}
			if err := env.Hub.Client.List(context.Background(), left); err != nil {
				return err
			}
			if len(left.Items) > 0 {
				return fmt.Errorf("%d Manifests are left", len(left.Items))
			}
			return nil
		})
	})
}

// ready waits until all Kymas run a version of their module.
func ready(t *testing.T, within time.Duration, version string, kymas ...*v1beta2.Kyma) {
	t.Helper()
	eventually(t, within, func() error {
		for _, kyma := range kymas {
			live := &v1beta2.Kyma{}
			if err := env.Hub.Client.Get(context.Background(), client.ObjectKeyFromObject(kyma), live); err != nil {
				return err
			}
			if live.Status.State != v1beta2.StateReady || len(live.Status.Modules) != 1 || live.Status.Modules[0].Version != version {
				text, _ := json.Marshal(live.Status)
				return fmt.Errorf("%s is not Ready with %s: %s", kyma.Name, version, text)
			}
		}
		return nil
	})
}

// upgrade moves the channel of all modules.
func upgrade(version string, kymas ...*v1beta2.Kyma) {
	for _, kyma := range kymas {
		env.Point(kyma.Spec.Modules[0].Name, version, "regular")
	}
}

// held returns the Lease with a name.
func held(t *testing.T, name string) *coordinationv1.Lease {
	t.Helper()
	found := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}}
	if err := env.Hub.Client.Get(context.Background(), client.ObjectKeyFromObject(found), found); err != nil {
		t.Fatal(err)
	}
	return found
}
