package clustercache

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Runtime is one connection to one runtime, with the cached state of its objects. It is valid until the access Secret's content changes;
// afterwards its calls fail, and its cache is empty.
type Runtime struct {
	cfg            *Config
	ctx            context.Context //nolint:containedctx // of its streams, which outlive the call that made it
	cancel         context.CancelFunc
	access         access
	conn           *connection
	cluster        *apply.Cluster
	served         *resources
	discoveryCache discoveryCache
	listing        chan struct{} // bounds the lists that are under way
	gathered       atomic.Int64  // weight of what they have gathered
	carried        atomic.Int64  // length of the events that have arrived in part

	mu     sync.RWMutex
	owners map[types.NamespacedName]*tracker
	// versioned are the owners that are enqueued when the version of Kubernetes changes.
	versioned map[types.NamespacedName]struct{}
	kinds     map[schema.GroupKind]*kind
	echoes    map[subject]selfWriteEvent
	flush     *time.Timer
	audit     *time.Timer
	reads     map[subject]*read // of health

	once sync.Map // what Once was requested

	accounts *lru.Cache // clusters as ServiceAccounts

	// Of the Fleet, guarded by its lock.
	used    time.Time // when it was requested last
	leaving *time.Timer
}

// tracker is one owner that tracks the runtime.
type tracker struct {
	specs     map[schema.GroupKind]trackSpec
	announced bool // it was enqueued since its kinds are known
}

// subject is an object of the runtime.
type subject struct {
	schema.GroupKind
	objectKey
}

// Cluster returns the runtime for pkg/apply: rate-limited calls, kinds resolved without a RESTMapper, and the result of every write
// stored at once, so that the stream's event for it enqueues no owner.
func (r *Runtime) Cluster() *apply.Cluster { return r.cluster }

// Live returns what is known of an object: Unknown while its kind is not listed, Present as soon as the stream or our own write showed it.
// An object that lost the label of owned objects is invisible and counts as absent; an attempt to create it again will find it.
func (r *Runtime) Live(id inventory.ID) inventory.Live {
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := r.kinds[id.GroupKind()]
	if k == nil {
		return inventory.Live{Presence: inventory.Unknown}
	}
	if o := k.objects[placeOf(id.Namespace, id.Name)]; o != nil {
		live := o.live()
		live.Terminating = live.Terminating || k.isDeletingLocked(placeOf(id.Namespace, id.Name), o)
		return live
	}
	if k.known {
		return inventory.Live{Presence: inventory.Absent}
	}
	return inventory.Live{Presence: inventory.Unknown}
}

// Health returns the health of an object whose kind has one here: kinds tracked as Workload, CustomResourceDefinitions and Namespaces. kept
// is false for every other kind. While it is not known (not listed, being read, absent) the status is health.Unknown, and the owner is
// enqueued when it becomes known.
func (r *Runtime) Health(id inventory.ID) (result health.Result, kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[id.GroupKind()]
	if k == nil || !k.hasHealth() {
		return health.Result{}, false
	}
	at := placeOf(id.Namespace, id.Name)
	o := k.objects[at]
	switch {
	case o == nil && k.synced:
		return health.Result{Status: health.Unknown, Message: "does not exist"}, true
	case o == nil:
		return health.Result{Status: health.Unknown, Message: "is not known yet"}, true
	case o.health == nil:
		if k.readsHealth() {
			r.readHealthLocked(k, at, 0)
		}
		return health.Result{Status: health.Unknown, Message: "is not known yet"}, true
	}
	return *o.health, true
}

// ModuleCRs returns all objects of a kind that is tracked as ModuleCR, sorted; synced is false while the kind is not listed.
func (r *Runtime) ModuleCRs(gk schema.GroupKind) (objs []runtimes.ModuleCRStatus, synced bool) {
	r.mu.RLock()
	k := r.kinds[gk]
	if k == nil || !k.spec.needs.state {
		r.mu.RUnlock()
		return nil, false
	}
	known := make(map[objectKey]object, len(k.objects)) // whole objects are decoded below, without the lock
	for at, o := range k.objects {
		known[at] = *o
	}
	synced = k.synced
	r.mu.RUnlock()
	objs = make([]runtimes.ModuleCRStatus, 0, len(known))
	for at, o := range known {
		objs = append(objs, o.moduleCR(at))
	}
	slices.SortFunc(objs, func(a, b runtimes.ModuleCRStatus) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return objs, synced
}

func (o *object) moduleCR(at objectKey) runtimes.ModuleCRStatus {
	cr := runtimes.ModuleCRStatus{Namespace: at.namespace.Value(), Name: at.name.Value(), UID: o.uid, Terminating: o.terminating}
	if o.state != nil {
		cr.State, cr.Message = o.state.state, o.state.message
	}
	if o.body != nil {
		cr.Object = o.body.object(o.version)
	}
	return cr
}

// Synced reports whether all kinds that the owner tracks have been listed. A kind that the runtime does not serve counts as listed: it has
// no objects. problem names a kind that cannot be listed, for example because the credentials do not allow it, or one whose changes
// may be detected late, because its stream fails.
func (r *Runtime) Synced(owner types.NamespacedName) (synced bool, problem *runtimes.Problem) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t := r.owners[owner]
	if t == nil {
		return false, nil
	}
	synced = true
	first := ""
	for gk := range t.specs {
		k := r.kinds[gk]
		if k == nil { // closed
			return false, nil
		}
		synced = synced && k.synced
		if name := gk.String(); k.currentProblem() != nil && (first == "" || name < first) {
			first, problem = name, k.currentProblem()
		}
	}
	return synced, problem
}

// Namespaced returns a kind's scope if it is known without a call.
func (r *Runtime) Namespaced(gvk schema.GroupVersionKind) (namespaced, known bool) {
	return r.served.namespaced(gvk)
}

// Report evaluates the outcome of a call that was made through Cluster. When no connection was possible, or the credentials were refused,
// the runtime is down until a probe succeeds. When a response was lost or late, a probe runs at once. Everything
// else, success included, changes nothing.
func (r *Runtime) Report(err error) {
	switch class := apply.Classify(err); {
	case class == apply.ClassUnauthorized, class == apply.ClassUnreachable && isConnectFailure(err):
		r.conn.openBreaker(err)
	case class == apply.ClassUnreachable:
		r.conn.suspect()
		r.conn.probe()
	}
}

// close ends everything that belongs to the connection.
func (r *Runtime) close() {
	r.cancel()
	r.mu.Lock()
	for _, k := range r.kinds {
		r.stopKindLocked(k)
	}
	r.kinds = nil // what is not watched any more is not known any more
	for _, t := range []*time.Timer{r.flush, r.audit} {
		if t != nil {
			t.Stop()
		}
	}
	r.mu.Unlock()
	if r.leaving != nil {
		r.leaving.Stop()
	}
	r.conn.close()
}
