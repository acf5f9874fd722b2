package otlp

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestExporter_SendsWhatIsRecorded(t *testing.T) {
	c := startCollector(t, ok)
	exporter, counted, log := start(t, c.URL+"/prefix/", map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": "x-token=s3cret", "OTEL_SERVICE_NAME": "mine",
		"OTEL_EXPORTER_OTLP_ENDPOINT": dead, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": dead,
	})
	exporter.record(t, "one", "two")
	counted.until(t, "map[sent:2]")
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.spans, []string{"one", "two"}) || c.headers.Get("X-Token") != "s3cret" || c.service != "mine" {
		t.Errorf("got spans %q of %q with headers %v", c.spans, c.service, c.headers)
	}
	if lines := log.got(); len(lines) != 0 {
		t.Errorf("logged %q", lines)
	}
}

func TestExporter_SendsTheLastSpansAtTheEnd(t *testing.T) {
	c := startCollector(t, ok)
	exporter, counted, _ := start(t, c.URL+"/prefix", map[string]string{"OTEL_BSP_SCHEDULE_DELAY": "3600000"})
	exporter.record(t, "last")
	exporter.Stop()
	if got := counted.got(); got != "map[sent:1]" {
		t.Errorf("counted %s", got)
	}
}

func TestExporter_SamplesAsTheEnvironmentSays(t *testing.T) {
	c := startCollector(t, ok)
	exporter, counted, _ := start(t, c.URL+"/prefix", map[string]string{
		"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0",
	})
	exporter.record(t, "one")
	exporter.Stop()
	if got := counted.got(); got != "map[]" {
		t.Errorf("counted %s", got)
	}
}

func TestExporter_LogsAnOutageOnce(t *testing.T) {
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	defer stranger.Close()
	says := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Location", stranger.URL)
			w.Header().Set("Retry-After", "31536000")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(strings.Repeat("s3cret ", mostAnswer)))
		}
	}
	for name, test := range map[string]struct{ endpoint, cause string }{
		"nothing listens":         {dead, "no connection"},
		"an error":                {startCollector(t, says(http.StatusBadRequest)).URL + "/prefix", "HTTP status 400"},
		"an error for a year":     {startCollector(t, says(http.StatusServiceUnavailable)).URL + "/prefix", "HTTP status 503"},
		"another collector":       {startCollector(t, says(http.StatusTemporaryRedirect)).URL + "/prefix", "HTTP status 307"},
		"a success that is none":  {startCollector(t, says(http.StatusOK)).URL + "/prefix", ""},
		"another path than asked": {startCollector(t, ok).URL, "HTTP status 404"},
	} {
		t.Run(name, func(t *testing.T) {
			exporter, counted, log := start(t, test.endpoint, nil)
			exporter.record(t, "one")
			if test.cause == "" {
				counted.until(t, "map[sent:1]") // a text is no partial success, and its length is bounded
				return
			}
			counted.until(t, "map[refused:1]")
			exporter.record(t, "two")
			counted.until(t, "map[refused:2]")
			lines := log.got()
			if len(lines) != 1 || !strings.Contains(lines[0], test.cause) || contains(lines, "s3cret") {
				t.Errorf("logged %q, want one line with %q", lines, test.cause)
			}
		})
	}
}

func TestExporter_BoundsWhatWaitsForASilentCollector(t *testing.T) {
	exporter, counted, _ := start(t, silent(t), nil)
	begun := time.Now()
	for range 2*mostWaiting + 100 {
		exporter.record(t, "one")
	}
	if took := time.Since(begun); took > longestSend/2 {
		t.Errorf("recording took %s", took)
	}
	if got := counted.got(); got != "map[queue_full:2148]" {
		t.Errorf("counted %s", got)
	}
	begun = time.Now()
	exporter.Stop()
	if took := time.Since(begun); took > longestStop+time.Second {
		t.Errorf("the end took %s", took)
	}
	counted.until(t, "map[queue_full:2148 refused:2048]")
}

func TestSender_ACollectorThatComesAndGoesIsLoggedOnceAMinute(t *testing.T) {
	log := &lines{}
	s := newSender(nil, newTransport(nil), &counts{}, log.logger())
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 6 {
		s.note(http.ErrHandlerTimeout, at)
		s.note(nil, at)
		at = at.Add(betweenLines / 3)
	}
	if got := len(log.got()); got != 2 {
		t.Errorf("%d lines in two minutes", got)
	}
}

func TestStart_QuotesNoSettingThatIsNotUnderstood(t *testing.T) {
	c := startCollector(t, ok)
	_, _, log := start(t, c.URL, map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": "s3cret", "OTEL_TRACES_SAMPLER": "s3cret", "OTEL_RESOURCE_ATTRIBUTES": "s3cret",
	})
	lines := log.got()
	if len(lines) < 3 || contains(lines, "s3cret") {
		t.Errorf("logged %q, want a line for each setting, without its value", lines)
	}
}

func TestCheck(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://collector:4318": "", "https://collector.example.com/otlp": "", "http://[::1]:4318": "",
		"collector:4318": "http(s)://", "grpc://collector:4317": "http(s)://", "http://": "http(s)://", "http://a b": "http(s)://",
		"https://user:s3cret@collector": "OTEL_EXPORTER_OTLP_HEADERS", "https://collector?token=s3cret": "OTEL_EXPORTER_OTLP_HEADERS",
		"https://s3cret:s3cret": "http(s)://",
	} {
		err := Check(endpoint)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v, want %q", endpoint, err, want)
		}
	}
}
