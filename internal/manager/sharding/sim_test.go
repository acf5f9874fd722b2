package sharding

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
)

// simulation is a hub, a number of replicas and a clock, all of it in the hands of one test: exactly one replica runs at a time, until its
// next call to the hub, and the test says which one and how much time passes.
type simulation struct {
	t      testing.TB
	rnd    *rand.Rand
	calm   bool // no faults any more
	time   time.Duration
	origin time.Time

	counter  int
	beats    map[string]string
	throne   LeaderRecord
	table    assignment.Assignment
	version  string
	replicas []*replica

	foreign      bool // a manager that knows nothing of shares is about
	foreignSeen  string
	foreignSince time.Duration
	foreignEnds  time.Duration
	writes       int
	events       []string
}

// replica is one of the world's.
type replica struct {
	world  *simulation
	name   string
	member *Member
	rate   float64
	offset time.Duration
	turn   chan struct{}
	done   chan struct{} // it gave its turn back
	wakes  time.Duration // when it continues by itself
	until  time.Duration // it is stopped until then
	cut    time.Duration // it runs, and reaches no one, until then
	dead   bool
	leaves bool
	passes []runningPass
}

type runningPass struct {
	bucket int
	end    func()
	ctx    context.Context
}

var errLost = errors.New("the answer was lost")

func newWorld(t testing.TB, seed uint64) *simulation {
	return &simulation{
		t: t, rnd: rand.New(rand.NewPCG(seed, 1)), origin: time.Unix(1_000_000, 0), beats: map[string]string{},
	}
}

func (w *simulation) notef(format string, args ...any) {
	w.events = append(w.events, fmt.Sprintf("%8s ", w.time.Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (w *simulation) next() string {
	w.counter++
	return fmt.Sprint("v", w.counter)
}

// add starts a replica whose clock has its own speed.
func (w *simulation) add(terms Timing) *replica {
	r := &replica{
		world: w, name: fmt.Sprint("r", len(w.replicas)), rate: 0.88 + 0.24*w.rnd.Float64(), offset: time.Duration(w.rnd.Int64N(1e12)),
		turn: make(chan struct{}), done: make(chan struct{}),
	}
	r.member = New(Config{
		Store: r, Host: r.name, Timing: terms, Drain: 4 * time.Second, Log: logr.Discard(),
		Now: func() time.Time { return w.origin.Add(r.offset + time.Duration(r.rate*float64(w.time))) },
	})
	w.replicas = append(w.replicas, r)
	go r.live()
	<-r.done
	return r
}

// live is a replica's loop. It runs only in its turns.
func (r *replica) live() {
	r.yield()
	for !r.dead {
		if r.leaves {
			r.endPasses(true)
			r.member.leave(context.Background())
			r.dead = true
			break
		}
		pause := r.member.tick(context.Background())
		r.work()
		r.wakes = r.world.time + time.Duration(float64(pause)/r.rate)
		r.yield()
	}
	r.done <- struct{}{}
}

func (r *replica) yield() {
	r.done <- struct{}{}
	<-r.turn
}

// work begins and ends passes, as controllers do.
func (r *replica) work() {
	r.endPasses(false)
	for range 8 {
		bucket := r.world.rnd.IntN(Buckets)
		if ctx, end, standing := r.member.Begin(context.Background(), bucket); standing == Mine {
			r.passes = append(r.passes, runningPass{bucket: bucket, end: end, ctx: ctx})
		}
	}
}

func (r *replica) endPasses(all bool) {
	r.passes = slices.DeleteFunc(r.passes, func(p runningPass) bool {
		over := all || p.ctx.Err() != nil || r.world.rnd.IntN(3) == 0
		if over {
			p.end()
		}
		return over
	})
}

// may returns the buckets in which a replica would send a write, if it had one.
func (r *replica) may() (buckets []int) {
	m := r.member
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.dead || !within(m.now(), m.until) {
		return nil
	}
	for bucket, stage := range m.stages {
		if stage == working || stage == draining && len(m.passes[bucket]) > 0 {
			buckets = append(buckets, bucket)
		}
	}
	return buckets
}

// call yields to others, and then does something or loses it.
func (r *replica) call(do func() error) error {
	w := r.world
	r.wakes = w.time
	r.yield()
	if r.dead {
		return errLost
	}
	fate := 100
	if !w.calm {
		fate = w.rnd.IntN(100)
	}
	if fate < 3 || r.cut > w.time {
		return errLost
	}
	err := do()
	r.wakes = w.time
	r.yield() // the answer takes its time
	if fate < 6 || r.cut > w.time {
		return errLost
	}
	return err
}

func (r *replica) Snapshot(context.Context) (seen Snapshot, err error) {
	err = r.call(func() error {
		w := r.world
		seen = Snapshot{Heartbeats: maps.Clone(w.beats), Leader: w.throne, Table: w.table, Version: w.version}
		return nil
	})
	return seen, err
}

func (r *replica) RenewHeartbeat(_ context.Context, name, from string) (written string, err error) {
	err = r.call(func() error {
		if r.world.beats[name] != from {
			return ErrChanged
		}
		written = r.world.next()
		r.world.beats[name] = written
		r.world.writes++
		return nil
	})
	return written, err
}

func (r *replica) DeleteHeartbeat(_ context.Context, name, from string) error {
	return r.call(func() error {
		if r.world.beats[name] != from || from == "" {
			return ErrChanged
		}
		r.world.notef("%s buries %s", r.name, name)
		delete(r.world.beats, name)
		return nil
	})
}

func (r *replica) AcquireLeadership(_ context.Context, holder, from string) error {
	return r.call(func() error {
		if r.world.throne.Version != from {
			return ErrChanged
		}
		r.world.throne = LeaderRecord{Version: r.world.next(), Holder: holder, For: 15 * time.Second}
		return nil
	})
}

func (r *replica) Write(_ context.Context, table assignment.Assignment, from string) error {
	return r.call(func() error {
		if r.world.version != from {
			return ErrChanged
		}
		r.world.notef("%s writes %s", r.name, table.Encode())
		r.world.table, r.world.version = table, r.world.next()
		return nil
	})
}

// step advances the time and runs one replica.
func (w *simulation) step(most time.Duration) {
	w.time += time.Duration(w.rnd.Int64N(int64(most)))
	w.meddle()
	var ready []*replica
	for _, r := range w.replicas {
		if !r.dead && r.wakes <= w.time && r.until <= w.time {
			ready = append(ready, r)
		}
	}
	if len(ready) > 0 {
		r := ready[w.rnd.IntN(len(ready))]
		r.turn <- struct{}{}
		<-r.done
	}
	w.check()
}

// meddle is a manager without sharding: it works by the leader Lease alone, as client-go's leader election does.
func (w *simulation) meddle() {
	if w.throne.Foreign {
		if w.time > w.foreignEnds {
			w.throne = LeaderRecord{Version: w.next(), For: time.Second}
		}
		return
	}
	if !w.foreign {
		return
	}
	if w.foreignSeen != w.throne.Version {
		w.foreignSeen, w.foreignSince = w.throne.Version, w.time
	}
	if w.throne.Holder == "" || w.time-w.foreignSince > w.throne.For {
		w.notef("a foreign manager takes the throne")
		w.throne = LeaderRecord{Version: w.next(), Holder: "foreign", Foreign: true, For: 15 * time.Second}
		w.foreign, w.foreignEnds = false, w.time+20*time.Second
	}
}

// check is the invariant: no bucket has two writers.
func (w *simulation) check() {
	var who [Buckets]string
	if w.throne.Foreign {
		for bucket := range who {
			who[bucket] = "a foreign manager"
		}
	}
	for _, r := range w.replicas {
		for _, bucket := range r.may() {
			if who[bucket] != "" {
				w.failf("at %s bucket %d may be written by %s and by %s", w.time, bucket, who[bucket], r.name)
			}
			who[bucket] = r.name
		}
	}
}

// failf fails with the latest events.
func (w *simulation) failf(format string, args ...any) {
	for _, event := range w.events[max(0, len(w.events)-30):] {
		w.t.Log(event)
	}
	w.t.Fatalf(format, args...)
}

func (w *simulation) alive() []*replica {
	return slices.DeleteFunc(slices.Clone(w.replicas), func(r *replica) bool { return r.dead })
}

// disturb does one of the things that happen to replicas.
func (w *simulation) disturb(terms Timing) {
	alive := w.alive()
	if len(alive) == 0 {
		w.add(terms)
		return
	}
	r := alive[w.rnd.IntN(len(alive))]
	switch at := w.rnd.IntN(100); {
	case at < 15:
		r.cut = w.time + time.Duration(w.rnd.Int64N(int64(40*time.Second)))
		w.notef("%s is cut off until %s", r.name, r.cut)
	case at < 30:
		r.until = w.time + time.Duration(w.rnd.Int64N(int64(40*time.Second)))
		w.notef("%s is stopped until %s", r.name, r.until)
	case at < 45 && len(alive) > 1:
		w.notef("%s is killed", r.name)
		r.dead = true
	case at < 70 && len(alive) < 5:
		w.notef("%s comes", w.add(terms).name)
	case at < 80 && len(alive) > 1:
		w.notef("%s leaves", r.name)
		r.leaves = true
	case at < 85:
		w.notef("the heartbeat of %s is deleted", r.name)
		delete(w.beats, r.member.Name())
	case at < 88:
		w.notef("the table is deleted")
		w.table, w.version = assignment.Assignment{}, ""
	case at < 93:
		w.foreign = true
	default:
		w.foreign = true
		for _, r := range alive {
			r.until = w.time + time.Duration(w.rnd.Int64N(int64(30*time.Second)))
		}
		w.notef("all are stopped for a while")
	}
}

var realTerms = Timing{Lease: 15 * time.Second, Renew: 10 * time.Second, Retry: 2 * time.Second}

// worldsVariable is how many worlds are tried out; each is the same every time.
const worldsVariable = "SHARD_WORLDS"

func TestMember_NeverSharesABucketWithAnotherWriter(t *testing.T) {
	worlds, steps := 12, 2500
	if more, err := strconv.Atoi(os.Getenv(worldsVariable)); err == nil {
		worlds = more
	}
	for seed := range worlds {
		w := newWorld(t, uint64(seed))
		w.add(realTerms)
		for step := range steps {
			if step%40 == 39 {
				w.disturb(realTerms)
			}
			w.step(300 * time.Millisecond)
		}
		w.settle(seed)
	}
}

// settle ends all faults, and checks that everything is distributed evenly soon.
func (w *simulation) settle(seed int) {
	w.calm, w.foreign = true, false
	if len(w.alive()) == 0 {
		w.add(realTerms)
	}
	for _, r := range w.alive() {
		r.until, r.cut = min(r.until, w.time), min(r.cut, w.time)
		r.leaves = false
	}
	for end := w.time + 2*time.Minute; w.time < end; {
		w.step(20 * time.Millisecond)
	}
	alive := w.alive()
	for _, r := range alive {
		if got := r.member.Owned(); got < Buckets/len(alive) || got > Buckets/len(alive)+1 {
			w.failf("seed %d: %s has %d buckets of %d, and there are %d replicas", seed, r.name, got, Buckets, len(alive))
		}
	}
}
