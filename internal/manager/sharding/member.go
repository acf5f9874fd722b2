package sharding

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
)

// Timing holds the durations that all replicas use.
type Timing struct {
	// Lease is how long a heartbeat must be unchanged, by the observer's clock, before its replica is declared dead.
	Lease time.Duration
	// Renew is how long a replica works after it requested its last heartbeat, by its own clock. It is shorter than Lease by the possible
	// difference of clock speeds and the time that a request takes.
	Renew time.Duration
	// Retry is the pause between two heartbeats. A fifth of Renew is the most that makes sense.
	Retry time.Duration
}

// period returns the pause between two heartbeats.
func (t Timing) period() time.Duration { return min(t.Retry, t.Renew/5) }

// suspicion is how long the leader may be unchanged before another replica takes its place. That is harmless at any time.
func (t Timing) suspicion() time.Duration { return t.period() * 2 }

// Config is the configuration of a Member.
type Config struct {
	Store Store
	// Host begins the Member's name.
	Host string
	Timing
	// Drain is how long work under way in a bucket may continue after another replica was assigned the bucket.
	Drain time.Duration
	// Fresh waits until this replica's view of buckets is not older than the call, so that it never acts on what their previous owner has
	// changed. Nil: the view is always fresh.
	Fresh func(ctx context.Context, in func(bucket int) bool) error
	// Now returns the clock; it must not go back.
	Now func() time.Time
	Log logr.Logger
}

// Member is the Owner of a replica that shares the buckets with others. Create it with New, and Run it.
type Member struct {
	cfg Config
	bucketOwnership
	kicked chan struct{}
	name   atomic.Value // string; another one after every death

	// The following fields belong to the goroutine that ticks.
	version         string // of our heartbeat
	observer        assignment.HeartbeatObserver
	before          time.Time // when the last Snapshot was requested
	leaderVersion   string    // version of the throne in it
	leaderSeen      time.Time // not after the throne's version was written
	ledSince        time.Time // when we asked for the throne, while we hold it
	first           bool      // the table is ours from its beginning
	draining        time.Time // since when something drains
	deletedReplicas map[string]bool
	troubled        bool // the last tick failed, and that was told
}

var (
	_ Owner            = (*Member)(nil)
	_ OwnershipChanges = (*Member)(nil)
)

// New returns a Member that owns nothing yet.
func New(cfg Config) *Member {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &Member{cfg: cfg, kicked: make(chan struct{}, 1), deletedReplicas: map[string]bool{}}
	m.now, m.idle = cfg.Now, m.requestTick
	m.name.Store(newName(cfg.Host))
	return m
}

// newName returns a name that no replica had before.
func newName(host string) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails
	return NameOf(host) + "-" + hex.EncodeToString(random[:])
}

// Name returns the Member's name, which it keeps until it is declared dead.
func (m *Member) Name() string {
	name, _ := m.name.Load().(string)
	return name
}

// Mine implements Owner.
func (m *Member) Mine(bucket int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expireLocked()
	return bucket >= 0 && bucket < Buckets && m.stages[bucket] == working
}

// Begin implements Owner.
func (m *Member) Begin(ctx context.Context, bucket int) (context.Context, func(), Ownership) {
	return m.begin(ctx, bucket)
}

// Each implements OwnershipChanges.
func (m *Member) Each(ctx context.Context, do func(OwnershipChange)) { m.each(ctx, do) }

// Owned returns how many buckets this replica works on.
func (m *Member) Owned() int { counts := m.counts(); return counts[working] + counts[draining] }

// requestTick makes the next tick run at once.
func (m *Member) requestTick() {
	select {
	case m.kicked <- struct{}{}:
	default:
	}
}

// Run takes part until the context ends, then hands over every bucket without work under way.
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

// tick reads once what the replicas share, and acts on it. It returns when the next one is due.
//
//  1. The heartbeat is renewed. If it is gone, another replica declared us dead: we release everything and start again under another name.
//  2. What all replicas share is read after that, at one moment.
//  3. Until Renew after the request of 1, and after the leadership was last known to be held by one of ours, we work on the buckets that
//     the table assigns to us.
//  4. If there is no leader, or none that is alive, we become it.
//  5. The leader deletes heartbeats that were unchanged for Lease, and plans; every replica hands over drained buckets.
func (m *Member) tick(ctx context.Context) time.Duration {
	limited, cancel := context.WithTimeout(ctx, m.cfg.Renew/2)
	defer cancel()
	again, err := m.runTick(limited)
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

// pause returns the time until the next tick: a period, or less when another replica's time is up before.
func (m *Member) pause() time.Duration {
	pause, now := m.cfg.period(), m.now()
	for _, name := range m.observer.Names() {
		if left := m.cfg.Lease - m.observer.Unchanged(name, now); left > 0 {
			pause = min(pause, left)
		}
	}
	if left := m.cfg.suspicion() - m.observer.Unchanged(leaderEntry, now); m.ledSince.IsZero() && left > 0 {
		pause = min(pause, left) // a leader must be found before the leases of the others expire
	}
	if !m.draining.IsZero() {
		pause = min(pause, max(m.cfg.Drain-now.Sub(m.draining), m.cfg.period()/4))
	}
	return max(pause, m.cfg.period()/10)
}

// runTick applies the rules of tick; again requests another one at once.
func (m *Member) runTick(ctx context.Context) (again bool, err error) {
	beaten := m.now()
	name := m.Name()
	version, failed := m.cfg.Store.RenewHeartbeat(ctx, name, m.version)
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
	switch now, there := seen.Heartbeats[name]; {
	case !there && m.version == "":
		return false, failed
	case !there:
		m.rejoin()
		return false, nil
	case changed: // for example by an annotation: this replica is alive and renews that version
		m.version = now
		return true, nil
	}
	m.observe(seen, asked)
	m.applyTable(ctx, seen, beaten)
	return m.lead(ctx, seen)
}

// rejoin starts again under another name.
func (m *Member) rejoin() {
	m.cfg.Log.Info("This replica was declared dead; it starts again", "replica", m.Name())
	m.releaseAll()
	m.name.Store(newName(m.cfg.Host))
	m.version, m.ledSince, m.first = "", time.Time{}, false
}

// observe records a Snapshot.
func (m *Member) observe(seen Snapshot, asked time.Time) {
	if m.leaderVersion != seen.Leader.Version {
		m.leaderSeen, m.leaderVersion = m.before, seen.Leader.Version
	}
	m.before = asked
	versions := map[string]string{leaderEntry: seen.Leader.Version, tableEntry: tableState(seen)}
	maps.Copy(versions, seen.Heartbeats)
	names := seen.Table.Names()
	m.observer.Observe(m.now(), versions, names...)
	m.observer.Forget(func(name string, there bool) bool {
		return !there && name != leaderEntry && name != tableEntry && !contains(names, name)
	})
}

// applyTable applies rule 3.
func (m *Member) applyTable(ctx context.Context, seen Snapshot, beaten time.Time) {
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
	m.cancelOverdue()
}

// allowed returns until when we may work.
func (m *Member) allowed(seen Snapshot, beaten time.Time) time.Time {
	until := beaten.Add(m.cfg.Renew)
	ruled := m.leaderSeen
	if seen.Leader.Holder == m.Name() && m.ledSince.After(ruled) {
		ruled = m.ledSince
	}
	if ruled.IsZero() || seen.Leader.Foreign || seen.Leader.Holder == "" {
		return time.Time{}
	}
	if throne := ruled.Add(m.cfg.Renew); throne.Before(until) {
		return throne
	}
	return until
}

// freshen waits until our view of buckets is fresh before we work on them.
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

// cancelOverdue ends work that still continues in buckets that others wait for.
func (m *Member) cancelOverdue() {
	now := m.now()
	switch {
	case m.counts()[draining] == 0:
		m.draining = time.Time{}
	case m.draining.IsZero():
		m.draining = now
	case now.Sub(m.draining) >= m.cfg.Drain:
		m.cancelDraining()
	}
}
