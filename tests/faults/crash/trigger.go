package crash

import (
	"net/http"
	"sync"

	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
)

// Trigger kills the manager at a point, once.
type Trigger struct {
	point Point
	id    string
	kill  func() error

	mutex sync.Mutex
	met   int
	fired chan struct{}
	err   error
}

// NewTrigger returns a trigger for a run on the Scenario of that ID. kill returns when the manager has ended.
func NewTrigger(point Point, id string, kill func() error) *Trigger {
	return &Trigger{point: point, id: id, kill: kill, fired: make(chan struct{})}
}

// Arm installs the trigger in the proxy that the point names, and in no other.
func (t *Trigger) Arm(proxies ...*proxy.Proxy) (disarm func()) {
	var removes []func()
	for _, p := range proxies {
		if p.Name() == t.point.Server {
			removes = append(removes, p.Use("crash "+t.point.ID(), t.step))
		}
	}
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// Fired is closed when the manager is dead.
func (t *Trigger) Fired() <-chan struct{} { return t.fired }

// Err returns why the manager could not be killed; read it after Fired.
func (t *Trigger) Err() error { return t.err }

func (t *Trigger) step(next http.Handler) http.Handler {
	before := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.fire()
		panic(http.ErrAbortHandler)
	})
	after := proxy.Unanswered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer t.fire()
		next.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !t.meets(proxy.CallOf(r.Context())):
			next.ServeHTTP(w, r)
		case t.point.When == Before:
			before.ServeHTTP(w, r)
		default:
			after.ServeHTTP(w, r)
		}
	})
}

// meets counts the calls that match the point, and reports when the right one arrives.
func (t *Trigger) meets(call proxy.Call) bool {
	if !counts(call) || name(call, t.id) != t.point.Call {
		return false
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.met++
	return t.met == t.point.Occurrence
}

func (t *Trigger) fire() {
	t.err = t.kill()
	close(t.fired)
}
