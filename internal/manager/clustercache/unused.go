package clustercache

import (
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
)

// unusedFor is how long an unused connection without tracking owners is kept, such as one of a Kyma that was deleted while
// its access Secret stayed. One that does not respond would be dialled forever. A controller that waits for a runtime calls Get more
// often than that.
const unusedFor = 15 * time.Minute

// find returns a connection and marks it as used.
func (f *Clusters) find(id key) *Runtime {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runtimes[id]
	if r != nil {
		r.used = time.Now()
	}
	return r
}

// keepConnectionLocked stores a connection, and closes it when it is no longer used. The caller holds the lock.
func (f *Clusters) keepConnectionLocked(id key, r *Runtime) {
	f.runtimes[id], r.used = r, time.Now()
	r.leaving = time.AfterFunc(unusedFor, func() { f.leaveUnused(id, r) })
}

// leaveUnused closes a connection that is not used, or checks again later.
func (f *Clusters) leaveUnused(id key, r *Runtime) {
	tracked := len(r.allOwners()) > 0
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
	told := r.conn.takeWaitingOwners()
	r.close()
	f.queues.add(priority.AsBefore, told...)
}
