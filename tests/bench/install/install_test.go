package install

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// size is R: how many objects the module has.
const size = 20

// BenchmarkCreateToReady creates Kymas with one module of 20 objects without workload, one after the other, each in Ready before the next
// begins. It reports the median and the 99th percentile in milliseconds, the bare loop's median, and the counted writes of each install.
func BenchmarkCreateToReady(b *testing.B) {
	gomega.RegisterTestingT(b)
	env, err := testkit.Launch(context.Background(), testkit.Options{Runtimes: 1, Quiet: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = env.Stop() })
	m := &meter{}
	run(b, env, m)
	module := testkit.Unique("maps")
	env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", size), "regular")
	install(b, env, m, module) // the first one also makes kyma-system and fetches the content

	m.hubWrites, m.runtimeWrites = 0, 0
	var times, bare []time.Duration
	for b.Loop() {
		times = append(times, install(b, env, m, module))
		bare = append(bare, loop(b, env.Runtimes[0]))
	}
	n := float64(len(times))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(percentile(times, 50), "p50-ms")
	b.ReportMetric(percentile(times, 99), "p99-ms")
	b.ReportMetric(percentile(bare, 50), "bare-p50-ms")
	b.ReportMetric(percentile(times, 50)/percentile(bare, 50), "p50/bare")
	b.ReportMetric(float64(m.hubWrites)/n, "hub-writes/op")
	b.ReportMetric(float64(m.runtimeWrites)/n, "runtime-writes/op")
}

// meter counts the manager's calls, and the writes of the installations alone.
type meter struct {
	hub, runtime             calls.Counter
	hubWrites, runtimeWrites int
}

func run(b *testing.B, env *testkit.Env, m *meter, changes ...func(*setup.Config)) {
	b.Helper()
	config := setup.Defaults()
	config.RegistryHost, config.MetricsAddress, config.ProbeAddress = "http://"+env.Registry.Host, "0", "0"
	config.ContentDir = b.TempDir()
	for _, change := range changes {
		change(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	hooks := setup.Hooks{WrapHub: m.hub.Wrap, WrapRuntime: m.runtime.Wrap, AllowManyManagers: true}
	access := env.ManagerConfig("config/local")
	go func() { done <- setup.Run(ctx, access, config, logr.Discard(), hooks) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
}

// install creates a Kyma, takes the time until it says Ready, and removes it again.
func install(b *testing.B, env *testkit.Env, m *meter, module string) time.Duration {
	b.Helper()
	ctx := context.Background()
	kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module))
	env.AccessSecret(kyma.Name, env.Runtimes[0])
	watcher, err := env.Hub.Client.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(kyma.Namespace))
	if err != nil {
		b.Fatal(err)
	}
	defer watcher.Stop()
	hub, runtime, begin := m.hub.Snapshot(), m.runtime.Snapshot(), time.Now()
	if err := env.Hub.Client.Create(ctx, kyma); err != nil {
		b.Fatal(err)
	}
	for event := range watcher.ResultChan() {
		seen, ok := event.Object.(*v1beta2.Kyma)
		if !ok || seen.Name != kyma.Name || event.Type == watch.Deleted || !conditions.IsTrue(seen.Status.Conditions, v1beta2.ConditionReady) {
			continue
		}
		took := time.Since(begin)
		m.hubWrites += m.hub.Since(hub).Writes().Total()
		m.runtimeWrites += m.runtime.Since(runtime).Writes().Total()
		remove(b, env, kyma)
		return took
	}
	b.Fatal("the watch ended before the Kyma was Ready")
	return 0
}

func remove(b *testing.B, env *testkit.Env, kyma *v1beta2.Kyma) {
	b.Helper()
	b.StopTimer()
	defer b.StartTimer()
	env.Hub.Delete(kyma)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if gone, err := testkit.Gone(env.Hub, kyma)(); err == nil && gone {
			return
		}
	}
	b.Fatalf("Kyma %s is not gone after a minute", kyma.Name)
}

// loop returns the limit: the same objects, created one after the other by a plain client.
func loop(b *testing.B, runtime *testkit.Cluster) time.Duration {
	b.Helper()
	ctx, name := context.Background(), testkit.Unique("bare")
	begin := time.Now()
	for i := range size {
		object := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("%s-%d", name, i)},
			Data:       map[string]string{"version": "1.0.0"},
		}
		if err := runtime.Client.Create(ctx, object); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begin)
}

func percentile(times []time.Duration, p int) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return float64(sorted[(len(sorted)-1)*p/100].Microseconds()) / 1000
}
