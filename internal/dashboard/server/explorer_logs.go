package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/client/podlogs"
)

const (
	// mostLogs and mostLogsOfOne bound how many logs are read at once.
	mostLogs, mostLogsOfOne = 200, 6
	// mostLogLines, mostLogBytes and longestLog bound one log; one that is followed may be longer.
	mostLogLines, mostLogBytes = 5000, 4 << 20
	longestLog                 = 30 * time.Second
	mostFollowBytes            = 32 << 20
	longestFollow              = 30 * time.Minute
	defaultLogLines            = 500
	// logQueue is how long a request waits for its turn.
	logQueue = 5 * time.Second
)

// logLine is one line of a log.
type logLine struct {
	// At is when the container printed it, as the node says.
	At   string `json:"at,omitempty"`
	Text string `json:"text"`
}

// logMessage is one line of an answer: lines of a log, or its end.
type logMessage struct {
	Lines []logLine `json:"lines,omitempty"`
	// End says why there is no more: Complete, Bytes, Time, Broken, Session or Server.
	End string `json:"end,omitempty"`
}

// logQuery is a log that a request asks for.
type logQuery struct {
	podlogs.Query
	download bool
}

// logsIn returns the log that a query names.
func logsIn(query url.Values) (logQuery, error) {
	q := logQuery{Query: podlogs.Query{
		Namespace: query.Get("namespace"), Pod: query.Get("pod"), Container: query.Get("container"),
		Previous: query.Get("previous") == "true", Follow: query.Get("follow") == "true", Tail: defaultLogLines, Bytes: mostLogBytes,
	}, download: query.Get("download") == "true"}
	if err := known(query, "namespace", "pod", "container", "previous", "follow", "tail", "since", "download"); err != nil {
		return q, err
	}
	for name, value := range map[string]string{"namespace": q.Namespace, "pod": q.Pod} {
		if _, err := refIn(url.Values{"kind": {"Pod"}, "name": {value}}); err != nil {
			return q, fail(http.StatusBadRequest, WhyInvalid, "a log has a namespace and a pod: %q is no %s", clip(value, 100), name)
		}
	}
	for name, into := range map[string]func(int64){
		"tail":  func(n int64) { q.Tail = min(n, mostLogLines) },
		"since": func(n int64) { q.Since = time.Duration(min(n, 365*24*3600)) * time.Second },
	} {
		if text := query.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n <= 0 {
				return q, fail(http.StatusBadRequest, WhyInvalid, "%q is no %s: give a number above zero", clip(text, 40), name)
			}
			into(n)
		}
	}
	if q.download {
		q.Follow = false
	}
	if q.Follow {
		q.Previous, q.Bytes = false, mostFollowBytes // what has ended prints no more
	}
	return q, nil
}

// logs answers .../logs: lines of JSON, each a logMessage; with download, a text. It is one stream, which ends with the page, with the
// session, or at its bounds. It is no live query.
func (s *Server) logs(w http.ResponseWriter, r *http.Request) {
	session, u := sessionOf(r.Context()), userOf(r.Context())
	if session == nil || u == nil {
		s.answerProblem(w, r, notLoggedIn())
		return
	}
	if r.Context().Value(keyBeyond) != nil {
		s.answerProblem(w, r, fail(http.StatusBadRequest, WhyInvalid, "a log is no live query: request it by itself, with follow=true"))
		return
	}
	q, err := logsIn(r.URL.Query())
	if err != nil {
		s.answerProblem(w, r, err)
		return
	}
	waiting, over := context.WithTimeout(r.Context(), logQueue)
	done, err := s.logReads.take(waiting, u.Name)
	over()
	if err != nil {
		s.answerProblem(w, r, err)
		return
	}
	defer done()
	longest := longestLog
	if q.Follow {
		longest = longestFollow
	}
	ctx, end := context.WithTimeout(r.Context(), longest)
	defer end()
	defer context.AfterFunc(session.ended, end)()
	defer context.AfterFunc(s.halting, end)()
	s.serveLog(ctx, w, r, session, u, q)
}

// serveLog opens a log and sends it.
func (s *Server) serveLog(ctx context.Context, w http.ResponseWriter, r *http.Request, session *session, u *User, q logQuery) {
	o, err := s.named(ctx, u, r)
	if err != nil {
		s.answerProblem(w, r, err)
		return
	}
	from, err := s.connectionOf(ctx, u, o.kyma)
	if err != nil {
		s.answerProblem(w, r, acted(err))
		return
	}
	log, err := podlogs.Open(ctx, from.config, q.Query)
	if err != nil {
		s.answerProblem(w, r, unreadLog(q, err))
		return
	}
	defer func() { _ = log.Close() }()
	out := &logWriter{out: w, control: http.NewResponseController(w), download: q.download}
	if !out.begin(q) {
		return
	}
	breathing := out.breathe(ctx)
	defer breathing()
	why, err := podlogs.Copy(ctx, log, q.Bytes, out.lines)
	if err != nil || r.Context().Err() != nil {
		return // the client is gone
	}
	last := string(why)
	switch {
	case session.ended.Err() != nil:
		last = "Session"
	case s.halting.Err() != nil:
		last = "Server"
	}
	out.end(last)
}

// unreadLog returns why a log cannot be read.
func unreadLog(q logQuery, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fail(http.StatusForbidden, WhyForbidden,
			"you may not read logs in namespace %s: ask an administrator of the cluster for permission to get pods/log", clip(q.Namespace, 253))
	case apierrors.IsNotFound(err):
		return fail(http.StatusNotFound, WhyNotFound, "there is no pod %s in namespace %s any more", clip(q.Pod, 253), clip(q.Namespace, 253))
	case apierrors.IsBadRequest(err):
		return fail(http.StatusConflict, WhyConflict, "there is no such log: %s", podlogs.Harmless(clip(problemOf(err).Message, 500)))
	}
	return acted(err)
}

// logWriter sends the lines of a log.
type logWriter struct {
	out      http.ResponseWriter
	control  *http.ResponseController
	download bool
	mutex    sync.Mutex
}

// unsafeInNames are the characters that names of files do without.
var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// begin sends the headers, so that the page knows that the log is open.
func (l *logWriter) begin(q logQuery) bool {
	header := l.out.Header()
	header.Set("Content-Type", "application/x-ndjson")
	header.Set("X-Accel-Buffering", "no")
	if l.download {
		header.Set("Content-Type", "text/plain; charset=utf-8")
		name := unsafeInNames.ReplaceAllString(q.Pod+"-"+q.Container, "_")
		header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.log"`, clip(name, 200)))
	}
	l.out.WriteHeader(http.StatusOK)
	return l.write(nil) == nil
}

func (l *logWriter) write(data []byte) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_ = l.control.SetWriteDeadline(time.Now().Add(longestWrite))
	if _, err := l.out.Write(data); err != nil {
		return err
	}
	return l.control.Flush()
}

// lines sends some lines.
func (l *logWriter) lines(lines []string) error {
	var message logMessage
	var text []byte
	for _, line := range lines {
		at, rest := podlogs.Moment(line)
		if l.download {
			text = append(text, rest...)
			text = append(text, '\n')
			continue
		}
		message.Lines = append(message.Lines, logLine{at, rest})
	}
	if l.download {
		return l.write(text)
	}
	return l.message(message)
}

func (l *logWriter) message(m logMessage) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return l.write(append(data, '\n'))
}

// end says why there is no more.
func (l *logWriter) end(why string) {
	if !l.download {
		_ = l.message(logMessage{End: why}) // the client may be gone
		return
	}
	if why != string(podlogs.EndComplete) {
		_ = l.write([]byte("… the log is not complete: " + why + "\n"))
	}
}

// breathe sends an empty line from time to time, so that nothing between here and the page takes a silent log for a dead one.
func (l *logWriter) breathe(ctx context.Context) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		ticker := time.NewTicker(breath)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if !l.download && l.write([]byte("\n")) != nil {
					return
				}
			}
		}
	})
	return func() {
		end()
		all.Wait()
	}
}
