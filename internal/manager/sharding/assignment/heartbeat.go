package assignment

import (
	"maps"
	"slices"
	"time"
)

// HeartbeatObserver records since when entries are unchanged, as far as its owner knows. The zero value is empty.
type HeartbeatObserver struct {
	entries map[string]entry
	begun   bool
}

type entry struct {
	version string // empty: it is not there
	since   time.Time
	moved   bool // it was seen to change, so it lives
}

// Observe records a complete snapshot of all entries, by name and version, taken after it was requested. at is a moment at which it was
// known: later is safer. An entry of lookedFor that does not exist is recorded, too.
func (b *HeartbeatObserver) Observe(at time.Time, versions map[string]string, lookedFor ...string) {
	if b.entries == nil {
		b.entries = map[string]entry{}
	}
	for name, version := range versions {
		b.note(at, name, version)
	}
	for _, name := range lookedFor {
		b.note(at, name, versions[name])
	}
	for name, known := range b.entries {
		if _, there := versions[name]; !there && known.version != "" {
			b.note(at, name, "")
		}
	}
	b.begun = true
}

func (b *HeartbeatObserver) note(at time.Time, name, version string) {
	known, seen := b.entries[name]
	switch {
	case !seen:
		b.entries[name] = entry{version: version, since: at, moved: b.begun}
	case known.version != version:
		b.entries[name] = entry{version: version, since: at, moved: true}
	}
}

// Unchanged returns for how long, at least, an entry has been unchanged; zero for one that was never observed.
func (b *HeartbeatObserver) Unchanged(name string, now time.Time) time.Duration {
	known, seen := b.entries[name]
	if !seen {
		return 0
	}
	return max(now.Sub(known.since), 0)
}

// Moved reports whether an entry was seen to change: what existed at the first snapshot may have been dead for long.
func (b *HeartbeatObserver) Moved(name string) bool { return b.entries[name].moved }

// Forget drops the heartbeats that are no longer listed.
func (b *HeartbeatObserver) Forget(needless func(name string, there bool) bool) {
	for name, known := range b.entries {
		if needless(name, known.version != "") {
			delete(b.entries, name)
		}
	}
}

// Names returns the names of all entries, sorted.
func (b *HeartbeatObserver) Names() []string { return slices.Sorted(maps.Keys(b.entries)) }
