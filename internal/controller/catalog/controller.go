package catalog

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
	"github.com/kyma-project/lifecycle-manager/internal/mirror"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/shard"
	"github.com/kyma-project/lifecycle-manager/internal/turn"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Reconciler keeps the catalogs of runtimes. Make it with New.
type Reconciler struct {
	// Client reads from the cache.
	Client client.Client
	// Fleet connects to runtimes.
	Fleet Fleet
	// Mirror remembers what runtimes hold. It may be shared.
	Mirror *mirror.Mirror
	// Shard says which Kymas are this replica's, Moves when that changes; nil: it never does.
	Shard shard.Owner
	Moves shard.Moves
	// Turns bound how many passes work at a time while others wait for runtimes; nil: the options' workers do.
	Turns *turn.Turns
	// Restricted are the modules that only the Kymas may see which their release selects.
	Restricted []string
	// Backoff spaces the retries of what failed.
	Backoff *flowcontrol.Backoff

	contents contents
	states   states
	waiting  *pace
	notices  bell
	woken    bell
}

// New makes a Reconciler that spends a change of the hub's offers on so many Kymas per second. The exported fields are the caller's to set.
func New(perSecond float64) *Reconciler { return &Reconciler{waiting: newPace(perSecond)} }

// Reconcile brings the catalog of one Kyma into its runtime.
//
//  1. Not there, not ours, local, being deleted, or without a Kyma in its runtime: what was known of it is forgotten.
//  2. Label skip-reconciliation: everything stays as it is.
//  3. Without a connection there is nothing to do but to say so; the connection wakes the Kyma.
//  4. What the Kyma may see is brought, what it may no longer see goes.
//  5. What is to be said of it is kept for the Kyma's status.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	key := req.NamespacedName
	r.waiting.drop(key)
	ctx, end, standing := r.Shard.Begin(ctx, shard.Bucket(key.Namespace, key.Name))
	defer end()
	if standing == shard.Elsewhere {
		r.forget(key)
	}
	if standing != shard.Mine {
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
	case strings.EqualFold(kyma.Labels[v1beta2.LabelSkipReconciliation], v1beta2.EnabledValue):
		return ctrl.Result{}, nil
	}
	retry, err := r.bring(ctx, key, kyma)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctrl.Result{}, nil // the manager ends, or the Kyma is another replica's by now; what was cut off is no error
	}
	return ctrl.Result{RequeueAfter: retry}, err
}

// concerns says that a Kyma has a runtime of its own with a Kyma in it. Before its Kyma is there the runtime may be somebody else's, and
// lacks the definitions.
func concerns(kyma *v1beta2.Kyma) bool {
	return kyma.DeletionTimestamp.IsZero() && module.Synced(kyma) && hasRuntime(kyma)
}

// hasRuntime says that the Kyma has taken possession of its runtime, and that no other one of this hub has.
func hasRuntime(kyma *v1beta2.Kyma) bool {
	ready := conditions.Find(kyma.Status.Conditions, v1beta2.ConditionReady)
	return kyma.Status.LastSeen != nil && (ready == nil || ready.Reason != v1beta2.ReasonOwnershipConflict)
}

// bring does the work and says when to look again.
func (r *Reconciler) bring(ctx context.Context, key types.NamespacedName, kyma *v1beta2.Kyma) (time.Duration, error) {
	runtime, err := r.Fleet.Get(ctx, Target{Namespace: key.Namespace, Name: key.Name, Owner: key})
	if problem, known := errors.AsType[*Problem](err); known {
		if problem.Reason != v1beta2.ReasonRuntimeConnecting { // that is no news
			r.say(key, said{reason: problem.Reason, message: problem.Message})
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

// write brings what is wanted and takes away what is not. Neither waits for the other to succeed.
func (r *Reconciler) write(ctx context.Context, runtime Runtime, wanted *view) (mirror.Outcome, error) {
	outcome, err := r.Mirror.Ensure(ctx, runtime, wanted.copies)
	for _, kind := range kinds {
		pruned, failed := r.Mirror.Prune(ctx, runtime, kind, wanted.keep[kind], v1beta2.FieldManagerCatalog)
		err = errors.Join(err, failed)
		outcome.RetryAfter = max(outcome.RetryAfter, pruned.RetryAfter)
		if outcome.Pending == nil {
			outcome.Pending = pruned.Pending
		}
	}
	return outcome, err
}

// patience is how long something that passes is not told, however much else is written meanwhile.
const patience = 8 * time.Second

// conclude keeps what there is to say and says when to look again.
func (r *Reconciler) conclude(key types.NamespacedName, outcome mirror.Outcome, err error) time.Duration {
	switch {
	case err != nil:
		r.say(key, said{reason: v1beta2.ReasonSyncFailed, message: v1beta2.MessageCatalogNotSynced + ": " + line(err)})
	case !outcome.Synced() && r.lacks(key) < patience:
		// Not at once: after a start, and on a new connection, the runtime is being listed, which is over in a moment, or in some when a
		// whole fleet is. What was said before stands meanwhile.
	case !outcome.Synced():
		r.say(key, said{reason: v1beta2.ReasonSyncPending, message: v1beta2.MessageCatalogNotSynced + ": " + line(outcome.Pending)})
	default:
		r.say(key, said{synced: true, reason: v1beta2.ReasonSynced, message: v1beta2.MessageCatalogSynced})
		r.Backoff.DeleteEntry(key.String())
		return 0
	}
	if outcome.Written > 0 { // what stands in the way now is something else
		r.Backoff.DeleteEntry(key.String())
	}
	// Only a pass that comes when the pause is over makes it longer: a fault of a moment has many events.
	if now := r.Backoff.Clock.Now(); !r.Backoff.IsInBackOffSinceUpdate(key.String(), now) {
		r.Backoff.Next(key.String(), now)
	}
	return max(outcome.RetryAfter, r.Backoff.Get(key.String()))
}

// line is an error in one line.
func line(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
