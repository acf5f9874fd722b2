package replicas

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// callBarrier holds one write of an operation on its way to a server.
type callBarrier struct {
	// held receives the write once it is held; back is closed when its writer has cancelled it, through when the server has responded.
	held          chan proxy.Call
	back, through chan struct{}

	match  proxy.Match
	n      int64
	within time.Duration // bounds await
	count  atomic.Int64
	once   sync.Once
	opened chan struct{}
	remove func()
}

// hold installs a barrier in front of a server, for the n-th matching call from now on. within bounds its waits.
func hold(server *rig.Server, n int, within time.Duration, match proxy.Match) *callBarrier {
	g := &callBarrier{
		held: make(chan proxy.Call, 1), back: make(chan struct{}), through: make(chan struct{}), opened: make(chan struct{}),
		match: match, n: int64(n), within: within,
	}
	g.remove = server.Proxy.Use("replicas", g.serve)
	return g
}

func (g *callBarrier) serve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := proxy.CallOf(r.Context())
		if !g.match(call) || g.count.Add(1) != g.n {
			next.ServeHTTP(w, r)
			return
		}
		g.held <- call
		select {
		case <-g.opened: // it was sent: it arrives, whatever happened to its writer
			defer close(g.through)
			next.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
		case <-r.Context().Done():
			close(g.back)
			panic(http.ErrAbortHandler)
		}
	})
}

// open lets the write continue.
func (g *callBarrier) open() { g.once.Do(func() { close(g.opened) }) }

// await waits for back or through.
func (g *callBarrier) await(ctx context.Context, what <-chan struct{}, otherwise string) error {
	select {
	case <-what:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(g.within):
		return fmt.Errorf("%s within %s", otherwise, g.within)
	}
}

// writes matches calls that change something lasting.
func writes(call proxy.Call) bool { return call.Mutating && !call.Heartbeat() }

// ofMaps reports whether a call is a write of the module of ConfigMaps. A pass sends these concurrently: while one is held, the pass has
// the others to record.
func ofMaps(s *operation.Scenario, call proxy.Call) bool {
	return writes(call) && call.Server == s.Home.Proxy.Name() && call.Resource == "configmaps" && strings.HasPrefix(call.Name, s.Maps)
}
