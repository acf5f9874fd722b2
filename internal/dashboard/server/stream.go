package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	mostQueries = 8
	mostLive    = 2000
	// breath is the interval of the keep-alive messages of a stream.
	breath = 25 * time.Second
	// glance is how often data that no watch covers is read again, such as objects in runtimes.
	glance = 5 * time.Second
	// longestWrite is how long a client may take to accept a message.
	longestWrite = 10 * time.Second
)

// live is one event stream: some queries and their last results.
type live struct {
	server  *Server
	user    *User
	out     http.ResponseWriter
	control *http.ResponseController
	queries []query
}

type query struct {
	url    *url.URL
	last   []byte
	status int
	// beyond reports whether the answer holds data that no watch covers.
	beyond bool
}

// result is one message of a stream.
type result struct {
	Query  int             `json:"q"`
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// stream answers GET /api/v1/stream?q=...&q=...: the result of each query, at once and whenever it changes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	one, u := sessionOf(r.Context()), userOf(r.Context())
	if one == nil || u == nil {
		s.answerProblem(w, r, notLoggedIn())
		return
	}
	queries, err := queriesOf(r.URL.Query()["q"])
	if err != nil {
		s.answerProblem(w, r, err)
		return
	}
	if s.living.Add(1) > mostLive {
		s.living.Add(-1)
		s.answerProblem(w, r, fail(http.StatusTooManyRequests, WhyTooMany, "there are %d streams already: close other tabs", mostLive))
		return
	}
	defer s.living.Add(-1)
	if one.tabs.Add(1) > mostTabs {
		one.tabs.Add(-1)
		s.answerProblem(w, r, fail(http.StatusTooManyRequests, WhyTooMany, "you have %d streams already: close other tabs", mostTabs))
		return
	}
	defer one.tabs.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	l := &live{server: s, user: u, out: w, control: http.NewResponseController(w), queries: queries}
	l.run(r.Context(), one)
}

// queriesOf parses the queries: paths of this server that every logged-in user could request one by one.
func queriesOf(texts []string) ([]query, error) {
	if len(texts) == 0 || len(texts) > mostQueries {
		return nil, fail(http.StatusBadRequest, WhyInvalid, "a stream has 1 to %d queries, not %d: pass each as q=", mostQueries, len(texts))
	}
	var all []query
	for _, text := range texts {
		at, err := url.ParseRequestURI(text)
		if err != nil || at.Host != "" || at.Scheme != "" || !strings.HasPrefix(at.Path, "/api/v1/") || at.Path == streamPath {
			return nil, fail(http.StatusBadRequest, WhyInvalid, "%q is no query: give path and query of a GET below /api/v1", clip(text, 100))
		}
		all = append(all, query{url: at})
	}
	return all, nil
}

// run sends results until the session ends, the client leaves or the server stops.
func (l *live) run(ctx context.Context, one *session) {
	breathing, glancing := time.NewTicker(breath), time.NewTicker(cmp.Or(l.server.options.glance, glance))
	defer breathing.Stop()
	defer glancing.Stop()
	next := l.server.pulse.next()
	ok := l.look(ctx, func(*query) bool { return true })
	for ok {
		select {
		case <-ctx.Done():
			return
		case <-l.server.halting.Done():
			return
		case <-one.ended.Done():
			l.write("event: end\ndata: {}\n\n")
			return
		case <-breathing.C:
			l.server.sessions.touch(one)
			ok = l.write(":\n\n")
		case <-glancing.C:
			ok = l.look(ctx, func(q *query) bool { return q.beyond })
		case <-next:
			next = l.server.pulse.next()
			ok = l.look(ctx, func(*query) bool { return true })
		}
	}
}

// look runs some queries again, and sends the results that have changed. A result with status 401 has ended the session.
func (l *live) look(ctx context.Context, which func(*query) bool) bool {
	for i := range l.queries {
		q := &l.queries[i]
		if !which(q) {
			continue
		}
		status, body := l.ask(ctx, q)
		if ctx.Err() != nil {
			return false
		}
		if status == q.status && bytes.Equal(body, q.last) {
			continue
		}
		q.status, q.last = status, body
		text, err := json.Marshal(result{i, status, body})
		if err != nil || !l.write(fmt.Sprintf("event: result\ndata: %s\n\n", text)) {
			return false
		}
	}
	return true
}

func (l *live) write(text string) bool {
	_ = l.control.SetWriteDeadline(time.Now().Add(longestWrite))
	if _, err := l.out.Write([]byte(text)); err != nil {
		return false
	}
	return l.control.Flush() == nil
}

// ask answers a query as if it were a request.
func (l *live) ask(ctx context.Context, q *query) (status int, body []byte) {
	var beyond atomic.Bool
	ctx = context.WithValue(as(ctx, l.user), keyBeyond, &beyond)
	request := (&http.Request{
		Method: http.MethodGet, URL: q.url, Header: http.Header{}, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	kept := &kept{header: http.Header{}, status: http.StatusOK}
	l.server.api(kept, request)
	q.beyond = beyond.Load()
	if kept.body.Len() == 0 {
		kept.body.WriteString("null")
	}
	return kept.status, bytes.TrimSpace(kept.body.Bytes())
}

// beyond marks an answer that holds data that no watch covers: streams read it again from time to time.
func beyond(ctx context.Context) {
	if mark, is := ctx.Value(keyBeyond).(*atomic.Bool); is {
		mark.Store(true)
	}
}

// kept is a response in memory.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter, as do the next two methods.
func (k *kept) Header() http.Header { return k.header }

// Write keeps the body.
func (k *kept) Write(data []byte) (int, error) { return k.body.Write(data) }

// WriteHeader keeps the status.
func (k *kept) WriteHeader(status int) { k.status = status }
