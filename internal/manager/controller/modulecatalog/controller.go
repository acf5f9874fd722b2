package modulecatalog

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/manager/workerslot"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Reconciler keeps the catalogs of runtimes in sync. Create it with New.
type Reconciler struct {
	// Client reads from the cache.
	Client client.Client
	// Clusters connects to runtimes.
	Clusters Clusters
	// Syncer remembers what runtimes hold. It may be shared.
	Syncer *remotesync.Syncer
	// Shard reports which Kymas this replica owns, Moves when that changes; nil: it never does.
	Shard sharding.Owner
	Moves sharding.OwnershipChanges
	// Slots bounds how many passes work at a time while others wait for runtimes; nil: only the number of workers does.
	Slots *workerslot.Pool
	// Restricted are the modules that only Kymas selected by their release may see.
	Restricted []string
	// Backoff spaces the retries of what failed.
	Backoff *flowcontrol.Backoff

	contents contents
	states   states
	waiting  *rateLimitedSource
	notices  notifier
	woken    notifier
}

// New returns a Reconciler that handles changes of the hub's offers at a rate of Kymas per second. The caller sets the exported fields.
func New(perSecond float64) *Reconciler { return &Reconciler{waiting: newRateLimitedSource(perSecond)} }

// Reconcile writes the catalog of one Kyma to its runtime.
//
//  1. Not found, not ours, local, being deleted, or without a Kyma in its runtime: what was known of it is forgotten.
//  2. Label skip-reconciliation: everything stays as it is.
//  3. Without a connection it only reports that; the connection enqueues the Kyma.
//  4. What the Kyma may see is written, what it may no longer see is deleted.
//  5. The result is kept for the Kyma's status.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	key := req.NamespacedName
	r.waiting.drop(key)
	ctx, end, standing := r.Shard.Begin(ctx, sharding.Bucket(key.Namespace, key.Name))
	defer end()
	if standing == sharding.Elsewhere {
		r.forget(key)
	}
	if standing != sharding.Mine {
		return ctrl.Result{}, nil
	}
	kyma := &v1beta2.Kyma{}
	err := r.Client.Get(ctx, key, kyma)
	switch {
	case apierrors.IsNotFound(err), err == nil && !concerns(kyma):
		r.forget(key)
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, err
	case module.KymaSuspended(kyma):
		return ctrl.Result{}, nil
	}
	retry, err := r.syncCatalog(ctx, key, kyma)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctrl.Result{}, nil // the manager ends, or the Kyma is another replica's by now; what was cut off is no error
	}
	return ctrl.Result{RequeueAfter: retry}, err
}

// concerns reports whether a Kyma has its own runtime with a Kyma in it. Before its Kyma exists there, the runtime may belong to another
// Kyma, and lacks the definitions.
func concerns(kyma *v1beta2.Kyma) bool {
	return kyma.DeletionTimestamp.IsZero() && module.Synced(kyma) && hasRuntime(kyma)
}

// hasRuntime reports whether the Kyma has taken possession of its runtime, and no other one of this hub has.
func hasRuntime(kyma *v1beta2.Kyma) bool {
	ready := conditions.Find(kyma.Status.Conditions, v1beta2.ConditionReady)
	return kyma.Status.LastSeen != nil && (ready == nil || ready.Reason != v1beta2.ReasonOwnershipConflict)
}

// syncCatalog writes the catalog and returns when to check again.
func (r *Reconciler) syncCatalog(ctx context.Context, key types.NamespacedName, kyma *v1beta2.Kyma) (time.Duration, error) {
	runtime, err := r.Clusters.Get(ctx, Target{Namespace: key.Namespace, Name: key.Name, Owner: key})
	if problem, known := errors.AsType[*runtimes.Problem](err); known {
		if problem.Reason != v1beta2.ReasonRuntimeConnecting { // that is no news
			r.setState(key, reportedState{reason: problem.Reason, message: problem.Message})
		}
		return problem.Retry, nil
	}
	if err != nil {
		return 0, err
	}
	r.attach(key, runtime)
	runtime.Track(key, kinds)
	wanted, err := r.contents.of(ctx, r.Client, kyma, r.Restricted)
	if err != nil {
		return 0, err
	}
	outcome, err := r.write(ctx, runtime, wanted)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return r.conclude(key, outcome, err), nil
}

// write writes what is desired and deletes what is not. Neither waits for the other to succeed.
func (r *Reconciler) write(ctx context.Context, runtime Runtime, wanted *view) (remotesync.Outcome, error) {
	outcome, err := r.Syncer.Ensure(ctx, runtime, wanted.copies)
	for _, kind := range kinds {
		pruned, failed := r.Syncer.Prune(ctx, runtime, kind, wanted.keep[kind], v1beta2.FieldManagerCatalog)
		err = errors.Join(err, failed)
		outcome.RetryAfter = max(outcome.RetryAfter, pruned.RetryAfter)
		if outcome.Pending == nil {
			outcome.Pending, outcome.Unlisted = pruned.Pending, pruned.Unlisted
		}
	}
	return outcome, err
}

const (
	// patience is how long a passing problem is not reported, however much else is written meanwhile.
	patience = 8 * time.Second
	// listPatience is for kinds of the runtime that are not listed yet: what the status says of them may well be true. After a start, a large
	// fleet is listed one runtime after the other. A runtime that does not respond, or refuses, is reported by its connection.
	listPatience = 5 * time.Minute
)

// conclude records the result and returns when to check again.
func (r *Reconciler) conclude(key types.NamespacedName, outcome remotesync.Outcome, err error) time.Duration {
	switch {
	case err != nil:
		r.setState(key, reportedState{reason: v1beta2.ReasonSyncFailed, message: v1beta2.MessageCatalogNotSynced + ": " + line(err)})
	case !outcome.Synced() && r.lacks(key) < patienceFor(outcome):
		// Not at once: after a start, and on a new connection, the runtime is being listed. The earlier result stays meanwhile.
	case !outcome.Synced():
		r.setState(key, reportedState{reason: v1beta2.ReasonSyncPending, message: v1beta2.MessageCatalogNotSynced + ": " + line(outcome.Pending)})
	default:
		r.setState(key, reportedState{synced: true, reason: v1beta2.ReasonSynced, message: v1beta2.MessageCatalogSynced})
		r.Backoff.DeleteEntry(key.String())
		return 0
	}
	if outcome.Written > 0 { // what stands in the way now is something else
		r.Backoff.DeleteEntry(key.String())
	}
	// Only a pass that runs when the pause has ended extends it: a transient fault has many events.
	if now := r.Backoff.Clock.Now(); !r.Backoff.IsInBackOffSinceUpdate(key.String(), now) {
		r.Backoff.Next(key.String(), now)
	}
	return max(outcome.RetryAfter, r.Backoff.Get(key.String()))
}

func patienceFor(outcome remotesync.Outcome) time.Duration {
	if outcome.Unlisted {
		return listPatience
	}
	return patience
}

// line returns an error in one line.
func line(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
