package server

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// cluster stands between the dashboard and the API server: it answers for the kubelet, which tests have none of, and counts lists.
type cluster struct {
	next  http.RoundTripper
	write func(r *http.Request, out *io.PipeWriter)
	lists atomic.Int64
	open  atomic.Int64
}

func (c *cluster) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/pods") || strings.HasSuffix(r.URL.Path, "/replicasets") {
		c.lists.Add(1)
	}
	if !strings.HasSuffix(r.URL.Path, "/log") {
		return c.next.RoundTrip(r)
	}
	in, out := io.Pipe()
	c.open.Add(1)
	var once sync.Once
	gone := func() { once.Do(func() { c.open.Add(-1) }) }
	context.AfterFunc(r.Context(), func() {
		gone()
		_ = out.CloseWithError(r.Context().Err())
	})
	go c.write(r, out)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: in, Request: r}, nil
}

// between starts a dashboard with a cluster whose containers write something.
func between(t *testing.T, name string, write func(*http.Request, *io.PipeWriter), change ...func(*Options)) (*site, *cluster) {
	t.Helper()
	c := &cluster{write: write}
	s := open(t, ModeLocal, append(change, func(o *Options) {
		o.Config = rest.CopyConfig(o.Config)
		o.Config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return &forwarding{c, next}
		})
	})...)
	s.waiting(name)
	s.enter()
	return s, c
}

// forwarding gives a cluster the transport of one of the clients.
type forwarding struct {
	*cluster

	to http.RoundTripper
}

func (f *forwarding) RoundTrip(r *http.Request) (*http.Response, error) {
	one := &cluster{next: f.to, write: f.write}
	if strings.HasSuffix(r.URL.Path, "/log") {
		return f.cluster.RoundTrip(r)
	}
	answer, err := one.RoundTrip(r)
	f.lists.Add(one.lists.Load())
	return answer, err
}

const logOfLantern = "/api/v1/modules/%/local/lantern/logs?namespace=%&pod=lantern-1-x&container=manager"

func logOf(name, more string) string { return strings.ReplaceAll(logOfLantern, "%", name) + more }

func TestLogs_AreHarmlessAndEnd(t *testing.T) {
	var asked atomic.Value
	s, _ := between(t, "logs", func(r *http.Request, out *io.PipeWriter) {
		asked.Store(r.URL.RawQuery)
		_, _ = io.WriteString(out, "2026-01-02T03:04:05Z \x1b[31m<script>alert(1)</script>\x1b[0m\n\xff\u202ereversed\nlast")
		_ = out.Close()
	})
	r := s.do(http.MethodGet, logOf("logs", "&previous=true&tail=99999&since=60"), "")
	lines := strings.Split(strings.TrimSpace(string(r.body)), "\n")
	var all []logLine
	end := ""
	for _, line := range lines {
		var m logMessage
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all, end = append(all, m.Lines...), m.End
	}
	if r.status != http.StatusOK || end != "Complete" || len(all) != 3 || all[0] != (logLine{"2026-01-02T03:04:05Z", "<script>alert(1)</script>"}) ||
		all[1].Text != "\uFFFD<U+202E>reversed" || all[2].Text != "last" {
		t.Errorf("status %d, %+v, end %q", r.status, all, end)
	}
	for _, want := range []string{"previous=true", "tailLines=5000", "sinceSeconds=60", "container=manager", "limitBytes=4194304"} {
		if query, _ := asked.Load().(string); !strings.Contains(query, want) {
			t.Errorf("the API server was asked %s, without %s", query, want)
		}
	}
	r = s.do(http.MethodGet, logOf("logs", "&download=true&follow=true"), "")
	if text := string(r.body); text != "<script>alert(1)</script>\n\uFFFD<U+202E>reversed\nlast\n" || r.header.Get("Content-Type") != "text/plain; charset=utf-8" ||
		r.header.Get("Content-Disposition") != `attachment; filename="lantern-1-x-manager.log"` {
		t.Errorf("%q, %v", text, r.header)
	}
	for _, wrong := range []string{"&tail=0", "&tail=x", "&since=-1", "&other=1"} {
		if r := s.do(http.MethodGet, logOf("logs", wrong), ""); r.status != http.StatusBadRequest {
			t.Errorf("%s: status %d", wrong, r.status)
		}
	}
}

// readLog begins to follow a log, and returns its messages; leave closes the page.
func (s *site) readLog(path string) (messages chan logMessage, leave func()) {
	s.Helper()
	ctx, leave := context.WithCancel(s.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	answer, err := s.http.Do(request) //nolint:bodyclose // closed below
	if err != nil {
		s.Fatal(err)
	}
	messages = make(chan logMessage, 100)
	go func() {
		defer close(messages)
		defer answer.Body.Close()
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			var m logMessage
			if json.Unmarshal(lines.Bytes(), &m) == nil {
				messages <- m
			}
		}
	}()
	return messages, leave
}

func TestLogs_FollowIsOneStreamThatEndsWithThePageAndTheSession(t *testing.T) {
	s, c := between(t, "follow", func(r *http.Request, out *io.PipeWriter) {
		_, _ = io.WriteString(out, "first\n")
		<-r.Context().Done()
	})
	messages, leave := s.readLog(logOf("follow", "&follow=true"))
	if m := <-messages; len(m.Lines) != 1 || m.Lines[0].Text != "first" {
		t.Fatalf("%+v", m)
	}
	leave()
	eventually(t, patience, "the log is closed with the page", func() bool { return c.open.Load() == 0 })
	messages, leave = s.readLog(logOf("follow", "&follow=true"))
	defer leave()
	<-messages
	if r := s.do(http.MethodDelete, "/api/v1/session", ""); r.status >= 400 {
		t.Fatalf("status %d", r.status)
	}
	var last logMessage
	for m := range messages {
		last = m
	}
	if last.End != "Session" {
		t.Errorf("the log goes on without a session: %+v", last)
	}
	eventually(t, patience, "the log is closed with the session", func() bool { return c.open.Load() == 0 })
}

func TestLogs_AreNoLiveQuery(t *testing.T) {
	s, c := between(t, "nolive", func(_ *http.Request, out *io.PipeWriter) { _ = out.Close() })
	if got := <-s.listen(logOf("nolive", "&follow=true")); got.Status != http.StatusBadRequest || c.open.Load() != 0 {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
}

// TestTree_NothingIsReadWhileItIsClosed counts what the API server is asked: nothing of what is below objects, but while a page shows it.
func TestTree_NothingIsReadWhileItIsClosed(t *testing.T) {
	s, c := between(t, "closedtree", nil, func(o *Options) { o.glance = 30 * time.Millisecond })
	<-s.listen("/api/v1/kymas/closedtree/local")
	if n := c.lists.Load(); n != 0 {
		t.Fatalf("%d lists while no page shows the tree", n)
	}
	shown := s.listen("/api/v1/modules/closedtree/local/lantern/tree")
	if m := <-shown; m.Status != http.StatusOK || c.lists.Load() == 0 {
		t.Fatalf("status %d, %d lists: the tree is shown without reading it", m.Status, c.lists.Load())
	}
	s.do(http.MethodDelete, "/api/v1/session", "") // ends the streams
	eventually(t, patience, "the streams are closed", func() bool { return s.server.living.Load() == 0 })
	before := c.lists.Load()
	s.enter()
	<-s.listen("/api/v1/overview")
	if n := c.lists.Load(); n != before || n > 12 {
		t.Errorf("%d lists for one page, %d after it was closed", before, n)
	}
}

// patience is how long a test waits for what happens at once.
const patience = 20 * time.Second
