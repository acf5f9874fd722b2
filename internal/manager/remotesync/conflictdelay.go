package remotesync

import (
	"maps"
	"time"
	"unique"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// freePutBacks is how often an object is put back at once. A client that changes it more often is another program, and two programs that
	// fight for an object must not keep an API server busy.
	freePutBacks = 3
	// firstConflictDelay is doubled with every further time, up to maxConflictDelay. A quiet minute after the last truce ends a fight.
	firstConflictDelay = time.Second
	maxConflictDelay   = 30 * time.Second
	quiet              = time.Minute
)

// putBack counts how often the same was written to one object, or it was deleted, without a quiet minute.
type putBack struct {
	hash  unique.Handle[string]
	count int
	last  time.Time
}

// conflictDelay returns how long an object must be left as another client set it, zero where it can be written.
func (m *memory) conflictDelay(id inventory.ID, hash string) time.Duration {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	fight, ok := m.putBacks[id]
	if !ok || fight.hash != unique.Make(hash) || fight.count <= freePutBacks {
		return 0
	}
	return max(0, time.Until(fight.last.Add(pauseAfter(fight.count))))
}

func pauseAfter(count int) time.Duration {
	return min(firstConflictDelay<<min(count-freePutBacks-1, 5), maxConflictDelay)
}

// wroteBack counts a write where the same was written, or seen to be in place, before.
func (m *memory) wroteBack(id inventory.ID, hash string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	now, is := time.Now(), unique.Make(hash)
	maps.DeleteFunc(m.putBacks, func(_ inventory.ID, fight putBack) bool { return now.Sub(fight.last) > quiet+maxConflictDelay })
	if m.seen[unique.Make(id)].hash != is {
		delete(m.putBacks, id)
		return
	}
	fight := m.putBacks[id]
	if fight.hash != is {
		fight = putBack{hash: is}
	}
	fight.count++
	fight.last = now
	m.putBacks[id] = fight
}

// held records that an object is left alone for a while, and reports whether it is.
func (p *pass) held(id inventory.ID, hash string) bool {
	wait := p.memory.conflictDelay(id, hash)
	if wait == 0 {
		return false
	}
	p.fail(&apply.Error{ID: id, Class: apply.ClassConflict, RetryAfter: wait, Message: id.String() +
		": another controller or user keeps changing, deleting or restoring it; it is corrected again shortly"})
	return true
}
