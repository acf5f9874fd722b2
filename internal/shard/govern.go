package shard

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/shard/allot"
)

// Entries of a Member's book that are no replicas.
const (
	throneEntry = "/throne"
	tableEntry  = "/table"
)

func isChanged(err error) bool { return errors.Is(err, ErrChanged) }

func contains[T comparable](in []T, what T) bool { return slices.Contains(in, what) }

// tableState is empty while there is no table, and else always the same: only its presence is watched.
func tableState(seen Snapshot) string {
	if seen.Version == "" {
		return ""
	}
	return "there"
}

// govern is rules 4 and 5 of tick.
func (m *Member) govern(ctx context.Context, seen Snapshot) (again bool, err error) {
	reigns, err := m.reign(ctx, seen.Throne)
	if isChanged(err) {
		return true, nil // somebody else sits there since: that we know it gives us time
	}
	if err != nil {
		return false, err
	}
	table := seen.Table
	table.Release(m.Name(), func(bucket int) bool { return m.drained(bucket) && seen.Beats[seen.Table[bucket].Next] != "" })
	if reigns {
		if table, err = m.plan(ctx, seen, table); err != nil {
			return false, err
		}
	}
	if table == seen.Table {
		return reigns && m.reignBegan(seen), nil
	}
	err = m.cfg.Store.Write(ctx, table, seen.Version)
	switch {
	case isChanged(err):
		return true, nil // somebody else's writing counts; look at it
	case err != nil:
		return false, err
	}
	if seen.Version == "" {
		m.first = true
	}
	m.report(seen.Table, table)
	return true, nil
}

// reignBegan says that the Snapshot does not know yet who reigns.
func (m *Member) reignBegan(seen Snapshot) bool { return seen.Throne.Holder != m.Name() }

// reign is rule 4: it takes the throne, keeps it, or leaves it to whoever sits there.
func (m *Member) reign(ctx context.Context, throne Throne) (reigns bool, err error) {
	still := m.book.Unchanged(throneEntry, m.now())
	switch {
	case throne.Version == "", throne.Holder == "", throne.Holder == m.Name():
	case throne.Foreign && still >= max(throne.For, m.cfg.Lease):
	case !throne.Foreign && still >= m.cfg.suspicion():
	default:
		m.reigned = time.Time{}
		return false, nil
	}
	asked := m.now()
	err = m.cfg.Store.Reign(ctx, m.Name(), throne.Version)
	if isChanged(err) {
		m.reigned = time.Time{}
	}
	if err != nil {
		return false, err
	}
	if throne.Holder != m.Name() {
		m.cfg.Log.Info("This replica assigns the work now", "replica", m.Name(), "before", throne.Holder)
	}
	m.reigned = asked
	return true, nil
}

// plan buries the dead and shares out the buckets.
func (m *Member) plan(ctx context.Context, seen Snapshot, table allot.Table) (allot.Table, error) {
	now := m.now()
	deleted := seen.Version == "" && seen.Throne.Version != "" && len(seen.Beats) > 1
	if deleted && m.book.Unchanged(tableEntry, now) < m.cfg.Lease {
		return table, nil // by somebody: those who own something by it find out, or lose it, until then
	}
	replicas := map[string]allot.Standing{}
	for _, name := range slices.Sorted(maps.Keys(seen.Beats)) { // not in that of a map, which differs from run to run
		version := seen.Beats[name]
		delete(m.buried, name)
		standing := m.standingOf(name, now)
		if standing == allot.Gone {
			err := m.cfg.Store.Bury(ctx, name, version)
			switch {
			case isChanged(err):
				standing = allot.Keeping // alive after all
			case err != nil:
				return table, err
			default:
				m.buried[name] = true
				m.cfg.Log.Info("A replica is gone: its heartbeat stood still", "replica", name, "for", m.book.Unchanged(name, now).String())
			}
		}
		replicas[name] = standing
	}
	for _, name := range table.Names() {
		if _, listed := replicas[name]; !listed && !m.buried[name] && m.book.Unchanged(name, now) < m.cfg.Lease {
			replicas[name] = allot.Leaving // its heartbeat was deleted, which it may not know yet
		}
	}
	return allot.Plan(table, replicas), nil
}

// standingOf judges a replica by its heartbeat.
func (m *Member) standingOf(name string, now time.Time) allot.Standing {
	still := m.book.Unchanged(name, now)
	switch {
	case name == m.Name():
		return allot.Taking
	case still >= m.cfg.Lease:
		return allot.Gone
	case m.book.Moved(name) && still < m.cfg.Renew: // it may still work
		return allot.Taking
	}
	return allot.Keeping
}

// report tells what a new table changes.
func (m *Member) report(before, after allot.Table) {
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

// leave deletes the heartbeat, so that nobody gives us anything any more, lets go of what nothing is under way in, and gives the throne to
// somebody else when nothing is left. What does not succeed, the others find out by themselves.
func (m *Member) leave(ctx context.Context) {
	for attempt := 0; attempt < leaveAttempts && ctx.Err() == nil; attempt++ {
		asked := m.now()
		seen, err := m.cfg.Store.Snapshot(ctx)
		if err != nil {
			continue
		}
		m.observe(seen, asked) // who lives is judged by what is there now
		if m.letGo(ctx, seen) == nil {
			break
		}
	}
	m.dismiss()
}

// leaveAttempts bounds how often a leaving replica tries to write what others write, too.
const leaveAttempts = 10

// letGo is one attempt of leave.
func (m *Member) letGo(ctx context.Context, seen Snapshot) error {
	m.stop()
	name := m.Name()
	if version, there := seen.Beats[name]; there {
		if err := m.cfg.Store.Bury(ctx, name, version); err != nil {
			return err
		}
	}
	replicas, heir := m.heirs(seen)
	table, busy := allot.Plan(seen.Table, replicas), false
	for bucket := range table {
		switch share := &table[bucket]; {
		case share.Owner != name:
		case m.drained(bucket):
			share.Owner, share.Next = share.Next, ""
		default:
			busy = true // what it still does nobody can say: the others wait
		}
	}
	if seen.Version != "" && table != seen.Table {
		if err := m.cfg.Store.Write(ctx, table, seen.Version); err != nil {
			return err
		}
	}
	if !busy && seen.Throne.Holder == name {
		return m.cfg.Store.Reign(ctx, heir, seen.Throne.Version)
	}
	return nil
}

// heirs are the replicas as a leaving one sees them: it declares nobody dead. heir is one that is at work, or else one that may be.
func (m *Member) heirs(seen Snapshot) (replicas map[string]allot.Standing, heir string) {
	replicas = map[string]allot.Standing{}
	for _, name := range seen.Table.Names() {
		replicas[name] = allot.Keeping
	}
	for name := range seen.Beats {
		standing := max(m.standingOf(name, m.now()), allot.Keeping)
		replicas[name] = standing
		if name != m.Name() && (standing > replicas[heir] || standing == replicas[heir] && name < heir) {
			heir = name
		}
	}
	replicas[m.Name()] = allot.Leaving
	return replicas, heir
}
