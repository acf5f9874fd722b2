package clustercache

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// livesVariable is the environment variable with the number of random histories.
const livesVariable = "FLEET_LIVES"

// The kinds of the model, more of them than streams.
var lived = map[string]runtimes.Interest{
	configMapPath: {GroupVersionKind: configMaps}, secretPath: {GroupVersionKind: secrets}, servicePath: {GroupVersionKind: services},
	accountPath:    {GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}},
	deploymentPath: {GroupVersionKind: deployments, Mode: runtimes.Workload},
}

// lives is a history of random events in a runtime: kinds are listed, watched, not served, too large, forbidden, they disappear and return,
// streams end, fall silent or deliver unreadable events, owners come and go, and so does the network. The code under test is that of
// production; only the API server is in memory, and the time is simulated.
type lives struct {
	*memoryServer
	t      *testing.T
	b      *bench
	r      *Runtime
	rnd    *rand.Rand
	tracks map[types.NamespacedName]map[string]bool
	sound  map[string]bool // the lists of that kind worked since all was looked at last
	doubts map[string]int  // lists of a kind before an event of it was lost
	events []string
}

func TestLife_RandomEventsLeaveNoKindUnread(t *testing.T) {
	seeds := 24
	if more, err := strconv.Atoi(os.Getenv(livesVariable)); err == nil {
		seeds = more
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(sortedKeys(lived)...)
			inWorld(t, w, func(c *Config) { c.MaxStreams = 2 }, func(t *testing.T, b *bench, r *Runtime) {
				l := &lives{
					memoryServer: w, t: t, b: b, r: r, rnd: rand.New(rand.NewPCG(uint64(seed), 7)),
					tracks: map[types.NamespacedName]map[string]bool{}, sound: map[string]bool{}, doubts: map[string]int{},
				}
				l.live()
			})
		})
	}
}

func (l *lives) live() {
	for range 4 {
		for range 3 {
			for range 12 {
				l.happen()
				l.pass(20 * time.Second)
			}
			l.settleDown()
		}
		l.audited()
	}
	l.unhurried()
}

func (l *lives) notef(format string, args ...any) {
	l.events = append(l.events, time.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
}

func (l *lives) failf(format string, args ...any) {
	l.t.Helper()
	for _, event := range l.events[max(0, len(l.events)-40):] {
		l.t.Log(event)
	}
	l.t.Fatalf(time.Now().Format(time.TimeOnly)+" "+format, args...)
}

func (l *lives) pass(most time.Duration) { <-time.After(time.Duration(l.rnd.Int64N(int64(most)))) }

func (l *lives) one(of ...manner) manner { return of[l.rnd.IntN(len(of))] }

// happen applies one random event.
func (l *lives) happen() {
	paths := sortedKeys(lived)
	path := paths[l.rnd.IntN(len(paths))]
	switch at := l.rnd.IntN(100); {
	case at < 30:
		name, there := fmt.Sprint("o", l.rnd.IntN(4)), at < 20
		l.notef("%s: object %s is there: %v", path, name, there)
		l.put(path, name, there)
	case at < 40:
		l.mu.Lock()
		k := l.realms[path]
		k.lists = l.one(works, works, works, missing, denied, broken, immenseIn, stuck, gateway)
		l.sound[path] = l.sound[path] && k.lists == works
		l.notef("%s: lists %s", path, k.lists)
		l.mu.Unlock()
	case at < 55:
		l.mu.Lock()
		k := l.realms[path]
		k.watches = l.one(works, works, works, missing, denied, broken, stuck, gateway, outdated, held, silent, brief, garbled)
		l.notef("%s: watches %s", path, k.watches)
		l.mu.Unlock()
	case at < 63:
		l.notef("%s: its streams end", path)
		l.end(path, map[bool]error{true: io.EOF, false: io.ErrUnexpectedEOF}[at < 59])
	case at < 69:
		l.loseOne(path)
	case at < 80:
		l.track()
	case at < 84:
		l.outage()
	case at < 88:
		l.mu.Lock()
		l.realms[path].compacted = l.version
		l.mu.Unlock()
	default:
		l.pass(3 * time.Minute)
	}
}

// loseOne makes a stream deliver an event that exceeds the budget.
func (l *lives) loseOne(path string) {
	l.mu.Lock()
	told := len(l.realms[path].notified()) > 0
	lists := len(l.realms[path].listed)
	l.mu.Unlock()
	if told {
		l.notef("%s: an event is lost", path)
		l.crowd(path, l.r)
		l.doubts[path] = lists
	}
}

// track makes an owner track other kinds, or none.
func (l *lives) track() {
	owner := ownerNamed([]string{"a", "b", "c"}[l.rnd.IntN(3)])
	l.tracks[owner] = map[string]bool{}
	var kinds []runtimes.Interest
	for _, path := range sortedKeys(lived) {
		if l.rnd.IntN(2) == 0 {
			l.tracks[owner][path] = true
			kinds = append(kinds, lived[path])
		}
	}
	l.notef("%s tracks %v", owner.Name, sortedKeys(l.tracks[owner]))
	if len(kinds) == 0 {
		delete(l.tracks, owner)
		l.r.Untrack(owner)
		return
	}
	l.r.Track(owner, kinds)
}

// outage makes the server unreachable for a while.
func (l *lives) outage() {
	l.notef("outage")
	l.setDown(true)
	l.r.conn.openBreaker(context.DeadlineExceeded)
	for path := range lived {
		l.end(path, io.ErrUnexpectedEOF)
	}
	l.pass(3 * time.Minute)
	l.setDown(false)
	l.notef("outage is over")
}

// settleDown checks the invariant for watched kinds: some minutes after all events the cached state is complete, or no detectable failure
// of the stream occurred; the owners were enqueued if and only if the stream does not open; and every lost event led to a list.
func (l *lives) settleDown() {
	type service struct{ watched, told, deaf bool }
	steadily, since := map[string]service{}, map[string]time.Time{}
	changed := map[string]int{}
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); <-time.After(time.Second) {
		for path := range lived {
			_, watched := l.kind(path)
			_, _, told, deaf := l.state(path)
			before := steadily[path]
			if now := (service{watched, told, deaf}); now != before {
				steadily[path], since[path] = now, time.Now()
			}
			if watched != before.watched {
				changed[path]++
			}
		}
	}
	for path, n := range changed {
		if n > 4 {
			l.failf("%s: its stream was given and taken %d times while nothing happened", path, n)
		}
	}
	for _, path := range sortedKeys(lived) {
		k, watched := l.kind(path)
		lists, watches, told, deaf := l.state(path)
		if k == nil || !watched || lists != works || !l.sound[path] || deaf {
			continue
		}
		if before, doubted := l.doubts[path]; doubted {
			if after, _ := l.countCalls(path); after <= before {
				l.failf("%s: an event was lost, and no list followed", path)
			}
		}
		if steadily[path] != (service{watched, told, deaf}) || time.Since(since[path]) < 3*time.Minute {
			continue // it was given a stream, or lost it, a moment ago
		}
		l.wantWhole(path, "minutes later")
		if ill := !told && watches != works; ill == (l.trouble(k) == nil) {
			l.failf("%s: watches %s, and told is %v: %+v", path, watches, l.trouble(k), k.life)
		}
	}
	clear(l.doubts)
}

// audited checks the invariant for all kinds: whatever streams fail to deliver is known after the next audit.
func (l *lives) audited() {
	<-time.After(l.b.cfg.AuditInterval*11/10 + 3*time.Minute)
	for _, path := range sortedKeys(lived) {
		lists, _, _, _ := l.state(path)
		if k, _ := l.kind(path); k != nil && lists == works {
			l.wantWhole(path, "after an audit")
		}
		l.sound[path] = lists == works
	}
}

// unhurried checks the invariant for calls: no kind is requested more often than the pauses allow.
func (l *lives) unhurried() {
	const window, most = 10 * time.Second, 60
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, k := range l.realms {
		calls := append(slices.Clone(k.listed), k.watched...)
		slices.SortFunc(calls, time.Time.Compare)
		for i := most; i < len(calls); i++ {
			if calls[i].Sub(calls[i-most]) < window {
				l.failf("%s: %d calls within %s at %s", path, most, window, calls[i].Format(time.TimeOnly))
			}
		}
	}
}

func (l *lives) kind(path string) (k *kind, watched bool) {
	l.r.mu.RLock()
	defer l.r.mu.RUnlock()
	if k = l.r.kinds[lived[path].GroupKind()]; k != nil {
		watched = k.watched
	}
	return k, watched
}

func (l *lives) trouble(k *kind) *runtimes.Problem {
	l.r.mu.RLock()
	defer l.r.mu.RUnlock()
	return k.currentProblem()
}

// state returns how the server responds for a kind, and whether a stream is open that delivers events, or one that does not.
func (l *lives) state(path string) (lists, watches manner, told, deaf bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.realms[path]
	for _, silent := range k.open {
		told, deaf = told || !silent, deaf || silent
	}
	return k.lists, k.watches, told, deaf
}

// wantWhole checks that the cached state of a kind equals the server's.
func (l *lives) wantWhole(path, when string) {
	l.t.Helper()
	l.mu.Lock()
	there := sortedKeys(l.realms[path].objects)
	l.mu.Unlock()
	l.r.mu.RLock()
	var known []string
	for at := range maps.Keys(l.r.kinds[lived[path].GroupKind()].objects) {
		known = append(known, at.name.Value())
	}
	l.r.mu.RUnlock()
	slices.Sort(known)
	if !slices.Equal(there, known) {
		l.failf("%s: %s there is %v, and %v is known", path, when, there, known)
	}
}
