package install

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// BenchmarkConsent offers version after version of a module that asks for consent, and gives it. It reports the time from the write that
// gives consent until the first object of the version is in the runtime, in milliseconds.
func BenchmarkConsent(b *testing.B) {
	gomega.RegisterTestingT(b)
	env, err := testkit.Launch(context.Background(), testkit.Options{Runtimes: 1, Quiet: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = env.Stop() })
	run(b, env, &meter{})
	module := testkit.Unique("maps")
	env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", size), "regular")
	kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module))
	kyma.Spec.Modules[0].UpgradeStrategy = v1beta2.UpgradeManual
	env.AccessSecret(kyma.Name, env.Runtimes[0])
	env.Hub.Create(kyma)
	asked := func(version string) string { return askedFor(b, env, kyma, version) }
	asked("") // 1.0.0 runs, and needs no consent

	var times []time.Duration
	for i := 1; b.Loop(); i++ {
		version := fmt.Sprintf("1.%d.0", i)
		env.Offer(module, version, testkit.ConfigMaps(module, version, size), "regular")
		times = append(times, consent(b, env, kyma, module, version, version+"@"+asked(version)))
		asked("")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(percentile(times, 50), "p50-ms")
	b.ReportMetric(percentile(times, 99), "p99-ms")
}

// consent agrees to a version and returns how long it took until its first object was in the runtime.
func consent(b *testing.B, env *testkit.Env, kyma *v1beta2.Kyma, module, version, reference string) time.Duration {
	b.Helper()
	watcher, err := env.Runtimes[0].Client.Watch(context.Background(), &corev1.ConfigMapList{}, client.InNamespace(metav1.NamespaceDefault))
	if err != nil {
		b.Fatal(err)
	}
	defer watcher.Stop()
	agreed := kyma.DeepCopy()
	agreed.Spec.Modules[0].Approved = reference
	begin := time.Now()
	if err := env.Hub.Client.Patch(context.Background(), agreed, client.MergeFrom(kyma)); err != nil {
		b.Fatal(err)
	}
	for event := range watcher.ResultChan() {
		if written, ok := event.Object.(*corev1.ConfigMap); ok && event.Type != watch.Deleted && written.Data["version"] == version {
			return time.Since(begin)
		}
	}
	b.Fatalf("the watch ended before %s of %s was installed", version, module)
	return 0
}

// askedFor waits until a ready Kyma asks for consent to a version, or to none where that is empty, and returns the version's digest.
func askedFor(b *testing.B, env *testkit.Env, kyma *v1beta2.Kyma, version string) string {
	b.Helper()
	digest := ""
	err := wait.PollUntilContextTimeout(context.Background(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := env.Hub.Client.Get(ctx, client.ObjectKeyFromObject(kyma), kyma); err != nil {
			return false, err
		}
		if kyma.Status.State != v1beta2.StateReady || len(kyma.Status.Modules) == 0 {
			return false, nil
		}
		pending := kyma.Status.Modules[0].Pending
		if pending == nil || version == "" {
			return pending == nil && version == "", nil
		}
		digest = pending.Digest
		return pending.Version == version && len(pending.From) > 0, nil
	})
	if err != nil {
		b.Fatalf("no question for consent to %q: %v: %+v", version, err, kyma.Status.Modules)
	}
	return digest
}
