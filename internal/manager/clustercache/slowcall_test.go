package clustercache

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/workerslot"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// passes starts requests one after the other, each with its own worker slot.
type passes struct {
	turns workerslot.Pool
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func newPasses(t *testing.T) *passes {
	t.Helper()
	p := &passes{}
	options := p.turns.Configure(controller.Options{MaxConcurrentReconciles: 100}, nil)
	p.queue = options.NewQueue(t.Name(), workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(p.queue.ShutDown)
	return p
}

// begin returns the context of a request, and the function that ends it.
func (p *passes) begin(t *testing.T, name string) (ctx context.Context, end func()) {
	t.Helper()
	p.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	request, _ := p.queue.Get()
	return p.turns.With(t.Context(), request), func() { p.queue.Done(request) }
}

func readMapOf(ctx context.Context, r *Runtime, name string) error {
	_, err := r.Cluster().Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
		Namespace("ns").Get(ctx, name, metav1.GetOptions{})
	return err
}

func TestSlowCall_LateResponseYieldsSlot(t *testing.T) {
	b, s, p := newBench(t, nil), newStub(t), newPasses(t)
	let := make(chan struct{})
	s.on("GET /api/v1/namespaces/ns/configmaps/fast", jsonAnswer(`{"apiVersion":"v1","kind":"ConfigMap"}`))
	s.on("GET /api/v1/namespaces/ns/configmaps/late", func(w http.ResponseWriter, req *http.Request) {
		<-let
		jsonAnswer(`{"apiVersion":"v1","kind":"ConfigMap"}`)(w, req)
	})
	r := b.mustGet(t, b.remote(t, "late", s.config()))
	for range 5 { // as fast as this machine is
		if err := readMapOf(t.Context(), r, "fast"); err != nil {
			t.Fatal(err)
		}
	}
	b.tempo.mean.Store(int64(time.Hour)) // a busy machine may answer late itself

	ctx, end := p.begin(t, "fast")
	if err := readMapOf(ctx, r, "fast"); err != nil {
		t.Fatal(err)
	}
	if n := p.turns.Yielded(); n != 0 {
		t.Errorf("%d passes yielded, and nothing was late", n)
	}
	end()

	b.tempo.mean.Store(0)
	ctx, end = p.begin(t, "late")
	answered := make(chan error)
	go func() { answered <- readMapOf(ctx, r, "late") }()
	eventually(t, "the pass yields", func() bool { return p.turns.Yielded() == 1 })
	b.tempo.mean.Store(int64(time.Hour))
	second, endSecond := p.begin(t, "second")
	go func() { answered <- readMapOf(second, r, "late") }()
	eventually(t, "another one for the same runtime yields at once", func() bool { return p.turns.Yielded() == 2 })
	close(let)
	for range 2 {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	end()
	endSecond()
	if late, yielded := r.conn.late.Load(), p.turns.Yielded(); late != 0 || yielded != 0 {
		t.Errorf("%d calls are late and %d passes without a turn when all is answered", late, yielded)
	}
	ctx, end = p.begin(t, "again")
	defer end()
	if err := readMapOf(ctx, r, "fast"); err != nil || p.turns.Yielded() != 0 {
		t.Errorf("%v, and %d passes yielded to a runtime that answers again", err, p.turns.Yielded())
	}
}

func TestSlowCall_SlowBodyYieldsSlot(t *testing.T) {
	b, s, p := newBench(t, nil), newStub(t), newPasses(t)
	let := make(chan struct{})
	s.on("GET /api/v1/namespaces/ns/configmaps/drips", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1",`))
		w.(http.Flusher).Flush()
		<-let
		_, _ = w.Write([]byte(`"kind":"ConfigMap"}`))
	})
	r := b.mustGet(t, b.remote(t, "drips", s.config()))
	ctx, end := p.begin(t, "drips")
	defer end()
	answered := make(chan error)
	go func() { answered <- readMapOf(ctx, r, "drips") }()
	eventually(t, "the pass yields", func() bool { return p.turns.Yielded() == 1 })
	close(let)
	if err := <-answered; err != nil || r.conn.late.Load() != 0 {
		t.Errorf("%v, %d calls are late", err, r.conn.late.Load())
	}
}

func TestSlowCall_WaitingOnMutexYieldsSlot(t *testing.T) {
	b, s, p := newBench(t, nil), newStub(t), newPasses(t)
	let := make(chan struct{})
	s.on("GET /apis/late.test/v1", func(w http.ResponseWriter, req *http.Request) {
		<-let
		jsonAnswer(`{"kind":"APIResourceList","groupVersion":"late.test/v1","resources":[{"name":"things","kind":"Thing","verbs":["get"]}]}`)(w, req)
	})
	r := b.mustGet(t, b.remote(t, "asked", s.config()))
	var running sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		ctx, end := p.begin(t, name)
		running.Go(func() {
			defer end()
			if _, err := r.Cluster().Resource(ctx, schema.GroupVersionKind{Group: "late.test", Version: "v1", Kind: "Thing"}); err != nil {
				t.Error(err)
			}
		})
	}
	errand, end := p.begin(t, "errand")
	defer end()
	inside := make(chan struct{})
	running.Go(func() { _ = r.Once(t.Context(), "errand", func() error { close(inside); <-let; return nil }) })
	<-inside
	running.Go(func() { _ = r.Once(errand, "errand", func() error { return errors.New("done already") }) })
	eventually(t, "all of them yield", func() bool { return p.turns.Yielded() == 4 })
	close(let)
	running.Wait()
	if n := b.calls.count("GET /apis/late.test/v1"); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestCtxMutex_CancelledWaiterDoesNotHoldIt(t *testing.T) {
	c := &connection{ctx: t.Context()}
	d := c.newMutex()
	leave, err := d.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("entered with %v", err)
	}
	leave()
	if _, err := d.enter(t.Context()); err != nil {
		t.Error(err)
	}
}

// hole forwards to a server, and can be made to drop all data, as a firewall that drops packets does.
type hole struct {
	net.Listener
	address string
	black   atomic.Bool
	dials   atomic.Int64
}

// holed returns a server behind a hole.
func holed(t *testing.T, s *stub) (*hole, *rest.Config) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hole{Listener: l, address: s.Listener.Addr().String()}
	t.Cleanup(func() { _ = l.Close() })
	go h.serve()
	cfg := s.config()
	cfg.Host = "https://" + l.Addr().String()
	return h, cfg
}

func (h *hole) serve() {
	for {
		conn, err := h.Accept()
		if err != nil {
			return
		}
		h.dials.Add(1)
		to, err := net.Dial("tcp", h.address)
		if err != nil {
			_ = conn.Close()
			continue
		}
		go h.pump(conn, to)
		go h.pump(to, conn)
	}
}

func (h *hole) pump(from, to net.Conn) {
	defer func() { _ = from.Close(); _ = to.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if !h.black.Load() {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
}

func TestSlowCall_SilentServerIsDetectedOnce(t *testing.T) {
	b, s, p := newBench(t, nil), newStub(t), newPasses(t)
	s.on("GET /api/v1/namespaces/ns/configmaps/a", jsonAnswer(`{"apiVersion":"v1","kind":"ConfigMap"}`))
	h, cfg := holed(t, s)
	target := b.remote(t, "silent", cfg)
	r := b.mustGet(t, target)
	if err := readMapOf(t.Context(), r, "a"); err != nil {
		t.Fatal(err)
	}
	h.black.Store(true)
	dials, begun := h.dials.Load(), time.Now()
	var calls sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		ctx, end := p.begin(t, name)
		calls.Go(func() {
			defer end()
			err := readMapOf(ctx, r, "a")
			if apply.Classify(err) != apply.ClassUnreachable || !errors.Is(err, h2stream.ErrSilent) {
				t.Errorf("%v, want that the server has fallen silent", err)
			}
			r.Report(err)
		})
	}
	eventually(t, "all passes yield", func() bool { return p.turns.Yielded() == 4 })
	if took := time.Since(begun); took > pingCalls+pongCalls {
		t.Errorf("they yielded after %s", took)
	}
	calls.Wait()
	if took := time.Since(begun); took > pingCalls+pongCalls+10*time.Second {
		t.Errorf("found out after %s", took)
	}
	asked := time.Now()
	if _, err := b.Get(t.Context(), target); err == nil || time.Since(asked) > 10*time.Second {
		t.Errorf("a silent runtime was handed out (%v) after %s", err, time.Since(asked))
	}
	if n := h.dials.Load() - dials; n > 1 {
		t.Errorf("%d dials until everyone knows", n)
	}
	h.black.Store(false)
	eventually(t, "it is found again", func() bool { _, err := b.Get(t.Context(), target); return err == nil })
}

// A call without delay costs a timer, in a reconcile request or outside.
func BenchmarkWait(b *testing.B) {
	turns := workerslot.Pool{}
	options := turns.Configure(controller.Options{MaxConcurrentReconciles: 1}, nil)
	queue := options.NewQueue("bench", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	queue.Add(reconcile.Request{})
	request, _ := queue.Get()
	c := &connection{tempo: &latencyTracker{}}
	for name, ctx := range map[string]context.Context{"in a pass": turns.With(b.Context(), request), "of no one's pass": b.Context()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := c.startSlowCall(ctx)
				c.tempo.answered(time.Millisecond)
				w.endWait()
			}
		})
	}
}
