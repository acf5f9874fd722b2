package tracing

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// longestChange is for how long passes belong to the trace of the change that they carry out. What takes longer, such as a module that
// never becomes ready, gets a new trace then, so that none grows without end.
const longestChange = time.Hour

// Traces begins the spans of passes. A nil Traces records nothing.
type Traces struct {
	tracer trace.Tracer
	now    func() time.Time

	// mu is taken before the lock of a Pass, never after it.
	mu sync.Mutex
	// kymas and manifests hold the changes that are under way.
	kymas, manifests map[types.NamespacedName]*change
}

// change is what a pass asked for and is not carried out yet.
type change struct {
	origin *Pass
	// generation is that of the object which asks for it; zero while it is not known, and for deletions.
	generation int64
	begun      time.Time
}

// New returns Traces whose spans a tracer records.
func New(tracer trace.Tracer) *Traces {
	return &Traces{
		tracer: tracer, now: time.Now,
		kymas: map[types.NamespacedName]*change{}, manifests: map[types.NamespacedName]*change{},
	}
}

// BeginKyma returns the pass of a Kyma that begins, and the context for everything that it does.
func (t *Traces) BeginKyma(ctx context.Context, kyma *v1beta2.Kyma) (context.Context, *Pass) {
	if t == nil {
		return ctx, nil
	}
	p := t.newPass("Kyma reconcile", kyma)
	p.ofKyma = true
	p.attributes = []attribute.KeyValue{
		attrNamespace.String(kyma.Namespace), attrKyma.String(kyma.Name), attrGeneration.Int64(kyma.Generation),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.joinLocked(p, t.kymas[p.key])
	return context.WithValue(ctx, passKey{}, p), p
}

// BeginManifest returns the pass of a Manifest that begins, and the context for everything that it does. It is called before the phases of
// the Manifest are told of the pass.
func (t *Traces) BeginManifest(ctx context.Context, m *v1beta2.Manifest) (context.Context, *Pass) {
	if t == nil {
		return ctx, nil
	}
	p := t.newPass("Manifest reconcile", m)
	p.attributes = []attribute.KeyValue{attrNamespace.String(m.Namespace), attrManifest.String(m.Name), attrGeneration.Int64(m.Generation)}
	if kyma := m.Labels[v1beta2.LabelKymaName]; kyma != "" {
		p.attributes = append(p.attributes, attrKyma.String(kyma), attrModule.String(m.Labels[v1beta2.LabelModuleName]))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.joinLocked(p, t.manifests[p.key])
	if p.origin == nil && m.DeletionTimestamp.IsZero() && m.Status.ObservedGeneration != m.Generation {
		t.manifests[p.key] = &change{origin: p, generation: m.Generation, begun: p.begun} // of no Kyma, or asked for before this process
	}
	return context.WithValue(ctx, passKey{}, p), p
}

// joinLocked puts a pass into the trace of the change that it carries out. Of a change that another one has overtaken it gets a link.
func (t *Traces) joinLocked(p *Pass, under *change) {
	switch {
	case under == nil, under.origin.isVoid():
	case p.begun.Sub(under.begun) > longestChange, under.generation != 0 && under.generation != p.generation:
		p.overtaken = under.origin
	default:
		p.origin = under.origin
	}
}

// Asking records that the pass of a context is about to write or delete a Manifest: the first pass of the Manifest may begin before the
// write has its response. The result is called with that.
func (t *Traces) Asking(ctx context.Context, manifest types.NamespacedName) func(written *v1beta2.Manifest, err error) {
	if t == nil {
		return ignoreWritten
	}
	p := passOf(ctx)
	if p == nil {
		return ignoreWritten
	}
	p.spanContext()
	t.mu.Lock()
	defer t.mu.Unlock()
	before, asked := t.manifests[manifest], &change{origin: p, begun: t.now()}
	t.manifests[manifest] = asked
	return func(written *v1beta2.Manifest, err error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case t.manifests[manifest] != asked: // carried out already
		case err == nil && written == nil: // deleted
		case err == nil && written.Status.ObservedGeneration != written.Generation:
			asked.generation = written.Generation
		case before == nil:
			delete(t.manifests, manifest)
		default:
			t.manifests[manifest] = before
		}
	}
}

func ignoreWritten(*v1beta2.Manifest, error) {}

// Phase records a phase of an installation or an upgrade that has ended. After the last one the change is carried out.
func (t *Traces) Phase(manifest types.NamespacedName, module, phase string, last bool, from, to time.Time) {
	if t == nil {
		return
	}
	t.mu.Lock()
	under := t.manifests[manifest]
	if last {
		delete(t.manifests, manifest)
	}
	t.mu.Unlock()
	if under == nil {
		return
	}
	parent := under.origin.spanContext()
	if !parent.IsSampled() {
		return
	}
	_, span := t.tracer.Start(trace.ContextWithSpanContext(context.Background(), parent), "phase "+phase, trace.WithTimestamp(from),
		trace.WithAttributes(attrNamespace.String(manifest.Namespace), attrManifest.String(manifest.Name), attrModule.String(module),
			attrPhase.String(phase)))
	span.End(trace.WithTimestamp(to))
}

// ForgetKyma drops a Kyma that is gone or another replica's.
func (t *Traces) ForgetKyma(kyma types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.kymas, kyma)
}

// ForgetManifest drops a Manifest that is gone or another replica's.
func (t *Traces) ForgetManifest(manifest types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.manifests, manifest)
}

func (t *Traces) newPass(name string, object client.Object) *Pass {
	return &Pass{traces: t, name: name, key: client.ObjectKeyFromObject(object), generation: object.GetGeneration(), begun: t.now()}
}

// settle ends the change of a Kyma whose pass found it Ready. Where the pass did not, and belongs to no earlier change, what it did is the
// change that the next passes belong to.
func (t *Traces) settle(p *Pass, ready, began bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case ready:
		delete(t.kymas, p.key)
	case began:
		t.kymas[p.key] = &change{origin: p, generation: p.generation, begun: p.begun}
	}
}
