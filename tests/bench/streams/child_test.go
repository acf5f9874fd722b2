package streams

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// childKey is the environment variable that makes this program the child.
const childKey = "STREAMS_BENCH_CHILD"

// order is what the child is told: connect to these runtimes, then measure.
type order struct {
	Connect []access `json:"connect,omitempty"`
	Kinds   int      `json:"kinds,omitempty"`
}

type access struct {
	Name       string `json:"name"`
	Kubeconfig []byte `json:"kubeconfig"`
}

// measurement is the memory of the child, in bytes.
type measurement struct {
	Heap       int64 `json:"heap"`
	Stacks     int64 `json:"stacks"`
	PSS        int64 `json:"pss"`
	Goroutines int64 `json:"goroutines"`
}

func (m measurement) plus(o measurement) measurement {
	return measurement{m.Heap + o.Heap, m.Stacks + o.Stacks, m.PSS + o.PSS, m.Goroutines + o.Goroutines}
}

func (m measurement) minus(o measurement) measurement {
	return measurement{m.Heap - o.Heap, m.Stacks - o.Stacks, m.PSS - o.PSS, m.Goroutines - o.Goroutines}
}

// child obeys orders until no one gives any.
func child() {
	secrets := &fakeSecrets{}
	connected := clustercache.New(clustercache.Config{Hub: &rest.Config{}, Secrets: secrets, SecretIndexed: true})
	orders, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fail(err)
		}
		for _, a := range o.Connect {
			if err := connect(connected, secrets, a, kinds[:o.Kinds]); err != nil {
				fail(err)
			}
		}
		if err := answers.Encode(now()); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// connect tracks the kinds of one runtime and waits until they are known. As in the real thing, the Secret is another user's memory.
func connect(connected *clustercache.Clusters, secrets *fakeSecrets, a access, interests []runtimes.Interest) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	secrets.secret = corev1.Secret{Data: map[string][]byte{v1beta2.AccessSecretKey: a.Kubeconfig}}
	defer func() { secrets.secret = corev1.Secret{} }()
	r, err := connected.Get(ctx, clustercache.Target{Namespace: v1beta2.DefaultNamespace, Name: a.Name})
	if err != nil {
		return err
	}
	owner := types.NamespacedName{Namespace: v1beta2.DefaultNamespace, Name: a.Name}
	r.Track(owner, interests)
	for {
		synced, problem := r.Synced(owner)
		switch {
		case problem != nil:
			return problem
		case synced:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
		<-time.After(time.Millisecond)
	}
}

// fakeSecrets holds the Secret that is requested next.
type fakeSecrets struct {
	client.Reader
	secret corev1.Secret
}

func (s *fakeSecrets) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*corev1.SecretList).Items = []corev1.Secret{s.secret}
	return nil
}

// now measures after garbage and the stacks that grew for it are gone.
func now() measurement {
	for range 5 { // a stack is halved once per collection
		runtime.GC()
		<-time.After(100 * time.Millisecond)
	}
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return measurement{
		Heap: int64(stats.HeapAlloc), Stacks: int64(stats.StackInuse), PSS: pss(), Goroutines: int64(runtime.NumGoroutine()),
	}
}

// pss returns the proportional set size that the kernel tells; 0 where it does not.
func pss() int64 {
	file, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		return 0
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kib int64
		if text, ok := strings.CutPrefix(lines.Text(), "Pss:"); ok {
			_, _ = fmt.Sscanf(text, "%d", &kib)
			return kib << 10
		}
	}
	return 0
}
