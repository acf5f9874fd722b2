package fleet

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

	"github.com/kyma-project/lifecycle-manager/internal/turn"
	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// connection is how one runtime is called: one rate limit, one breaker, and two lanes. What is called and answered goes over one of them,
// which is closed when nobody has called for a while; the streams go over the other, so that the buffers that lists and writes need are
// not held for as long as the streams live.
type connection struct {
	target    Target
	ctx       context.Context //nolint:containedctx // ends with the connection
	spawn     func(func())    // runs a goroutine that Fleet.Start waits for
	tell      func(urgency.Level, ...types.NamespacedName)
	concerned func() []types.NamespacedName // owners that track the runtime
	recovered func()                        // told of the end of every outage

	short   lane
	streams lane
	calls   http.RoundTripper // the lanes behind the gate, with credentials and user agent
	stamp   http.Header       // credentials and user agent, to be shared by the requests of streams
	secrets [][]byte          // credentials, as texts that must not get into a message
	giants  chan struct{}     // large answers that are being read
	base    *url.URL
	limiter flowcontrol.RateLimiter
	writes  writes

	entrance *entrance    // to the fleet
	hurry    atomic.Bool  // somebody waits for what is to be found out first
	tempo    *tempo       // of the fleet
	late     atomic.Int32 // passes that wait for longer than usual

	mu       sync.Mutex
	breaker  breaker
	probing  bool
	timer    *time.Timer
	answers  chan struct{} // closed while the runtime is up
	settled  chan struct{} // closed at the first answer or failure
	awaiting map[types.NamespacedName]struct{}

	asksIdentity bool // set before the first call
	identified   bool
	identity     string
}

// mark says in a request's context what the gate has to know about it.
type mark int

const (
	markProbe  mark = iota + 1 // may dial while the runtime counts as down
	markStream                 // has no end, so that its length is not capped
	markPage                   // a page of a list, which is read item by item
)

type markKey struct{}

func marked(ctx context.Context, m mark) context.Context { return context.WithValue(ctx, markKey{}, m) }

// connect builds everything and calls nothing. standard has net/http carry the streams.
func (c *connection) connect(cfg *rest.Config, wrap func(http.RoundTripper) http.RoundTripper, standard bool) error {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return err
	}
	tlsConfig, err := tlsOf(cfg)
	if err != nil {
		return err
	}
	c.short.slot, c.streams.slot = c.door(), c.door()
	c.short.openShort(cfg, tlsConfig)
	if standard {
		c.streams.openStandard(cfg, tlsConfig)
	} else {
		c.streams.openStreams(cfg, tlsConfig, c.spawn)
	}
	if c.calls, err = rest.HTTPWrappersForConfig(cfg, gate{c}); err != nil {
		return err
	}
	if wrap != nil {
		c.calls = wrap(c.calls)
	}
	c.base = base
	c.limiter = flowcontrol.NewTokenBucketRateLimiter(cfg.QPS, cfg.Burst)
	c.stamp, c.secrets = stampOf(cfg), secretsOf(cfg)
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
	c.hangUp()
}

// hangUp closes what is open, whoever uses it.
func (c *connection) hangUp() {
	c.short.close()
	c.streams.close()
}

// do makes a call that no client of client-go makes, and has it counted as such a client would (rest_client_requests_total).
func (c *connection) do(req *http.Request) (*http.Response, error) {
	resp, err := c.calls.RoundTrip(req)
	code := "<error>"
	if err == nil {
		code = strconv.Itoa(resp.StatusCode)
	}
	metrics.RequestResult.Increment(req.Context(), code, req.Method, req.URL.Host)
	return resp, err
}

// gate is the innermost round tripper of a connection: it dials for nobody while the runtime is down, and once while it is not proven.
type gate struct{ *connection }

// RoundTrip implements http.RoundTripper.
func (g gate) RoundTrip(req *http.Request) (*http.Response, error) {
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
	w, begun := g.waits(req.Context()), time.Now()
	done := g.writes.begin(req)
	resp, err := lane.RoundTrip(req)
	lane.proven.Store(err == nil)
	leave()
	done(resp)
	if err != nil {
		w.over()
		err = fallenSilent(err)
		if kind != markProbe && unanswered(err) {
			g.trip(err)
		}
		return nil, g.hidden(err)
	}
	if kind != markStream {
		g.tempo.answered(time.Since(begun))
	}
	if kind != markStream || resp.StatusCode != http.StatusOK {
		g.measured(req, resp, kind)
		impatient(resp)
	}
	if resp.Header.Get("Retry-After") != "" {
		turn.Yield(req.Context()) // client-go waits, and asks again
	}
	if w != nil {
		resp.Body = &awaited{ReadCloser: resp.Body, wait: w}
	}
	return resp, nil
}

// impatient keeps client-go from waiting for as long as a server likes, up to ten times, with a worker in its hands. A longer wait is
// for the workqueue; the answer's body tells it as well.
func impatient(resp *http.Response) {
	const longest = 2
	if resp.Header.Get("Retry-After") != "" && (retryAfter(resp) == 0 || retryAfter(resp) > longest) {
		resp.Header.Del("Retry-After")
	}
}

// enter waits for its turn while no connection is proven, and refuses while the runtime is down. The refusal looks like a failed dial,
// because that is what it stands for.
func (c *connection) enter(ctx context.Context, l *lane, probe bool) (leave func(), err error) {
	if err := c.refused(probe); err != nil {
		return nil, err
	}
	if l.proven.Load() && l.sockets.count() > 0 {
		return func() {}, nil
	}
	if leave, err = l.slot.enter(ctx); err != nil {
		return nil, err
	}
	if err := c.refused(probe); err != nil { // whoever went before may have found out
		leave()
		return nil, err
	}
	return leave, nil
}

func (c *connection) refused(probe bool) error {
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

// admit is the end of Fleet.Get: nil when the runtime may be called. patience bounds how many workers wait for first answers.
func (c *connection) admit(ctx context.Context, owner types.NamespacedName, patience chan struct{}) *Problem {
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
	defer c.waits(ctx).over()
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

// answer asks the breaker, and remembers an owner that gets no for an answer.
func (c *connection) answer(owner types.NamespacedName) *Problem {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.breaker.answer(time.Now())
	if p != nil && owner != (types.NamespacedName{}) {
		c.awaiting[owner] = struct{}{}
	}
	return p
}

// client is the connection for calls of others: redirects are not followed, because they would carry the credentials elsewhere.
func (c *connection) client() *http.Client {
	return &http.Client{
		Transport:     c.calls,
		Timeout:       callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// turnedAway lists the owners that asked in vain.
func (c *connection) turnedAway() []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiters(true)
}

// forget takes back that an owner asked for the runtime.
func (c *connection) forget(owner types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.awaiting, owner)
}

// doubt says that something about the connection was odd: the next calls go alone.
func (c *connection) doubt() {
	c.short.proven.Store(false)
	c.streams.proven.Store(false)
}

// jitter spreads what would happen everywhere at once.
func jitter() float64 { return rand.Float64() } //nolint:gosec // spreads load, guards nothing
