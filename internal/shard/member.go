package shard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/shard/allot"
)

// Terms are the times that all replicas keep to.
type Terms struct {
	// Lease is for how long a heartbeat has to stand still, by the clock of whoever watches it, before its replica is declared dead.
	Lease time.Duration
	// Renew is for how long a replica works after it asked for its last heartbeat, by its own clock. It is shorter than Lease by as much as
	// clocks may differ in speed and as a request may be on its way.
	Renew time.Duration
	// Retry is the pause between two heartbeats. A fifth of Renew is the most that makes sense.
	Retry time.Duration
}

// period is the pause between two heartbeats.
func (t Terms) period() time.Duration { return min(t.Retry, t.Renew/5) }

// suspicion is for how long the one that stands for all may stand still before another one takes its place. That is harmless at any time.
func (t Terms) suspicion() time.Duration { return t.period() * 2 }

// Config is what a Member needs.
type Config struct {
	Store Store
	// Host begins the Member's name.
	Host string
	Terms
	// Drain is how long work that is under way in a bucket may go on after the bucket was asked for.
	Drain time.Duration
	// Fresh waits until what this replica sees of buckets is not older than the call, so that it never acts on what their owner before it
	// has changed. Nil: it is fresh always.
	Fresh func(ctx context.Context, in func(bucket int) bool) error
	// Now is the clock; it must not go back.
	Now func() time.Time
	Log logr.Logger
}

// Member is the Owner of a replica that shares the buckets with others. Make it with New, and Run it.
type Member struct {
	cfg Config
	tenure
	kicked chan struct{}
	name   atomic.Value // string; another one after every death

	// What follows belongs to whoever ticks.
	version  string // of our heartbeat
	book     allot.Book
	before   time.Time // when the last Snapshot was asked for
	throne   string    // version of the throne in it
	ruled    time.Time // not after the throne's version was written
	reigned  time.Time // when we asked for the throne, while we hold it
	first    bool      // the table is ours from its beginning
	draining time.Time // since when something drains
	buried   map[string]bool
	troubled bool // the last tick failed, and that was told
}

var (
	_ Owner = (*Member)(nil)
	_ Moves = (*Member)(nil)
)

// New makes a Member that owns nothing yet.
func New(cfg Config) *Member {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &Member{cfg: cfg, kicked: make(chan struct{}, 1), buried: map[string]bool{}}
	m.now, m.idle = cfg.Now, m.kick
	m.name.Store(newName(cfg.Host))
	return m
}

// newName is a name that nobody had before.
func newName(host string) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails
	return NameOf(host) + "-" + hex.EncodeToString(random[:])
}

// Name is the Member's, as long as nobody declares it dead.
func (m *Member) Name() string {
	name, _ := m.name.Load().(string)
	return name
}

// Mine implements Owner.
func (m *Member) Mine(bucket int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lapse()
	return bucket >= 0 && bucket < Buckets && m.stages[bucket] == working
}

// Begin implements Owner.
func (m *Member) Begin(ctx context.Context, bucket int) (context.Context, func(), Standing) {
	return m.begin(ctx, bucket)
}

// Each implements Moves.
func (m *Member) Each(ctx context.Context, do func(Moved)) { m.each(ctx, do) }

// Owned is how many buckets are worked on.
func (m *Member) Owned() int { counts := m.counts(); return counts[working] + counts[draining] }

// kick has the next tick come at once.
func (m *Member) kick() {
	select {
	case m.kicked <- struct{}{}:
	default:
	}
}

// Run takes part until the context ends, then lets go of everything that nothing is under way in.
func (m *Member) Run(ctx context.Context) {
	m.arm = func(after time.Duration, do func()) func() bool { return time.AfterFunc(after, do).Stop }
	for ctx.Err() == nil {
		timer := time.NewTimer(m.tick(ctx))
		select {
		case <-ctx.Done():
		case <-m.kicked:
		case <-timer.C:
		}
		timer.Stop()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.cfg.Renew/2)
	defer cancel()
	m.leave(last)
}

// tick is one look at what the replicas share, and what follows from it. It says when the next one is due.
//
//  1. The heartbeat is renewed. If it is gone, somebody declared us dead: everything is let go, and we begin anew under another name.
//  2. What all share is read after that, at one moment.
//  3. Until Renew after 1 was asked for, and after the throne was last known to be held by one of ours, we work on what the table says is
//     ours.
//  4. If nobody stands for all, or nobody lively, we do.
//  5. Whoever stands for all deletes heartbeats that stood still for Lease, and plans; everybody hands on what it is done with.
func (m *Member) tick(ctx context.Context) time.Duration {
	limited, cancel := context.WithTimeout(ctx, m.cfg.Renew/2)
	defer cancel()
	again, err := m.look(limited)
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil && !m.troubled:
		m.cfg.Log.Info("Heartbeat or share of the work could not be renewed", "replica", m.Name(), "error", err.Error())
	case err == nil && m.troubled:
		m.cfg.Log.Info("Heartbeat and share of the work are renewed again", "replica", m.Name())
	}
	m.troubled = err != nil
	switch {
	case err != nil:
		return m.cfg.period() / 2
	case again:
		return 0
	}
	return m.pause()
}

// pause is the time until the next tick: a period, or less when somebody's time is up before.
func (m *Member) pause() time.Duration {
	pause, now := m.cfg.period(), m.now()
	for _, name := range m.book.Names() {
		if left := m.cfg.Lease - m.book.Unchanged(name, now); left > 0 {
			pause = min(pause, left)
		}
	}
	if left := m.cfg.suspicion() - m.book.Unchanged(throneEntry, now); m.reigned.IsZero() && left > 0 {
		pause = min(pause, left) // somebody has to take the throne before the others' time is up
	}
	if !m.draining.IsZero() {
		pause = min(pause, max(m.cfg.Drain-now.Sub(m.draining), m.cfg.period()/4))
	}
	return max(pause, m.cfg.period()/10)
}

// look is the rules of tick; again asks for another one at once.
func (m *Member) look(ctx context.Context) (again bool, err error) {
	beaten := m.now()
	name := m.Name()
	version, failed := m.cfg.Store.Beat(ctx, name, m.version)
	changed := isChanged(failed)
	switch {
	case failed == nil:
		m.version = version
	case !changed:
		return false, failed
	}
	asked := m.now()
	seen, err := m.cfg.Store.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	switch now, there := seen.Beats[name]; {
	case !there && m.version == "":
		return false, failed
	case !there:
		m.die()
		return false, nil
	case changed: // somebody annotated it, say: we are alive, and renew that version
		m.version = now
		return true, nil
	}
	m.observe(seen, asked)
	m.comply(ctx, seen, beaten)
	return m.govern(ctx, seen)
}

// die begins anew under another name.
func (m *Member) die() {
	m.cfg.Log.Info("This replica was declared dead; it begins anew", "replica", m.Name())
	m.dismiss()
	m.name.Store(newName(m.cfg.Host))
	m.version, m.reigned, m.first = "", time.Time{}, false
}

// observe takes down a Snapshot.
func (m *Member) observe(seen Snapshot, asked time.Time) {
	if m.throne != seen.Throne.Version {
		m.ruled, m.throne = m.before, seen.Throne.Version
	}
	m.before = asked
	versions := map[string]string{throneEntry: seen.Throne.Version, tableEntry: tableState(seen)}
	maps.Copy(versions, seen.Beats)
	names := seen.Table.Names()
	m.book.Observe(m.now(), versions, names...)
	m.book.Forget(func(name string, there bool) bool {
		return !there && name != throneEntry && name != tableEntry && !contains(names, name)
	})
}

// comply is rule 3.
func (m *Member) comply(ctx context.Context, seen Snapshot, beaten time.Time) {
	name := m.Name()
	arriving := m.extend(m.allowed(seen, beaten),
		func(bucket int) (mine, moving bool) {
			share := seen.Table[bucket]
			return seen.Version != "" && share.Owner == name, share.Next != ""
		},
		func(int) bool { return m.first || m.cfg.Fresh == nil })
	m.first = false
	if len(arriving) > 0 {
		go m.freshen(context.WithoutCancel(ctx), arriving)
	}
	m.cutShort()
}

// allowed is until when we may work.
func (m *Member) allowed(seen Snapshot, beaten time.Time) time.Time {
	until := beaten.Add(m.cfg.Renew)
	ruled := m.ruled
	if seen.Throne.Holder == m.Name() && m.reigned.After(ruled) {
		ruled = m.reigned
	}
	if ruled.IsZero() || seen.Throne.Foreign || seen.Throne.Holder == "" {
		return time.Time{}
	}
	if throne := ruled.Add(m.cfg.Renew); throne.Before(until) {
		return throne
	}
	return until
}

// freshen makes our view of buckets fresh before we work on them.
func (m *Member) freshen(ctx context.Context, came []visit) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Lease)
	defer cancel()
	err := m.cfg.Fresh(ctx, func(bucket int) bool {
		return slices.ContainsFunc(came, func(v visit) bool { return v.bucket == bucket })
	})
	if err != nil {
		m.cfg.Log.Info("Buckets are not taken over yet: what is known of them may be old", "buckets", len(came), "error", err.Error())
	}
	m.arrived(came, err == nil)
}

// cutShort ends what still goes on in buckets that others wait for.
func (m *Member) cutShort() {
	now := m.now()
	switch {
	case m.counts()[draining] == 0:
		m.draining = time.Time{}
	case m.draining.IsZero():
		m.draining = now
	case now.Sub(m.draining) >= m.cfg.Drain:
		m.cut()
	}
}
