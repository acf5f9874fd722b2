package phases

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Phase is a part of an installation or an upgrade.
type Phase string

// The phases, in their order.
const (
	// Window lasts until the maintenance window opens that an upgrade with downtime waits for.
	Window Phase = "window"
	// Queue lasts from the write of the Manifest until its first pass begins.
	Queue Phase = "queue"
	// Fetch lasts until the content is there: resolved, fetched, compared with its digest, and rendered.
	Fetch Phase = "fetch"
	// Verify lasts until everything was checked that must hold before the first write: signatures of what is declared, rights, definitions.
	Verify Phase = "verify"
	// Apply lasts until every object is written, and what is no longer wanted is removed.
	Apply Phase = "apply"
	// Ready lasts until what was applied works.
	Ready Phase = "ready"
)

// Ended is a phase that has ended.
type Ended struct {
	Manifest types.NamespacedName
	// Module is empty for a stand-alone Manifest.
	Module   string
	Phase    Phase
	From, To time.Time
}

// ofManifest are the phases of a Manifest.
var ofManifest = []Phase{Queue, Fetch, Verify, Apply, Ready}

// Tracker holds the installations and upgrades that are under way. A nil Tracker tracks nothing.
type Tracker struct {
	// Observe is called with each phase that has ended.
	Observe func(Ended)
	// Now returns the clock.
	Now func() time.Time

	mu sync.Mutex
	// runs are the installations and upgrades by their Manifests.
	runs map[types.NamespacedName]*run
	// waiting holds since when modules wait for a window, by Kyma and module.
	waiting map[types.NamespacedName]map[string]time.Time
}

// run is an installation or an upgrade: one generation of a Manifest.
type run struct {
	tracker    *Tracker
	key        types.NamespacedName
	uid        types.UID
	generation int64
	module     string
	// asked is false where the request was not seen, but only what followed from it.
	asked bool
	// since is when the current phase began, and current its index.
	since   time.Time
	current int
}

func (r *run) is(m *v1beta2.Manifest) bool {
	return r != nil && r.uid == m.UID && r.generation == m.Generation
}

// Wait records which modules of a Kyma wait for a maintenance window now.
func (t *Tracker) Wait(kyma types.NamespacedName, modules []string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.waiting[kyma]
	if len(modules) == 0 {
		delete(t.waiting, kyma)
		return
	}
	now := make(map[string]time.Time, len(modules))
	for _, name := range modules {
		since, known := before[name]
		if !known {
			since = t.Now()
		}
		now[name] = since
	}
	if t.waiting == nil {
		t.waiting = map[types.NamespacedName]map[string]time.Time{}
	}
	t.waiting[kyma] = now
}

// Requested records that a Manifest was written, as the API server returned it. A write that asks for nothing new begins nothing.
func (t *Tracker) Requested(m *v1beta2.Manifest) {
	if t == nil || m == nil || m.Status.ObservedGeneration == m.Generation {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	module := m.Labels[v1beta2.LabelModuleName]
	kyma := types.NamespacedName{Namespace: m.Namespace, Name: m.Labels[v1beta2.LabelKymaName]}
	if since, waited := t.waiting[kyma][module]; waited {
		delete(t.waiting[kyma], module)
		t.Observe(Ended{Manifest: client.ObjectKeyFromObject(m), Module: module, Phase: Window, From: since, To: t.Now()})
	}
	known := t.runs[client.ObjectKeyFromObject(m)]
	if !known.is(m) {
		known = t.beginLocked(m, Queue)
	} else if !known.asked { // its first pass began before the response to the write arrived
		t.Observe(Ended{Manifest: known.key, Module: module, Phase: Queue, From: known.since, To: known.since})
	}
	known.asked = true
}

// Begin records that a pass of a Manifest begins, and returns the context that Reach needs.
func (t *Tracker) Begin(ctx context.Context, m *v1beta2.Manifest) context.Context {
	if t == nil {
		return ctx
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := client.ObjectKeyFromObject(m)
	known := t.runs[key]
	switch {
	case !m.DeletionTimestamp.IsZero(), !known.is(m) && m.Status.ObservedGeneration == m.Generation:
		delete(t.runs, key)
		return ctx
	case !known.is(m):
		known = t.beginLocked(m, Fetch)
	default:
		known.reachLocked(Queue)
	}
	return context.WithValue(ctx, runKey{}, known)
}

func (t *Tracker) beginLocked(m *v1beta2.Manifest, phase Phase) *run {
	begun := &run{
		tracker: t, key: client.ObjectKeyFromObject(m), uid: m.UID, generation: m.Generation, module: m.Labels[v1beta2.LabelModuleName],
		since: t.Now(), current: slices.Index(ofManifest, phase),
	}
	if t.runs == nil {
		t.runs = map[types.NamespacedName]*run{}
	}
	t.runs[begun.key] = begun
	return begun
}

// runKey finds the run in the context of a pass.
type runKey struct{}

// Reach records that the installation or upgrade of the pass that a context belongs to has completed a phase. It does nothing when the
// phase was completed before, and when nothing is under way.
func Reach(ctx context.Context, phase Phase) {
	under, found := ctx.Value(runKey{}).(*run)
	if !found {
		return
	}
	under.tracker.mu.Lock()
	defer under.tracker.mu.Unlock()
	under.reachLocked(phase)
}

// reachLocked observes the phase that ends, unless the run is over or another one took its place. What was skipped took no time.
func (r *run) reachLocked(phase Phase) {
	at := slices.Index(ofManifest, phase)
	if at < r.current || r.tracker.runs[r.key] != r {
		return
	}
	now := r.tracker.Now()
	r.tracker.Observe(Ended{Manifest: r.key, Module: r.module, Phase: phase, From: r.since, To: now})
	r.since, r.current = now, at+1
	if r.current == len(ofManifest) {
		delete(r.tracker.runs, r.key)
	}
}

// Forget drops a Manifest that is gone or another replica's.
func (t *Tracker) Forget(manifest types.NamespacedName) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, manifest)
}
