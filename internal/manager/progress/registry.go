package progress

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// Registry holds what was observed of the upgrades that are under way. Its zero value is ready for use; a nil Registry has observed
// nothing.
type Registry struct {
	mu    sync.Mutex
	known map[types.NamespacedName]entry
}

// entry is what is known of one Manifest.
type entry struct {
	uid      types.UID
	observed revision.Observed
	// last is when the last pass began that ended well.
	last time.Time
}

// Pass is one pass of the Manifest controller that ended well: the API server has the status that it reported.
type Pass struct {
	Manifest *v1beta2.Manifest
	// Found are the revisions that the Manifest had when the pass began.
	Found []v1beta2.Revision
	// Began is when the pass began. Owned is since when this replica has had the Manifest without a break, zero for always: what was observed
	// before that is continued from the Manifest's status.
	Began, Owned time.Time
}

// Record records a pass. Nothing is kept of a Manifest without an upgrade under way.
func (r *Registry) Record(p Pass) {
	if r == nil {
		return
	}
	key := client.ObjectKeyFromObject(p.Manifest)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, underWay := revision.UnderWay(p.Manifest.Status.Revisions); !underWay {
		delete(r.known, key)
		return
	}
	one := r.known[key]
	if one.uid != p.Manifest.UID || one.last.Before(p.Owned) {
		one = entry{uid: p.Manifest.UID}
	}
	one.observed, one.last = one.observed.Follow(p.Found, p.Manifest.Status.Revisions, p.Began), p.Began
	if r.known == nil {
		r.known = map[types.NamespacedName]entry{}
	}
	r.known[key] = one
}

// Interrupt records that a pass did not end well, or that there is none for a while: until the next one, nothing is known of the Manifest.
func (r *Registry) Interrupt(key types.NamespacedName, now time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if one, known := r.known[key]; known {
		one.observed = one.observed.Interrupt(now)
		r.known[key] = one
	}
}

// Forget drops a Manifest that is gone or another replica's.
func (r *Registry) Forget(key types.NamespacedName) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, key)
}

// For returns for how long a Manifest's newest revision has been observed; ok is false while nothing confirms the Manifest's status since
// owned.
func (r *Registry) For(manifest *v1beta2.Manifest, owned, now time.Time) (observed time.Duration, ok bool) {
	if r == nil {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	one, known := r.known[client.ObjectKeyFromObject(manifest)]
	if !known || one.uid != manifest.UID || one.last.Before(owned) {
		return 0, false
	}
	return one.observed.For(manifest.Status.Revisions, now)
}
