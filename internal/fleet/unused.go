package fleet

import (
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// unusedFor is how long a connection is kept that no owner tracks and that is not asked for, such as one of a Kyma that was deleted while
// its access Secret stayed. One that does not answer would be dialled for ever. A controller that waits for a runtime asks more often than
// that.
const unusedFor = 15 * time.Minute

// find gives a connection that is to be used now.
func (f *Fleet) find(id key) *Runtime {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runtimes[id]
	if r != nil {
		r.used = time.Now()
	}
	return r
}

// keep keeps a connection, and closes it when it is not used any more. The caller holds the lock.
func (f *Fleet) keep(id key, r *Runtime) {
	f.runtimes[id], r.used = r, time.Now()
	r.leaving = time.AfterFunc(unusedFor, func() { f.leaveUnused(id, r) })
}

// leaveUnused closes a connection that is not used, or looks again later.
func (f *Fleet) leaveUnused(id key, r *Runtime) {
	tracked := len(r.concerned()) > 0
	f.mu.Lock()
	unused := !tracked && time.Since(r.used) >= unusedFor
	if f.runtimes[id] != r || r.ctx.Err() != nil {
		f.mu.Unlock()
		return
	}
	if !unused {
		r.leaving.Reset(unusedFor)
		f.mu.Unlock()
		return
	}
	delete(f.runtimes, id)
	f.mu.Unlock()
	told := r.conn.turnedAway()
	r.close()
	f.queues.add(urgency.AsBefore, told...)
}
