package allot

import (
	"maps"
	"slices"
	"time"
)

// Book notes since when things are as they are, as far as its keeper knows. The zero value is empty.
type Book struct {
	entries map[string]entry
	begun   bool
}

type entry struct {
	version string // empty: it is not there
	since   time.Time
	moved   bool // it was seen to change, so it lives
}

// Observe takes down a picture of everything that is there, by name and version, that was complete at a moment not before the one at
// which it was asked for. at is a moment at which it was known: later is safer. What was looked for and is not there is noted, too.
func (b *Book) Observe(at time.Time, versions map[string]string, lookedFor ...string) {
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

func (b *Book) note(at time.Time, name, version string) {
	known, seen := b.entries[name]
	switch {
	case !seen:
		b.entries[name] = entry{version: version, since: at, moved: b.begun}
	case known.version != version:
		b.entries[name] = entry{version: version, since: at, moved: true}
	}
}

// Unchanged is for how long something has been as it is, at least; zero for what was never observed.
func (b *Book) Unchanged(name string, now time.Time) time.Duration {
	known, seen := b.entries[name]
	if !seen {
		return 0
	}
	return max(now.Sub(known.since), 0)
}

// Moved says that something was seen to change: what was there when the Book was begun may have been dead for long.
func (b *Book) Moved(name string) bool { return b.entries[name].moved }

// Forget drops what nobody asks for any more.
func (b *Book) Forget(needless func(name string, there bool) bool) {
	for name, known := range b.entries {
		if needless(name, known.version != "") {
			delete(b.entries, name)
		}
	}
}

// Names are all that something is known of.
func (b *Book) Names() []string { return slices.Sorted(maps.Keys(b.entries)) }
