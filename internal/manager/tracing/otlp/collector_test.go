package otlp

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is a collector on a loopback address that decodes what it gets.
type collector struct {
	*httptest.Server

	mu      sync.Mutex
	spans   []string
	headers http.Header
	service string
	answer  func(http.ResponseWriter)
}

func startCollector(t *testing.T, answer func(http.ResponseWriter)) *collector {
	t.Helper()
	c := &collector{answer: answer}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	request := &collectortrace.ExportTraceServiceRequest{}
	if err != nil || req.URL.Path != "/prefix/v1/traces" || proto.Unmarshal(body, request) != nil {
		http.NotFound(w, req)
		return
	}
	c.mu.Lock()
	c.headers = req.Header
	for _, described := range request.GetResourceSpans() {
		for _, attribute := range described.GetResource().GetAttributes() {
			if attribute.GetKey() == "service.name" {
				c.service = attribute.GetValue().GetStringValue()
			}
		}
		for _, scoped := range described.GetScopeSpans() {
			for _, span := range scoped.GetSpans() {
				c.spans = append(c.spans, span.GetName())
			}
		}
	}
	c.mu.Unlock()
	c.answer(w)
}

func ok(http.ResponseWriter) {}

// counts adds up what becomes of spans.
type counts struct {
	mu    sync.Mutex
	spans map[string]int
	// changed is closed with the next change.
	changed chan struct{}
}

func (c *counts) add(outcome string, spans int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spans == nil {
		c.spans = map[string]int{}
	}
	c.spans[outcome] += spans
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

func (c *counts) Sent(spans int)                   { c.add("sent", spans) }
func (c *counts) Dropped(reason string, spans int) { c.add(reason, spans) }

// got returns the counts as text.
func (c *counts) got() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.spans)
}

// next returns the counts as text, and what is closed when they change.
func (c *counts) next() (string, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return fmt.Sprint(c.spans), c.changed
}

// until waits until something is counted.
func (c *counts) until(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		got, changed := c.next()
		if got == want {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("counted %s, want %s", got, want)
		}
	}
}

// lines is a log.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, args)
	}, funcr.Options{})
}

func (l *lines) got() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// start starts an exporter whose batches are sent at once.
func start(t *testing.T, endpoint string, environment map[string]string) (*Exporter, *counts, *lines) {
	t.Helper()
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		t.Setenv(name, environment[name])
	}
	counted, log := &counts{}, &lines{}
	exporter, err := Start(t.Context(), endpoint, counted, log.logger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(exporter.Stop)
	return exporter, counted, log
}

func (e *Exporter) record(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		_, span := e.Tracer().Start(t.Context(), name)
		span.End()
	}
}

// silent is a server that accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String()
}

// dead is an address where nothing listens. A port that was free a moment ago may already be that of another test's server.
const dead = "http://127.0.0.1:1"

func contains(all []string, part string) bool {
	return slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, part) })
}
