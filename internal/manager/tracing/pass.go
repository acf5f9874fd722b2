package tracing

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// mostRequests bounds the spans of requests that one pass has: a module of thousands of objects must not fill the queue of the exporter.
const mostRequests = 512

// The attributes beside those of the semantic conventions.
const (
	attrNamespace   = semconv.K8SNamespaceNameKey
	attrKyma        = attribute.Key("lifecycle_mgr.kyma.name")
	attrManifest    = attribute.Key("lifecycle_mgr.manifest.name")
	attrModule      = attribute.Key("lifecycle_mgr.module.name")
	attrGeneration  = attribute.Key("lifecycle_mgr.generation")
	attrState       = attribute.Key("lifecycle_mgr.state")
	attrPhase       = attribute.Key("lifecycle_mgr.phase")
	attrOmitted     = attribute.Key("lifecycle_mgr.requests.omitted")
	attrCluster     = attribute.Key("lifecycle_mgr.cluster")
	attrVerb        = attribute.Key("lifecycle_mgr.request.verb")
	attrGroup       = attribute.Key("lifecycle_mgr.request.group")
	attrResource    = attribute.Key("lifecycle_mgr.request.resource")
	attrSubresource = attribute.Key("lifecycle_mgr.request.subresource")
)

// Pass is one pass of a controller over one object. A nil Pass records nothing.
type Pass struct {
	traces     *Traces
	name       string
	key        types.NamespacedName
	generation int64
	ofKyma     bool
	begun      time.Time

	mu         sync.Mutex
	attributes []attribute.KeyValue
	// origin asked for what this pass does; nil: the pass begins a trace. overtaken asked for what is not wanted any more.
	origin, overtaken *Pass
	// span is nil until the pass does something; context remains when it has ended.
	span     trace.Span
	context  trace.SpanContext
	requests int
	ended    bool
}

// passKey finds the pass in a context.
type passKey struct{}

func passOf(ctx context.Context) *Pass {
	p, _ := ctx.Value(passKey{}).(*Pass)
	return p
}

// spanContext begins the span of a pass, unless it has one or has ended, and returns its identity.
func (p *Pass) spanContext() trace.SpanContext {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startLocked()
	return p.context
}

// isVoid reports whether a pass ended without having done anything: there is no trace to belong to.
func (p *Pass) isVoid() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended && !p.context.IsValid()
}

func (p *Pass) startLocked() {
	if p.span != nil || p.ended {
		return
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(p.begun), trace.WithAttributes(p.attributes...)}
	ctx := context.Background()
	if p.origin != nil {
		ctx = trace.ContextWithSpanContext(ctx, p.origin.spanContext())
	}
	if p.overtaken != nil {
		if at := p.overtaken.spanContext(); at.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: at}))
		}
	}
	_, p.span = p.traces.tracer.Start(ctx, p.name, options...)
	p.context = p.span.SpanContext()
}

// End records how the pass ended: in which state its object is, and the class of an error.
func (p *Pass) End(state v1beta2.State, err error) {
	if p == nil {
		return
	}
	began := p.end(state, err)
	if p.ofKyma {
		p.traces.settle(p, err == nil && state == v1beta2.StateReady, began)
	}
}

// end ends the span, if there is one, and reports whether the pass began a trace.
func (p *Pass) end(state v1beta2.State, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	root := p.origin == nil
	p.ended, p.origin, p.overtaken, p.attributes = true, nil, nil, nil
	if p.span == nil {
		return false
	}
	if state != "" {
		p.span.SetAttributes(attrState.String(string(state)))
	}
	if p.requests > mostRequests {
		p.span.SetAttributes(attrOmitted.Int(p.requests - mostRequests))
	}
	if err != nil {
		p.span.SetAttributes(semconv.ErrorTypeKey.String(classOf(err)))
		p.span.SetStatus(codes.Error, "")
	}
	p.span.End()
	p.span = nil
	return root
}

// request begins the span of a request that the pass sends; nil where it has none.
func (p *Pass) request(name string, attributes ...attribute.KeyValue) trace.Span {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startLocked()
	if p.span == nil { // what the pass left behind goes on
		return nil
	}
	if p.requests++; p.requests > mostRequests || !p.span.IsRecording() {
		return nil
	}
	_, span := p.traces.tracer.Start(trace.ContextWithSpan(context.Background(), p.span), name,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return span
}

// classOf returns the class of an error, never its text: that may quote what a server sent, or a credential.
func classOf(err error) string {
	var answered apierrors.APIStatus
	switch {
	case errors.As(err, &answered) && answered.Status().Code > 0:
		return strconv.Itoa(int(answered.Status().Code))
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	default:
		return semconv.ErrorTypeOther.Value.AsString()
	}
}
