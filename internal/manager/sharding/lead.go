package sharding

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
)

// Entries of a Member's observer that are no replicas.
const (
	leaderEntry = "/throne"
	tableEntry  = "/table"
)

func isChanged(err error) bool { return errors.Is(err, ErrChanged) }

func contains[T comparable](in []T, what T) bool { return slices.Contains(in, what) }

// tableState returns an empty string while there is no table, and else a constant: only its presence is watched.
func tableState(seen Snapshot) string {
	if seen.Version == "" {
		return ""
	}
	return "there"
}

// lead applies rules 4 and 5 of tick.
func (m *Member) lead(ctx context.Context, seen Snapshot) (again bool, err error) {
	reigns, err := m.tryLead(ctx, seen.Leader)
	if isChanged(err) {
		return true, nil // another replica leads since: reading that starts a new lease for it
	}
	if err != nil {
		return false, err
	}
	table := seen.Table
	table.Release(m.Name(), func(bucket int) bool { return m.drained(bucket) && seen.Heartbeats[seen.Table[bucket].Next] != "" })
	if reigns {
		if table, err = m.plan(ctx, seen, table); err != nil {
			return false, err
		}
	}
	if table == seen.Table {
		return reigns && m.becameLeader(seen), nil
	}
	err = m.cfg.Store.Write(ctx, table, seen.Version)
	switch {
	case isChanged(err):
		return true, nil // the write of another replica counts; read it
	case err != nil:
		return false, err
	}
	if seen.Version == "" {
		m.first = true
	}
	m.report(seen.Table, table)
	return true, nil
}

// becameLeader reports whether the Snapshot does not name this replica as leader yet.
func (m *Member) becameLeader(seen Snapshot) bool { return seen.Leader.Holder != m.Name() }

// tryLead applies rule 4: it acquires the leadership, keeps it, or leaves it to its holder.
func (m *Member) tryLead(ctx context.Context, throne LeaderRecord) (reigns bool, err error) {
	still := m.observer.Unchanged(leaderEntry, m.now())
	switch {
	case throne.Version == "", throne.Holder == "", throne.Holder == m.Name():
	case throne.Foreign && still >= max(throne.For, m.cfg.Lease):
	case !throne.Foreign && still >= m.cfg.suspicion():
	default:
		m.ledSince = time.Time{}
		return false, nil
	}
	asked := m.now()
	err = m.cfg.Store.AcquireLeadership(ctx, m.Name(), throne.Version)
	if isChanged(err) {
		m.ledSince = time.Time{}
	}
	if err != nil {
		return false, err
	}
	if throne.Holder != m.Name() {
		m.cfg.Log.Info("This replica assigns the work now", "replica", m.Name(), "before", throne.Holder)
	}
	m.ledSince = asked
	return true, nil
}

// plan removes dead replicas and distributes the buckets.
func (m *Member) plan(ctx context.Context, seen Snapshot, table assignment.Assignment) (assignment.Assignment, error) {
	now := m.now()
	deleted := seen.Version == "" && seen.Leader.Version != "" && len(seen.Heartbeats) > 1
	if deleted && m.observer.Unchanged(tableEntry, now) < m.cfg.Lease {
		return table, nil // by another replica: the owners of its buckets find out, or lose them, until then
	}
	replicas := map[string]assignment.ReplicaState{}
	for _, name := range slices.Sorted(maps.Keys(seen.Heartbeats)) { // not in that of a map, which differs from run to run
		version := seen.Heartbeats[name]
		delete(m.deletedReplicas, name)
		standing := m.stateOf(name, now)
		if standing == assignment.Gone {
			err := m.cfg.Store.DeleteHeartbeat(ctx, name, version)
			switch {
			case isChanged(err):
				standing = assignment.Keeping // alive after all
			case err != nil:
				return table, err
			default:
				m.deletedReplicas[name] = true
				m.cfg.Log.Info("A replica is gone: its heartbeat stood still", "replica", name, "for", m.observer.Unchanged(name, now).String())
			}
		}
		replicas[name] = standing
	}
	for _, name := range table.Names() {
		if _, listed := replicas[name]; !listed && !m.deletedReplicas[name] && m.observer.Unchanged(name, now) < m.cfg.Lease {
			replicas[name] = assignment.Leaving // its heartbeat was deleted, which it may not know yet
		}
	}
	return assignment.Plan(table, replicas), nil
}

// stateOf judges a replica by its heartbeat.
func (m *Member) stateOf(name string, now time.Time) assignment.ReplicaState {
	still := m.observer.Unchanged(name, now)
	switch {
	case name == m.Name():
		return assignment.Taking
	case still >= m.cfg.Lease:
		return assignment.Gone
	case m.observer.Moved(name) && still < m.cfg.Renew: // it may still work
		return assignment.Taking
	}
	return assignment.Keeping
}

// report logs what a new table changes.
func (m *Member) report(before, after assignment.Assignment) {
	given, asked := 0, 0
	for bucket := range after {
		if after[bucket].Owner != before[bucket].Owner {
			given++
		}
		if after[bucket].Next != "" && after[bucket].Next != before[bucket].Next {
			asked++
		}
	}
	m.cfg.Log.Info("Buckets change hands", "given", given, "askedFor", asked, "replicas", after.Names())
}

// leave deletes the heartbeat, so that no more buckets are assigned to it, releases idle buckets, and hands leadership to
// another replica when none is left. The others detect what does not succeed.
func (m *Member) leave(ctx context.Context) {
	for attempt := 0; attempt < leaveAttempts && ctx.Err() == nil; attempt++ {
		asked := m.now()
		seen, err := m.cfg.Store.Snapshot(ctx)
		if err != nil {
			continue
		}
		m.observe(seen, asked) // who lives is judged by what is there now
		if m.handOver(ctx, seen) == nil {
			break
		}
	}
	m.releaseAll()
}

// leaveAttempts bounds how often a leaving replica tries to write what others write, too.
const leaveAttempts = 10

// handOver returns one attempt of leave.
func (m *Member) handOver(ctx context.Context, seen Snapshot) error {
	m.stop()
	name := m.Name()
	if version, there := seen.Heartbeats[name]; there {
		if err := m.cfg.Store.DeleteHeartbeat(ctx, name, version); err != nil {
			return err
		}
	}
	replicas, heir := m.successors(seen)
	table, busy := assignment.Plan(seen.Table, replicas), false
	for bucket := range table {
		switch share := &table[bucket]; {
		case share.Owner != name:
		case m.drained(bucket):
			share.Owner, share.Next = share.Next, ""
		default:
			busy = true // its remaining work is unknown: the others wait
		}
	}
	if seen.Version != "" && table != seen.Table {
		if err := m.cfg.Store.Write(ctx, table, seen.Version); err != nil {
			return err
		}
	}
	if !busy && seen.Leader.Holder == name {
		return m.cfg.Store.AcquireLeadership(ctx, heir, seen.Leader.Version)
	}
	return nil
}

// successors returns the replicas as a leaving one sees them: it declares none dead. heir is one that works, or else one that may.
func (m *Member) successors(seen Snapshot) (replicas map[string]assignment.ReplicaState, heir string) {
	replicas = map[string]assignment.ReplicaState{}
	for _, name := range seen.Table.Names() {
		replicas[name] = assignment.Keeping
	}
	for name := range seen.Heartbeats {
		standing := max(m.stateOf(name, m.now()), assignment.Keeping)
		replicas[name] = standing
		if name != m.Name() && (standing > replicas[heir] || standing == replicas[heir] && name < heir) {
			heir = name
		}
	}
	replicas[m.Name()] = assignment.Leaving
	return replicas, heir
}
