// Package views determines the moments at which the manager's view of a cluster can be stale, or have gaps.
//
// A clean run of an operation shows how many events of which kind the manager received, from the hub and from the runtime. At each of them
// its view can be disturbed in five ways: it is restarted and gets stale lists; a series of events is lost until everything is listed
// again; the event is late; the stream ends; the stream ends and its resource version has expired.
//
// The package never loses an event for good on a stream that continues, because no API server does; and it runs nothing (package trial
// does).
package views

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
)

// Kind is a way to disturb a view.
type Kind string

const (
	// Stale restarts the manager, and lists are as of before the operation until the fault has ended; events wait as long.
	Stale Kind = "stale"
	// Gap loses events of the stream for a second, ends it, and makes the manager list again: the lost events are never seen.
	Gap Kind = "gap"
	// Late delays the event, and all behind it, by two seconds.
	Late Kind = "late"
	// Cut ends the stream before the event.
	Cut Kind = "cut"
	// Gone ends the stream before the event, and its resource version has expired: 410.
	Gone Kind = "gone"
)

// Kinds lists all kinds.
var Kinds = []Kind{Stale, Gap, Late, Cut, Gone}

// length is the duration of the disturbance.
const length = time.Second

// Point is a moment and a kind of disturbance.
type Point struct {
	Operation operation.Operation
	Kind      Kind
	// Server and Resource of the stream, and the number of the event in it.
	Server, Resource string
	N                int
}

// Name is unique.
func (p Point) Name() string {
	return fmt.Sprintf("%s/%s/%s/%s/%d", p.Operation.Name, p.Kind, p.Server, p.Resource, p.N)
}

// Points returns all moments of an operation, with all kinds.
func Points(o operation.Operation, clean *trial.Clean) []Point {
	var points []Point
	for _, stream := range slices.Sorted(maps.Keys(clean.Events)) {
		server, resource, _ := strings.Cut(stream, " ")
		for n := range clean.Events[stream] {
			for _, kind := range Kinds {
				points = append(points, Point{Operation: o, Kind: kind, Server: server, Resource: resource, N: n + 1})
			}
		}
	}
	return points
}

// Break returns the point for a trial.
func (p Point) Break() trial.Break {
	return trial.Break{Fault: string(p.Kind), Name: p.Name(), Begin: p.begin}
}

func (p Point) begin(ctx context.Context, s *operation.Scenario) (func(context.Context) error, error) {
	at := p.server(s)
	old, err := at.Proxy.Revision(ctx)
	if err != nil {
		return nil, err
	}
	d := &disturbance{point: p, scene: s, server: at, old: old, free: make(chan struct{})}
	d.removes = append(d.removes, at.Proxy.Events(d.event), at.Proxy.Use("views", d.serve))
	return d.end, nil
}

func (p Point) server(s *operation.Scenario) *rig.Server {
	for _, server := range s.Rig.Servers() {
		if server.Proxy.Name() == p.Server {
			return server
		}
	}
	return s.Rig.Hub
}

// disturbance counts the events of one stream and strikes at one of them.
type disturbance struct {
	point   Point
	scene   *operation.Scenario
	server  *rig.Server
	old     string
	removes []func()
	free    chan struct{} // closed when events may continue

	mutex    sync.Mutex
	count    int
	began    time.Time // when it struck
	closed   bool      // the gap is closed
	expired  bool      // the next watch of the stream gets 410
	restart  sync.WaitGroup
	restarts error
}

// event returns what happens to an event.
func (d *disturbance) event(call proxy.Call, event proxy.Event) proxy.Fate {
	if call.Resource != d.point.Resource || event.Type == "BOOKMARK" {
		return proxy.Fate{}
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.count++
	switch {
	case d.count == d.point.N && d.began.IsZero():
		d.began = time.Now()
		return d.strike()
	case d.began.IsZero():
		return proxy.Fate{}
	case d.point.Kind == Gap && time.Since(d.began) < length:
		return proxy.Fate{Drop: true}
	case d.point.Kind == Gap && !d.closed:
		d.closed, d.expired = true, true
		return proxy.Fate{Cut: true}
	}
	return proxy.Fate{}
}

func (d *disturbance) strike() proxy.Fate {
	switch d.point.Kind {
	case Stale:
		d.restart.Go(func() { d.restarts = d.scene.Rig.Manager.Restart() })
		return proxy.Fate{Hold: d.free}
	case Gap:
		return proxy.Fate{Drop: true}
	case Late:
		return proxy.Fate{Delay: 2 * length}
	case Gone:
		d.expired = true
		return proxy.Fate{Cut: true}
	case Cut:
	}
	return proxy.Fate{Cut: true}
}

// serve answers lists as of before the operation, and the first watch after a cut with 410.
func (d *disturbance) serve(next http.Handler) http.Handler {
	stale := proxy.StaleLists(func(proxy.Call) string { return d.stale() })(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := proxy.CallOf(r.Context())
		if call.Verb == "watch" && call.Resource == d.point.Resource && d.forget() {
			proxy.WriteStatus(w, metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version",
			}, 0)
			return
		}
		stale.ServeHTTP(w, r)
	})
}

func (d *disturbance) stale() string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.point.Kind == Stale && !d.began.IsZero() {
		return d.old
	}
	return ""
}

func (d *disturbance) forget() bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	forget := d.expired
	d.expired = false
	return forget
}

// end lets everything continue. A stream with a gap is ended with an expired resource version, because that is what a gap means.
func (d *disturbance) end(context.Context) error {
	for _, remove := range d.removes {
		remove()
	}
	close(d.free)
	d.restart.Wait()
	d.mutex.Lock()
	began := d.began
	d.mutex.Unlock()
	if began.IsZero() {
		return nil // the operation came to its end without the event
	}
	if d.point.Kind == Gap {
		relist(d.server)
	}
	if d.point.Kind == Stale {
		d.server.Proxy.Cut()
	}
	return d.restarts
}

// relist makes every client of a server list again: its watches end, and the next one for each resource gets 410.
func relist(server *rig.Server) {
	var mutex sync.Mutex
	told := map[string]bool{}
	remove := server.Proxy.Use("relist", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			call := proxy.CallOf(r.Context())
			mutex.Lock()
			first := call.Verb == "watch" && !told[call.Resource]
			told[call.Resource] = told[call.Resource] || first
			mutex.Unlock()
			if first {
				proxy.WriteStatus(w, metav1.Status{
					Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version",
				}, 0)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	server.Proxy.Cut()
	time.AfterFunc(3*length, remove)
}
