package clustercache

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestPauseBeforeRead(t *testing.T) {
	blank, other := &object{uid: "u", blank: true}, &object{uid: "v", blank: true}
	for _, test := range []struct {
		name   string
		before *object
		looks  uint8
		want   time.Duration
	}{
		{"the first event of a definition that we made waits for the second", blank, 0, secondEvent},
		{"the second is read at once", &object{uid: "u"}, 0, 0},
		{"so is what another client made", nil, 0, 0},
		{"and one that took the place of another", other, 0, 0},
		{"one that was read in vain, too", &object{uid: "u"}, promptReads - 1, 0},
		{"but not again and again", &object{uid: "u"}, promptReads, firstPause},
		{"then in growing intervals", &object{uid: "u"}, promptReads + 2, 4 * firstPause},
		{"up to a limit", &object{uid: "u"}, 255, lastPause},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := pauseBeforeRead(test.before, &object{uid: "u", looks: test.looks}); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

const definitionPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// establishing is an API server in memory with one definition.
type establishing struct {
	*memoryServer
	runtime *Runtime

	mu      sync.Mutex
	status  string // the conditions now
	leaving string // the deletionTimestamp now
	at      uint64
	reads   int
}

// wrap answers the reads of the definition, and counts them.
func (e *establishing) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if !strings.HasPrefix(req.URL.Path, definitionPath+"/") {
			return next.RoundTrip(req)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.reads++
		return answered(http.StatusOK, e.wholeLocked()), nil
	})
}

func (e *establishing) wholeLocked() string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",%s,
		"spec":{"group":"law.test","names":{"kind":"Widget","plural":"widgets"}},"status":{"conditions":[%s]}}`, e.metaLocked(), e.status)
}

func (e *establishing) metaLocked() string {
	return fmt.Sprintf(`"metadata":{"name":"widgets.law.test","uid":"u","generation":1,"resourceVersion":"%d"%s}`, e.at, e.leaving)
}

// say writes the status and sends the event to the stream.
func (e *establishing) say(status string) {
	e.memoryServer.mu.Lock()
	e.version++
	e.mu.Lock()
	e.status, e.at = status, e.version
	told := event("MODIFIED", "{"+e.metaLocked()+"}")
	e.mu.Unlock()
	streams := e.realms[definitionPath].notified()
	e.memoryServer.mu.Unlock()
	for _, s := range streams {
		s.send([]byte(told))
	}
}

const (
	accepted = `{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"False"}`
	served   = `{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True","lastTransitionTime":"2020-01-01T00:00:00Z"}`
)

// inEstablishing runs a test with a runtime in which we have created a definition just now.
func inEstablishing(t *testing.T, do func(t *testing.T, e *establishing, ready func() bool)) {
	t.Helper()
	e := &establishing{memoryServer: newWorld(definitionPath)}
	inWorld(t, e.memoryServer, func(c *Config) { c.WrapTransport = e.wrap }, func(t *testing.T, b *bench, r *Runtime) {
		owner := ownerNamed("a")
		r.Track(owner, []runtimes.Interest{{GroupVersionKind: definitions, Mode: runtimes.Copy}})
		<-time.After(10 * time.Second)
		e.memoryServer.mu.Lock()
		e.version++
		made := definitionOf(widgets("law.test"), owner)
		made.SetUID("u")
		made.SetResourceVersion(strconv.FormatUint(e.version, 10))
		e.at = e.version
		e.memoryServer.mu.Unlock()
		r.observeWrite(made)
		e.runtime = r
		do(t, e, func() bool {
			result, kept := r.Health(inventory.IDOf(made))
			return kept && result.Status == health.Ready
		})
	})
}

func (e *establishing) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reads
}

func TestRead_OfADefinitionThatIsEstablishedAtOnce(t *testing.T) {
	inEstablishing(t, func(t *testing.T, e *establishing, ready func() bool) {
		e.say(accepted)
		<-time.After(5 * time.Millisecond)
		if e.count() != 0 || ready() {
			t.Errorf("%d reads when the names are accepted, ready %t", e.count(), ready())
		}
		e.say(served)
		<-time.After(5 * time.Millisecond)
		if !ready() {
			t.Error("not known to be established 5 ms after the event of it")
		}
		<-time.After(time.Minute)
		if e.count() != 1 {
			t.Errorf("%d reads, want one", e.count())
		}
	})
}

// What the stream tells of a definition is its metadata, and no read follows.
func TestResource_OfADefinitionThatIsBeingDeletedDoesNotWarmUp(t *testing.T) {
	inEstablishing(t, func(t *testing.T, e *establishing, _ func() bool) {
		expect := func(when string, want bool) {
			t.Helper()
			resource, err := e.runtime.Cluster().Resource(t.Context(), widgets("law.test"))
			if resource.WarmingUp != want || err != nil {
				t.Errorf("%s: warms up is %t, %v", when, resource.WarmingUp, err)
			}
		}
		expect("made", true)
		e.mu.Lock()
		e.leaving = `,"deletionTimestamp":"2020-01-01T00:00:01Z"`
		e.mu.Unlock()
		e.say(accepted)
		<-time.After(5 * time.Millisecond)
		expect("being deleted", false)
	})
}

func TestRead_OfADefinitionThatIsEstablishedByOneWrite(t *testing.T) {
	inEstablishing(t, func(t *testing.T, e *establishing, ready func() bool) {
		e.say(served)
		<-time.After(secondEvent + 5*time.Millisecond)
		if e.count() != 1 || !ready() {
			t.Errorf("%d reads, ready %t", e.count(), ready())
		}
	})
}

// However often its status is written, a definition is read a few times only until it is established, and known to be at most a pause
// after that. Nothing is read afterwards.
func TestRead_OfADefinitionWithRandomEvents(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 11))
			inEstablishing(t, func(t *testing.T, e *establishing, ready func() bool) {
				begun, events := time.Now(), 1+rnd.IntN(300)
				for range events {
					e.say(accepted)
					<-time.After(time.Duration(rnd.Int64N(int64(time.Second))))
				}
				lasted := time.Since(begun)
				most := promptReads + 2 // and one for each doubling of the pause
				for pause := firstPause; pause < lasted; pause *= 2 {
					most++
				}
				if lasted > lastPause {
					most += int(lasted / lastPause)
				}
				if n := e.count(); n > most {
					t.Errorf("%d reads for %d events in %s, want at most %d", n, events, lasted, most)
				}
				e.say(served)
				<-time.After(max(secondEvent, min(2*lasted, lastPause)) + time.Second)
				if !ready() {
					t.Errorf("not known to be established, after %d events in %s", events, lasted)
				}
				before := e.count()
				for range 10 {
					e.say(served)
				}
				<-time.After(time.Hour)
				if after := e.count(); after != before {
					t.Errorf("%d reads of an established definition", after-before)
				}
			})
		})
	}
}
