package install

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	// largeObjects of largeText bytes each are 5 MB of YAML.
	largeObjects = 2000
	largeText    = 2400
	// largeWorkers is how many writes are under way at once in the bare loop; the engine has as many.
	largeWorkers = 8
	// unlimited calls a second: the limit for a runtime is a setting, and not what is measured here.
	unlimited = 1e6
)

// BenchmarkLarge installs one module of 2,000 objects (5 MB of YAML) and compares it with a bare loop of server-side applies of the same
// objects by as many workers. It reports objects per second of both and their ratio, and how far memory rose above idle.
func BenchmarkLarge(b *testing.B) {
	gomega.RegisterTestingT(b)
	env, err := testkit.Launch(context.Background(), testkit.Options{Runtimes: 1, Quiet: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = env.Stop() })
	m := &meter{}
	run(b, env, m, func(c *setup.Config) { c.RuntimeQPS, c.RuntimeBurst = unlimited, unlimited })
	for b.Loop() {
		b.StopTimer()
		module := testkit.Unique("large")
		env.Offer(module, "1.0.0", large(module), "regular")
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module))
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		bare := bareApply(b, env.Runtimes[0].Config)
		runtime.GC()
		idle := heap()
		stop := watchHeap()
		b.StartTimer()
		begin := time.Now()
		env.Hub.Create(kyma)
		awaitReady(b, env, []*v1beta2.Kyma{kyma})
		took := time.Since(begin)
		peak := stop()
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(largeObjects/took.Seconds(), "objects/s")
		b.ReportMetric(largeObjects/bare.Seconds(), "bare-objects/s")
		b.ReportMetric(bare.Seconds()/took.Seconds(), "of-bare")
		b.ReportMetric(float64(peak-idle)/(1<<20), "MiB-above-idle")
		remove(b, env, kyma)
	}
}

func text(seed int) string { return strings.Repeat(fmt.Sprintf("%06d ", seed), largeText/7) }

func large(module string) testkit.Content {
	var content testkit.Content
	for i := range largeObjects {
		content.Objects = append(content.Objects, configMap(fmt.Sprintf("%s-%04d", module, i), i))
	}
	return content
}

func configMap(name string, seed int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": metav1.NamespaceDefault},
		"data": map[string]any{"text": text(seed)},
	}}
}

// bareApply returns the limit: the same objects, applied by a plain client.
func bareApply(b *testing.B, config *rest.Config) time.Duration {
	b.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(metav1.NamespaceDefault)
	name, ctx := testkit.Unique("bare"), context.Background()
	var next atomic.Int64
	var group sync.WaitGroup
	begin := time.Now()
	for range largeWorkers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < largeObjects; i = int(next.Add(1)) - 1 {
				object := configMap(fmt.Sprintf("%s-%04d", name, i), i)
				if _, err := maps.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "bare", Force: true}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return time.Since(begin)
}

// heap returns what objects take, garbage that was not yet collected included.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watchHeap looks at the heap until it is told to stop, and gives the largest that it saw.
func watchHeap() (stop func() uint64) {
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		peak := heap()
		for {
			select {
			case <-ticker.C:
				peak = max(peak, heap())
			case <-done:
				result <- peak
				return
			}
		}
	}()
	return func() uint64 { close(done); return <-result }
}
