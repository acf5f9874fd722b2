package contentserver

import (
	"sync"
	"time"
)

// ttlCache caches answers for a limited time. It holds a bounded number: beyond it, those that expire first are removed.
type ttlCache[K comparable, V any] struct {
	size int

	mu      sync.Mutex
	entries map[K]remembered[V]
}

type remembered[V any] struct {
	value V
	until time.Time
}

func newMemory[K comparable, V any](size int) *ttlCache[K, V] {
	return &ttlCache[K, V]{size: size, entries: map[K]remembered[V]{}}
}

func (m *ttlCache[K, V]) get(key K, now time.Time) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, ok := m.entries[key]
	if !ok || !now.Before(entry.until) {
		return value, false
	}
	return entry.value, true
}

func (m *ttlCache[K, V]) put(key K, value V, until, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.entries[key]; !known && len(m.entries) >= m.size {
		m.makeRoom(now)
	}
	m.entries[key] = remembered[V]{value: value, until: until}
}

// makeRoom removes expired entries, and if there are none, the one that expires first.
func (m *ttlCache[K, V]) makeRoom(now time.Time) {
	var first K
	var soonest time.Time
	for key, entry := range m.entries {
		if !now.Before(entry.until) {
			delete(m.entries, key)
			continue
		}
		if soonest.IsZero() || entry.until.Before(soonest) {
			first, soonest = key, entry.until
		}
	}
	if len(m.entries) >= m.size {
		delete(m.entries, first)
	}
}
