package calls

import (
	"net/http"
	"sync"
)

// Counter counts the calls of every transport that it wraps. Its zero value is ready to use; several clients may share it.
type Counter struct {
	mutex  sync.Mutex
	counts Counts
}

// Wrap puts the counter in front of a transport: config.Wrap(counter.Wrap).
func (c *Counter) Wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{counter: c, next: next}
}

// Snapshot returns the counts so far. It does not change afterwards.
func (c *Counter) Snapshot() Counts {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.counts.Diff(nil)
}

// Since returns the counts after an earlier snapshot.
func (c *Counter) Since(before Counts) Counts { return c.Snapshot().Diff(before) }

func (c *Counter) add(call Call) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.counts == nil {
		c.counts = Counts{}
	}
	c.counts[call]++
}

type transport struct {
	counter *Counter
	next    http.RoundTripper
}

// RoundTrip counts the request before it is sent: a failed request is a call as well.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.counter.add(Of(request))
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper gives client-go access to the inner transport.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }
