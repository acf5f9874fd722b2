package tracing

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const namespace = "kcp-system"

var manifestKey = types.NamespacedName{Namespace: namespace, Name: "one-istio"}

// bench is Traces with a clock, whose spans are kept.
type bench struct {
	*Traces

	t        *testing.T
	recorded *tracetest.SpanRecorder
	clock    time.Time
	// answer is what the cluster answers to requests.
	answer func(*http.Request) (*http.Response, error)
	hub    http.RoundTripper
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, recorded: tracetest.NewSpanRecorder(), clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	b.Traces = New(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b.recorded)).Tracer("test"))
	b.now = func() time.Time { return b.clock }
	b.answer = func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: http.StatusOK}, nil }
	b.hub = b.Transport("hub")(b)
	return b
}

// RoundTrip is the cluster.
func (b *bench) RoundTrip(req *http.Request) (*http.Response, error) { return b.answer(req) }

// send makes a request of the pass of a context.
func (b *bench) send(ctx context.Context, method, url string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if resp, err := b.hub.RoundTrip(req); err == nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
}

const manifestsURL = "https://hub:6443/apis/operator.kyma-project.io/v1beta2/namespaces/kcp-system/manifests/one-istio"

// kymaPass is a pass of a Kyma in a generation that writes a Manifest, if written is not nil, and finds a state.
func (b *bench) kymaPass(generation int64, written *v1beta2.Manifest, state v1beta2.State) {
	ctx, pass := b.BeginKyma(b.t.Context(), &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one", Generation: generation}})
	if written != nil {
		asked := b.Asking(ctx, manifestKey)
		b.send(ctx, http.MethodPatch, manifestsURL)
		asked(written, nil)
	}
	b.send(ctx, http.MethodPut, "https://hub:6443/apis/operator.kyma-project.io/v1beta2/namespaces/kcp-system/kymas/one/status")
	pass.End(state, nil)
}

// manifestPass is a pass of a Manifest that sends a request and ends phases; Ready is the last one.
func (b *bench) manifestPass(m *v1beta2.Manifest, phases ...string) {
	ctx, pass := b.BeginManifest(b.t.Context(), m)
	b.send(ctx, http.MethodPatch, "https://runtime/apis/apps/v1/namespaces/istio-system/deployments/istiod")
	for _, phase := range phases {
		b.Phase(manifestKey, "istio", phase, phase == "ready", b.clock.Add(-time.Second), b.clock)
	}
	pass.End(v1beta2.StateReady, nil)
}

// manifest returns the Manifest in a generation, of which its status observes another one.
func manifest(generation, observed int64) *v1beta2.Manifest {
	return &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: manifestKey.Name, Generation: generation,
			Labels: map[string]string{v1beta2.LabelModuleName: "istio", v1beta2.LabelKymaName: "one"},
		},
		Status: v1beta2.ManifestStatus{ObservedGeneration: observed},
	}
}

// traces returns each trace as the names of its spans in the order of their beginnings, below their parents: "Kyma reconcile(PATCH ...)".
func (b *bench) traces() []string {
	spans := b.recorded.Ended()
	order := map[string]int{}
	for i, started := range b.recorded.Started() {
		order[started.SpanContext().SpanID().String()] = i
	}
	slices.SortFunc(spans, func(x, y sdktrace.ReadOnlySpan) int {
		return order[x.SpanContext().SpanID().String()] - order[y.SpanContext().SpanID().String()]
	})
	var below func(parent sdktrace.ReadOnlySpan) string
	below = func(parent sdktrace.ReadOnlySpan) string {
		var children []string
		for _, s := range spans {
			if s.Parent().SpanID() == parent.SpanContext().SpanID() && s.Parent().TraceID() == parent.SpanContext().TraceID() {
				children = append(children, below(s))
			}
		}
		name := parent.Name() + strings.Repeat("*", len(parent.Links()))
		if len(children) == 0 {
			return name
		}
		return name + "(" + strings.Join(children, ", ") + ")"
	}
	var found []string
	for _, s := range spans {
		if !s.Parent().IsValid() {
			found = append(found, below(s))
		}
	}
	return found
}

// attributes returns those of the only span with a name.
func (b *bench) attributes(name string) map[string]string {
	b.t.Helper()
	for _, s := range b.recorded.Ended() {
		if s.Name() == name {
			found := map[string]string{"status": s.Status().Code.String() + s.Status().Description}
			for _, a := range s.Attributes() {
				found[string(a.Key)] = a.Value.String()
			}
			return found
		}
	}
	b.t.Fatalf("no span %q", name)
	return nil
}

var errSecret = errors.New("dial: token s3cret refused")
