package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

const (
	// mostWaiting bounds the spans that wait to be sent, some four megabytes.
	mostWaiting = 2048
	// longestSend is after what time a batch is given up, with all its retries.
	longestSend = 10 * time.Second
	// longestStop bounds what the end of the manager waits for the last spans.
	longestStop = 2 * time.Second
	// longestValue bounds a value of an attribute.
	longestValue = 256
)

// Counts counts what becomes of spans.
type Counts interface {
	Sent(spans int)
	Dropped(reason string, spans int)
}

// The reasons why spans are dropped.
const (
	QueueFull = "queue_full"
	Refused   = "refused"
)

// Exporter sends spans until it is stopped.
type Exporter struct {
	provider *sdktrace.TracerProvider
	sender   *sender
}

// Check returns what is wrong with the address of a collector.
func Check(endpoint string) error {
	at, err := url.Parse(endpoint)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return errors.New("write http(s)://host[:port][/path]") // without the text, which may hold a credential
	case at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return errors.New("write no user, query or fragment: credentials belong in OTEL_EXPORTER_OTLP_HEADERS")
	}
	return nil
}

// Start begins to send spans to a collector. It makes no call.
func Start(ctx context.Context, endpoint string, counts Counts, log logr.Logger) (*Exporter, error) {
	if err := Check(endpoint); err != nil {
		return nil, err
	}
	defer logLibrary(log)()
	tlsConfig, err := tlsFrom(os.Getenv, os.ReadFile)
	if err != nil {
		return nil, err
	}
	transport := newTransport(tlsConfig)
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(strings.TrimSuffix(endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithHTTPClient(clientOf(transport)),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: time.Second, MaxInterval: longestSend / 2, MaxElapsedTime: longestSend,
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("prepare the export of traces: %w", err)
	}
	described, err := describe(ctx)
	if err != nil {
		log.Info("Some attributes of the resource of traces are not understood: see OTEL_RESOURCE_ATTRIBUTES")
	}
	send := newSender(exporter, transport, counts, log)
	batches := sdktrace.NewBatchSpanProcessor(send, sdktrace.WithMaxQueueSize(mostWaiting), sdktrace.WithExportTimeout(longestSend))
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = longestValue
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(&boundedProcessor{SpanProcessor: batches, sender: send}),
		sdktrace.WithResource(described), sdktrace.WithRawSpanLimits(limits),
	)
	return &Exporter{provider: provider, sender: send}, nil
}

// describe returns the attributes of this process; the environment variables OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES count more.
func describe(ctx context.Context) (*resource.Resource, error) {
	host, _ := os.Hostname() // in a cluster, the name of the pod
	described, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("lifecycle-manager"), semconv.ServiceInstanceID(host)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	return described, err
}

// Tracer returns what records spans.
func (e *Exporter) Tracer() trace.Tracer {
	return e.provider.Tracer("github.com/kyma-project/lifecycle-manager")
}

// Stop sends what waits, as far as the collector takes it in a moment.
func (e *Exporter) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), longestStop)
	defer cancel()
	_ = e.provider.Shutdown(ctx) // what was not sent is counted
	e.sender.abandon()
}

// logLibrary logs what the SDK says about its environment variables until the result is called, and silences it from then on: its messages
// would quote values, which may be secret, and what collectors answer.
func logLibrary(log logr.Logger) func() {
	otel.SetLogger(logr.New(&messagesOnly{log: log}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {
		log.Info("A setting of OpenTelemetry was not understood: see OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG")
	}))
	return func() {
		otel.SetLogger(logr.Discard())
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	}
}

// messagesOnly logs the messages of errors, without errors and values.
type messagesOnly struct{ log logr.Logger }

func (*messagesOnly) Init(logr.RuntimeInfo)    {}
func (*messagesOnly) Enabled(int) bool         { return false }
func (*messagesOnly) Info(int, string, ...any) {}

// Error implements logr.LogSink.
func (m *messagesOnly) Error(_ error, message string, _ ...any) {
	m.log.Info("A setting of OpenTelemetry was not understood", "setting", message)
}

func (m *messagesOnly) WithValues(...any) logr.LogSink { return m }
func (m *messagesOnly) WithName(string) logr.LogSink   { return m }
