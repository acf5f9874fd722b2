package streams

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

const (
	connections = 100
	// warm is how many connections are connected before the first measurement, so that what is paid once is not charged to the others.
	warm = 5
	// objects per kind: with 8 kinds as many as four modules of 20 have.
	objects = 10
	// forget is how long net/http remembers a connection that it has closed.
	forget = 12 * time.Second
)

// kinds are watched in this order.
var kinds = []runtimes.Interest{
	{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Mode: runtimes.Workload},
	{GroupVersionKind: schema.GroupVersionKind{Group: "operator.test", Version: "v1alpha1", Kind: "Sample"}, Mode: runtimes.ModuleCR},
	{GroupVersionKind: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}},
	{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}},
	{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Service"}},
	{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}},
	{GroupVersionKind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}},
	{GroupVersionKind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"}},
}

func TestMain(m *testing.M) {
	if os.Getenv(childKey) != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

// BenchmarkMemoryPerRuntime reports KiB for each connected runtime with 1, 3 and 8 kinds: live heap with goroutine stacks, and what the
// operating system sees (PSS). It takes a minute, most of which is waiting until connections that no one uses are closed.
func BenchmarkMemoryPerRuntime(b *testing.B) {
	counts := []int{1, 3, 8}
	sums := make([]measurement, len(counts))
	rounds := 0
	for b.Loop() {
		var children sync.WaitGroup
		for i, n := range counts {
			fleet, obey := serve(b, warm+connections), start(b)
			children.Go(func() { sums[i] = sums[i].plus(measure(b, fleet, obey, n)) })
		}
		children.Wait()
		rounds++
	}
	b.ReportMetric(0, "ns/op")
	for i, n := range counts {
		per := 1024 * float64(connections) * float64(rounds)
		b.ReportMetric(float64(sums[i].Heap+sums[i].Stacks)/per, fmt.Sprintf("%d-kinds-live-KiB", n))
		b.ReportMetric(float64(sums[i].PSS)/per, fmt.Sprintf("%d-kinds-PSS-KiB", n))
		b.ReportMetric(float64(sums[i].Goroutines)/float64(connections*rounds), fmt.Sprintf("%d-kinds-goroutines", n))
	}
}

// measure has a child connect: warm connections first, then those that count. It tells what the latter cost.
func measure(b *testing.B, fleet *virtual, obey func(order) measurement, n int) measurement {
	b.Helper()
	obey(order{Connect: fleet.access(0, warm), Kinds: n})
	fleet.await(b, warm*n)
	fleet.settle(b, warm)
	<-time.After(forget)
	before := obey(order{})
	obey(order{Connect: fleet.access(warm, warm+connections), Kinds: n})
	fleet.await(b, (warm+connections)*n)
	fleet.stir()
	fleet.settle(b, warm+connections)
	<-time.After(forget)
	return obey(order{}).minus(before)
}

// start runs this program again as a child that obeys orders.
func start(b *testing.B) (obey func(order) measurement) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childKey+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	orders, answers := json.NewEncoder(in), json.NewDecoder(out)
	return func(o order) (m measurement) {
		b.Helper()
		if err := errors.Join(orders.Encode(o), answers.Decode(&m)); err != nil {
			b.Errorf("the child does not obey: %v", err)
			runtime.Goexit()
		}
		return m
	}
}
