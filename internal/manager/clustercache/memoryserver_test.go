package clustercache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
)

// manner is how a world responds to the lists, or the watches, of one kind.
type manner string

const (
	works     manner = "works"
	missing   manner = "404"
	denied    manner = "403"
	broken    manner = "500"
	gateway   manner = "502"
	outdated  manner = "410"
	immenseIn manner = "too large"
	stuck     manner = "an error without end"
	held      manner = "no head"             // of watches
	silent    manner = "says nothing"        // of watches
	brief     manner = "ends at once"        // of watches
	garbled   manner = "cannot be read ever" // of watches
)

// memoryServer is an API server in memory, controlled by a test. All waiting in it and for it uses channels and timers, so that
// testing/synctest makes hours of it pass in a moment.
type memoryServer struct {
	mu      sync.Mutex
	version uint64
	down    bool
	realms  map[string]*realm // by path
}

// realm is one kind in a world.
type realm struct {
	lists, watches manner
	objects        map[string]string // JSON by name
	events         []happened
	compacted      uint64
	open           map[*memoryStream]bool // true for those that are told nothing
	listed         []time.Time            // when it was requested
	watched        []time.Time
}

type happened struct {
	version uint64
	event   string
}

func newWorld(paths ...string) *memoryServer {
	w := &memoryServer{version: 100, realms: map[string]*realm{}}
	for _, path := range paths {
		w.realms[path] = &realm{lists: works, watches: works, objects: map[string]string{}, open: map[*memoryStream]bool{}}
	}
	return w
}

// put creates, changes or deletes an object, and sends the event to the streams.
func (w *memoryServer) put(path, name string, there bool) {
	w.mu.Lock()
	w.version++
	k, version := w.realms[path], strconv.FormatUint(w.version, 10)
	object := metaOf(name, "uid-"+name, version, hubNamespace+"/a")
	kind := "MODIFIED"
	switch _, was := k.objects[name]; {
	case !there && !was:
		w.mu.Unlock()
		return
	case !there:
		kind = "DELETED"
		delete(k.objects, name)
	default:
		k.objects[name] = object
	}
	e := happened{w.version, event(kind, object)}
	k.events = append(k.events, e)
	streams := k.notified()
	w.mu.Unlock()
	for _, s := range streams {
		s.send([]byte(e.event))
	}
}

// told returns the streams that receive events.
func (k *realm) notified() (streams []*memoryStream) {
	for s, deaf := range k.open {
		if !deaf {
			streams = append(streams, s)
		}
	}
	return streams
}

// RoundTrip implements http.RoundTripper.
func (w *memoryServer) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	k := w.realms[req.URL.Path]
	switch {
	case req.URL.Path == "/version":
		return answered(http.StatusOK, "{}"), nil
	case k == nil:
		return answered(http.StatusNotFound, "404 page not found"), nil
	case req.URL.Query().Get("watch") != "":
		k.watched = append(k.watched, time.Now())
		return w.answerWatchLocked(req, k)
	}
	k.listed = append(k.listed, time.Now())
	if k.lists != works {
		return failedAs(req, k.lists)
	}
	items := slices.Collect(maps.Values(k.objects))
	return answered(http.StatusOK, fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"},"items":[%s]}`, w.version, strings.Join(items, ","))), nil
}

func answered(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}
}

// failedAs returns the error response for a failing manner.
func failedAs(req *http.Request, m manner) (*http.Response, error) {
	status := func(code int, reason string) (*http.Response, error) {
		const text = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"as told","code":%d}`
		return answered(code, fmt.Sprintf(text, reason, code)), nil
	}
	switch m {
	case missing:
		return answered(http.StatusNotFound, "404 page not found"), nil
	case denied:
		return status(http.StatusForbidden, "Forbidden")
	case gateway:
		return answered(http.StatusBadGateway, "<html>"), nil
	case outdated:
		return status(http.StatusGone, "Expired")
	case stuck:
		resp := answered(http.StatusInternalServerError, "")
		resp.Body = &endless{ctx: req.Context(), closed: make(chan struct{})}
		return resp, nil
	case immenseIn:
		resp := answered(http.StatusOK, "")
		resp.Body = io.NopCloser(readerFunc(func([]byte) (int, error) { return 0, wire.ErrTooLarge }))
		return resp, nil
	default:
		return status(http.StatusInternalServerError, "InternalError")
	}
}

// endless is a body that never ends.
type endless struct {
	ctx    context.Context // of the request
	once   sync.Once
	closed chan struct{}
}

func (e *endless) Read([]byte) (int, error) {
	select {
	case <-e.closed:
		return 0, net.ErrClosed
	case <-e.ctx.Done():
		return 0, context.Cause(e.ctx)
	}
}

func (e *endless) Close() error {
	e.once.Do(func() { close(e.closed) })
	return nil
}

// answerWatchLocked handles a watch. The caller holds the lock.
func (w *memoryServer) answerWatchLocked(req *http.Request, k *realm) (*http.Response, error) {
	from, err := strconv.ParseUint(req.URL.Query().Get("resourceVersion"), 10, 64)
	switch m := k.watches; {
	case m == held:
		w.mu.Unlock()
		defer w.mu.Lock()
		select {
		case <-req.Context().Done():
			return nil, context.Cause(req.Context())
		case <-time.After(h2stream.CallTimeout): // as a trunk does
			return nil, fmt.Errorf("no answer to a watch: %w", context.DeadlineExceeded)
		}
	case err != nil, from < k.compacted:
		return failedAs(req, outdated)
	case !slices.Contains([]manner{works, silent, brief, garbled}, m):
		return failedAs(req, m)
	}
	s := &memoryStream{world: w, realm: k}
	resp := answered(http.StatusOK, "")
	resp.Body = s
	switch k.watches {
	case brief:
		s.err = io.EOF
	case garbled:
		s.aside = []byte(`{"type":"ADDED","object":{"metadata":{"name":1}}}`)
	case silent:
		k.open[s] = true
	default:
		k.open[s] = false
		for _, e := range k.events {
			if e.version > from {
				s.aside = append(s.aside, e.event...)
			}
		}
	}
	return resp, nil
}

// memoryStream is the body of a watch, and hands its data over as an h2Stream does.
type memoryStream struct {
	world *memoryServer
	realm *realm

	mu      sync.Mutex
	aside   []byte
	deliver func([]byte) error
	ended   func(error)
	err     error
}

func (s *memoryStream) Outlive() {}

func (s *memoryStream) HandOver(deliver func([]byte) error, ended func(error)) {
	s.mu.Lock()
	s.deliver, s.ended = deliver, ended
	aside, err := s.aside, s.err
	s.aside, s.err = nil, nil
	s.mu.Unlock()
	if len(aside) > 0 {
		s.send(aside)
	}
	if err != nil {
		s.finish(err)
	}
}

func (s *memoryStream) send(data []byte) {
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return
	}
	if s.deliver == nil {
		s.aside = append(s.aside, data...)
		s.mu.Unlock()
		return
	}
	err := s.deliver(data)
	s.mu.Unlock()
	if err != nil {
		s.finish(err)
	}
}

func (s *memoryStream) finish(err error) {
	s.world.mu.Lock()
	delete(s.realm.open, s)
	s.world.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		if s.err = err; s.ended != nil {
			s.ended(err)
		}
	}
}

func (s *memoryStream) Read([]byte) (int, error) {
	panic("a stream that can be handed over is not read")
}

func (s *memoryStream) Close() error {
	s.finish(net.ErrClosed)
	return nil
}

// inWorld runs a test in a synctest bubble, with a runtime that is served by a world. It reports a test that never becomes idle: if
// simulated time does not advance, something loops without a pause.
func inWorld(t *testing.T, w *memoryServer, change func(*Config), do func(t *testing.T, b *bench, r *Runtime)) {
	t.Helper()
	var virtual atomic.Int64
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		const longest = time.Minute
		for last, since := int64(-1), time.Now(); ; {
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
			if now := virtual.Load(); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) > longest {
				panic("law 1: a kind goes round without a pause, so that no time passes")
			}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Second):
					virtual.Add(1)
				}
			}
		}()
		b := newBench(t, func(c *Config) {
			c.OwnerKey = "owner"
			if change != nil {
				change(c)
			}
		})
		defer func() { b.stop() }()
		do(t, b, b.enter(t, w))
	})
}

// enter creates a runtime that a world serves.
func (b *bench) enter(t *testing.T, w *memoryServer) *Runtime {
	t.Helper()
	target := Target{Namespace: hubNamespace, Name: "world"}
	r, err := b.newRuntime(target, &rest.Config{Host: "https://world.test", BearerToken: "t"}, access{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*transportPool{&r.conn.short, &r.conn.streams} {
		client, server := net.Pipe() // stands for a connection that is proven
		l.sockets.open = map[*socket]struct{}{{Conn: client, of: &l.sockets}: {}}
		l.RoundTripper, l.idle, l.sockets.emptied = w, func() { _ = server.Close() }, nil
		l.proven.Store(true)
	}
	b.Clusters.mu.Lock()
	b.keepConnectionLocked(key{namespace: hubNamespace, name: "world"}, r)
	b.Clusters.mu.Unlock()
	r.conn.probe()
	return r
}

// countCalls counts the calls for a kind.
func (w *memoryServer) countCalls(path string) (lists, watches int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.realms[path].listed), len(w.realms[path].watched)
}

// currentProblem changes how a kind is served; open streams stay open.
func (w *memoryServer) answer(path string, lists, watches manner) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.realms[path].lists, w.realms[path].watches = lists, watches
}

// end ends the streams of a kind.
func (w *memoryServer) end(path string, err error) {
	w.mu.Lock()
	streams := slices.Collect(maps.Keys(w.realms[path].open))
	w.mu.Unlock()
	for _, s := range streams {
		s.finish(err)
	}
}

// setDown makes the server unreachable, or reachable again.
func (w *memoryServer) setDown(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}
