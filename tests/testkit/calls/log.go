package calls

import (
	"net/http"
	"slices"
	"sync"
)

// Log keeps the calls of every transport that it wraps in their order, for a test that asks which object was read and not only how many
// were. Its zero value is ready to use.
type Log struct {
	mutex sync.Mutex
	lines []string
}

// Wrap puts the log in front of a transport.
func (l *Log) Wrap(next http.RoundTripper) http.RoundTripper { return &logged{log: l, next: next} }

// Since returns the verbs and paths of the calls after the first n, such as "get /api/v1/namespaces/kyma-system".
func (l *Log) Since(n int) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.lines[n:])
}

// Len returns the number of calls so far.
func (l *Log) Len() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.lines)
}

type logged struct {
	log  *Log
	next http.RoundTripper
}

// RoundTrip notes the request before it is sent.
func (t *logged) RoundTrip(request *http.Request) (*http.Response, error) {
	t.log.mutex.Lock()
	t.log.lines = append(t.log.lines, Of(request).Verb+" "+request.URL.Path)
	t.log.mutex.Unlock()
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper gives client-go access to the inner transport.
func (t *logged) WrappedRoundTripper() http.RoundTripper { return t.next }
