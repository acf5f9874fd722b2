package install

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	bulkKymas   = 20
	bulkModules = 5
	bulkObjects = 10
)

// BenchmarkBulk creates 20 Kymas with five modules of ten objects each at once and takes the time until all are Ready. Each Kyma has
// modules of its own, because all of them lead to one runtime here.
func BenchmarkBulk(b *testing.B) {
	gomega.RegisterTestingT(b)
	env, err := testkit.Launch(context.Background(), testkit.Options{Runtimes: 1, Quiet: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = env.Stop() })
	m := &meter{}
	run(b, env, m)
	for b.Loop() {
		b.StopTimer()
		kymas := bulk(env)
		hub, runtime := m.hub.Snapshot(), m.runtime.Snapshot()
		b.StartTimer()
		begin := time.Now()
		for _, kyma := range kymas {
			env.Hub.Create(kyma)
		}
		awaitReady(b, env, kymas)
		took := time.Since(begin)
		written := m.runtime.Since(runtime).Writes().Total()
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(took.Seconds(), "all-ready-s")
		b.ReportMetric(float64(written)/took.Seconds(), "objects/s")
		b.ReportMetric(float64(m.hub.Since(hub).Writes().Total())/float64(len(kymas)), "hub-writes/kyma")
		b.ReportMetric(float64(written)/float64(len(kymas)), "runtime-writes/kyma")
		b.StopTimer()
		for _, kyma := range kymas {
			remove(b, env, kyma)
		}
	}
}

// bulk publishes modules and returns Kymas that want them.
func bulk(env *testkit.Env) []*v1beta2.Kyma {
	kymas := make([]*v1beta2.Kyma, 0, bulkKymas)
	for range bulkKymas {
		kyma := testkit.Kyma(testkit.Unique("kyma"))
		for range bulkModules {
			module := testkit.Unique("maps")
			env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", bulkObjects), "regular")
			testkit.WithModule(module)(kyma)
		}
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		kymas = append(kymas, kyma)
	}
	return kymas
}

func awaitReady(b *testing.B, env *testkit.Env, kymas []*v1beta2.Kyma) {
	b.Helper()
	wanted := map[string]bool{}
	for _, kyma := range kymas {
		wanted[kyma.Name] = true
	}
	watcher, err := env.Hub.Client.Watch(context.Background(), &v1beta2.KymaList{}, client.InNamespace(kymas[0].Namespace))
	if err != nil {
		b.Fatal(err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if seen, ok := event.Object.(*v1beta2.Kyma); ok && conditions.IsTrue(seen.Status.Conditions, v1beta2.ConditionReady) {
			delete(wanted, seen.Name)
		}
		if len(wanted) == 0 {
			return
		}
	}
	b.Fatal("the watch ended before all Kymas were Ready")
}
