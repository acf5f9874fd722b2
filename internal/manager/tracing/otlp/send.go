package otlp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// betweenLines is the least time between two lines about the collector, if it comes and goes.
const betweenLines = time.Minute

// sender counts what the exporter sends, and says once for each outage that it does not.
type sender struct {
	next   sdktrace.SpanExporter
	to     *transport
	counts Counts
	log    logr.Logger
	// waiting is how many spans have ended and are neither sent nor dropped.
	waiting atomic.Int64

	ctx     context.Context //nolint:containedctx // ends what is under way when the manager does
	abandon context.CancelFunc

	mu     sync.Mutex
	out    bool
	logged time.Time
}

func newSender(next sdktrace.SpanExporter, to *transport, counts Counts, log logr.Logger) *sender {
	s := &sender{next: next, to: to, counts: counts, log: log}
	s.ctx, s.abandon = context.WithCancel(context.Background())
	return s
}

// ExportSpans implements sdktrace.SpanExporter. It returns no error: the SDK would only quote it in a log of its own.
func (s *sender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	s.to.status.Store(0)
	err := s.next.ExportSpans(ctx, spans)
	s.waiting.Add(-int64(len(spans)))
	s.note(err, time.Now()) // first, so that the reason is known to those who see the count
	if err == nil {
		s.counts.Sent(len(spans))
	} else {
		s.counts.Dropped(Refused, len(spans))
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (s *sender) Shutdown(ctx context.Context) error {
	defer s.to.CloseIdleConnections()
	return s.next.Shutdown(ctx)
}

// note logs the beginning of an outage.
func (s *sender) note(err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := err != nil && !s.out && s.ctx.Err() == nil && (s.logged.IsZero() || now.Sub(s.logged) >= betweenLines)
	s.out = err != nil
	if began {
		s.logged = now
		s.log.Info("The collector takes no traces; they are dropped and counted until it does", "cause", s.cause(err))
	}
}

// cause names what is wrong with the collector, without what it answered.
func (s *sender) cause(err error) string {
	var timeout net.Error
	switch status := s.to.status.Load(); {
	case status >= 300:
		return fmt.Sprintf("HTTP status %d", status)
	case status > 0:
		return "an answer that is no success"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	default:
		return "no connection"
	}
}

// boundedProcessor bounds how many spans wait, and counts those that it drops; the queue behind it is never full.
type boundedProcessor struct {
	sdktrace.SpanProcessor
	sender *sender
}

// OnEnd implements sdktrace.SpanProcessor.
func (b *boundedProcessor) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	if b.sender.waiting.Add(1) > mostWaiting {
		b.sender.waiting.Add(-1)
		b.sender.counts.Dropped(QueueFull, 1)
		return
	}
	b.SpanProcessor.OnEnd(span)
}
