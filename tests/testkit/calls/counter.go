package calls

import (
	"net/http"
	"sync"
)

// Counter counts the calls of every transport that it wrapped. Its zero value is ready; it may be shared by clients.
type Counter struct {
	mutex  sync.Mutex
	counts Counts
}

// Wrap puts the counter in front of a transport: config.Wrap(counter.Wrap).
func (c *Counter) Wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{counter: c, next: next}
}

// Snapshot returns what was counted until now. It does not change afterwards.
func (c *Counter) Snapshot() Counts {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.counts.Diff(nil)
}

// Since returns what was counted after an earlier snapshot.
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

// RoundTrip counts the request before it is sent: one that fails was a call as well.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.counter.add(Of(request))
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the transport inside.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }
