package clustercache

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/manager/workerslot"
)

// connection is the access to one runtime: one rate limit, one breaker, and two transport pools. Short calls go over one of them,
// which is closed after a short time without calls; the streams go over the other, so that the buffers that lists and writes need are
// not held for as long as the streams live.
type connection struct {
	target    Target
	ctx       context.Context //nolint:containedctx // ends with the connection
	spawn     func(func())    // runs a goroutine that Fleet.Start waits for
	tell      func(priority.Level, ...types.NamespacedName)
	concerned func() []types.NamespacedName // owners that track the runtime
	recovered func()                        // told of the end of every outage
	upgraded  func()                        // told of another version than before

	short   transportPool
	streams transportPool
	calls   http.RoundTripper // the lanes behind the gate, with credentials and user agent
	stamp   http.Header       // credentials and user agent, to be shared by the requests of streams
	secrets [][]byte          // credentials, as texts that must not get into a message
	giants  chan struct{}     // large answers that are being read
	base    *url.URL
	limiter flowcontrol.RateLimiter
	writes  writes

	admission *prioritySemaphore // to the fleet
	hurry     atomic.Bool        // a caller waits for the first contact
	tempo     *latencyTracker    // of the fleet
	late      atomic.Int32       // passes that wait for longer than usual

	mu       sync.Mutex
	version  string // of Kubernetes, as the last probe found it
	breaker  breaker
	probing  bool
	timer    *time.Timer
	answers  chan struct{} // closed while the runtime is up
	settled  chan struct{} // closed at the first answer or failure
	awaiting map[types.NamespacedName]struct{}

	asksIdentity bool // set before the first call
	identified   bool
	identity     string

	asksClaim bool // set before the first call
	claim     claim
}

// mark is the kind of a request, passed to the breakerTransport in the request's context.
type mark int

const (
	markProbe  mark = iota + 1 // may dial while the runtime counts as down
	markStream                 // has no end, so that its length is not capped
	markPage                   // a page of a list, which is read item by item
)

type markKey struct{}

func marked(ctx context.Context, m mark) context.Context { return context.WithValue(ctx, markKey{}, m) }

// connect builds everything and makes no calls. standard uses net/http for the streams.
func (c *connection) connect(cfg *rest.Config, wrap func(http.RoundTripper) http.RoundTripper, standard bool) error {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return err
	}
	tlsConfig, err := tlsOf(cfg)
	if err != nil {
		return err
	}
	c.short.slot, c.streams.slot = c.newMutex(), c.newMutex()
	c.short.openShort(cfg, tlsConfig)
	if standard {
		c.streams.openStandard(cfg, tlsConfig)
	} else {
		c.streams.openStreams(cfg, tlsConfig, c.spawn)
	}
	if c.calls, err = rest.HTTPWrappersForConfig(cfg, breakerTransport{c}); err != nil {
		return err
	}
	if wrap != nil {
		c.calls = wrap(c.calls)
	}
	c.base = base
	c.limiter = flowcontrol.NewTokenBucketRateLimiter(cfg.QPS, cfg.Burst)
	c.stamp, c.secrets = sharedHeaders(cfg), secretsOf(cfg)
	c.giants = make(chan struct{}, giants)
	c.answers, c.settled = make(chan struct{}), make(chan struct{})
	c.awaiting = make(map[types.NamespacedName]struct{})
	return nil
}

// close ends the connection for good; the caller has ended ctx before.
func (c *connection) close() {
	c.mu.Lock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.closeSockets()
}

// closeSockets closes all sockets, including those in use.
func (c *connection) closeSockets() {
	c.short.close()
	c.streams.close()
}

// do makes a call that bypasses client-go's clients, and counts it as such a client would (rest_client_requests_total).
func (c *connection) do(req *http.Request) (*http.Response, error) {
	resp, err := c.calls.RoundTrip(req)
	code := "<error>"
	if err == nil {
		code = strconv.Itoa(resp.StatusCode)
	}
	metrics.RequestResult.Increment(req.Context(), code, req.Method, req.URL.Host)
	return resp, err
}

// breakerTransport is the innermost round tripper of a connection: it does not dial while the runtime is down, and dials only once at a
// time while no connection is established.
type breakerTransport struct{ *connection }

// RoundTrip implements http.RoundTripper.
func (g breakerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	kind, _ := req.Context().Value(markKey{}).(mark)
	lane := &g.short
	if kind == markStream {
		lane = &g.streams
	}
	leave, err := g.enter(req.Context(), lane, kind == markProbe)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	w, begun := g.startSlowCall(req.Context()), time.Now()
	done := g.writes.begin(req)
	resp, err := lane.RoundTrip(req)
	lane.proven.Store(err == nil)
	leave()
	done(resp)
	if err != nil {
		w.endWait()
		err = asDialError(err)
		if kind != markProbe && isConnectFailure(err) {
			g.openBreaker(err)
		}
		return nil, g.redactError(err)
	}
	if kind != markStream {
		g.tempo.answered(time.Since(begun))
	}
	if kind != markStream || resp.StatusCode != http.StatusOK {
		g.limitBody(req, resp, kind)
		capRetryAfter(resp)
	}
	if resp.Header.Get("Retry-After") != "" {
		workerslot.Yield(req.Context()) // client-go waits, and asks again
	}
	if w != nil {
		resp.Body = &trackedBody{ReadCloser: resp.Body, slowCall: w}
	}
	return resp, nil
}

// capRetryAfter keeps client-go from blocking a worker for as long as a server likes, up to ten times. A longer wait is
// for the workqueue; the response's body contains it as well.
func capRetryAfter(resp *http.Response) {
	const longest = 2
	if resp.Header.Get("Retry-After") != "" && (wire.RetryAfter(resp) == 0 || wire.RetryAfter(resp) > longest) {
		resp.Header.Del("Retry-After")
	}
}

// enter lets one call at a time through while no connection is established, and refuses while the runtime is down. The refusal looks like a
// failed dial, because it replaces one.
func (c *connection) enter(ctx context.Context, l *transportPool, probe bool) (leave func(), err error) {
	if err := c.checkBreaker(probe); err != nil {
		return nil, err
	}
	if l.proven.Load() && l.sockets.count() > 0 {
		return func() {}, nil
	}
	if leave, err = l.slot.enter(ctx); err != nil {
		return nil, err
	}
	if err := c.checkBreaker(probe); err != nil { // the caller before may have found out
		leave()
		return nil, err
	}
	return leave, nil
}

func (c *connection) checkBreaker(probe bool) error {
	if c.ctx.Err() != nil {
		return &net.OpError{Op: "dial", Net: "tcp", Err: errWithdrawn}
	}
	if probe {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.breaker.phase != down {
		return nil
	}
	return &net.OpError{Op: "dial", Net: "tcp", Err: errDown}
}

// Their texts name no cause: client-go repeats a GET ten times, a second apart, when it reads "connection reset" in an error.
var (
	errWithdrawn = errors.New("the access to this runtime was withdrawn or replaced")
	errDown      = errors.New("the runtime is not called, because it is known not to answer")
)

// await waits until the runtime is up.
func (c *connection) await(ctx context.Context) error {
	c.mu.Lock()
	answers := c.answers
	c.mu.Unlock()
	select {
	case <-answers:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// admit completes Clusters.Get: nil when the runtime may be called. patience bounds how many workers wait for first responses.
func (c *connection) admit(ctx context.Context, owner types.NamespacedName, patience chan struct{}) *runtimes.Problem {
	anonymous := owner == types.NamespacedName{}
	if p := c.answer(types.NamespacedName{}); p == nil || c.isSettled() {
		return c.answer(owner)
	}
	if !anonymous {
		select {
		case patience <- struct{}{}:
			defer func() { <-patience }()
		default:
			return c.answer(owner)
		}
		limited, cancel := context.WithTimeout(ctx, connectionPatience)
		defer cancel()
		ctx = limited
	}
	defer c.startSlowCall(ctx).endWait()
	select {
	case <-c.settled:
	case <-ctx.Done():
	case <-c.ctx.Done():
	}
	return c.answer(owner)
}

func (c *connection) isSettled() bool {
	select {
	case <-c.settled:
		return true
	default:
		return false
	}
}

// currentProblem returns the breaker's decision, and remembers an owner that is turned away.
func (c *connection) answer(owner types.NamespacedName) *runtimes.Problem {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.breaker.currentProblem(time.Now())
	if p != nil && owner != (types.NamespacedName{}) {
		c.awaiting[owner] = struct{}{}
	}
	return p
}

// client returns an HTTP client for the connection: it follows no redirects, because they would carry the credentials elsewhere.
func (c *connection) client() *http.Client {
	return &http.Client{
		Transport:     c.calls,
		Timeout:       h2stream.CallTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// takeWaitingOwners returns the owners that were refused, and forgets them.
func (c *connection) takeWaitingOwners() []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waitingOwnersLocked(true)
}

// forget removes an owner from those that wait for the runtime.
func (c *connection) forget(owner types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.awaiting, owner)
}

// doubt marks both pools as unproven after a failure: the next calls go one at a time.
func (c *connection) suspect() {
	c.short.proven.Store(false)
	c.streams.proven.Store(false)
}

// jitter returns a random factor, to spread what would happen everywhere at once.
func jitter() float64 { return rand.Float64() } //nolint:gosec // spreads load, guards nothing
