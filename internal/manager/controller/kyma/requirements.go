package kyma

import (
	"cmp"
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// readCluster adds to a Snapshot what is known of the cluster that its modules are in, as far as versions require it that are not installed
// yet. Only while there are such versions, events of it are requested; at rest there are none. A cluster that cannot be looked at is
// unknown: versions that require something of it wait.
func (r *Reconciler) readCluster(ctx context.Context, s *remoteScope, world *module.Snapshot) {
	key, needs := client.ObjectKeyFromObject(s.hub), module.NeededFacts(*world)
	if needs.None() {
		r.unrequire(key)
		return
	}
	cluster, problem := r.clusterOf(ctx, s)
	if problem != nil {
		world.Cluster.Problem = problem.Message
		s.retry = soonest(s.retry, problem.Retry)
		return
	}
	if before, had := r.required.Load(key); had && before != cluster {
		r.unrequire(key)
	}
	r.required.Store(key, cluster)
	cluster.Require(key, needs)
	world.Cluster = cluster.Required(key, needs)
	world.Cluster.Problem = cmp.Or(world.Cluster.Problem, needs.Problem)
}

// clusterOf returns the connection to the cluster that a Kyma's modules are in.
func (r *Reconciler) clusterOf(ctx context.Context, s *remoteScope) (Runtime, *runtimes.Problem) {
	if s.runtime != nil {
		return s.runtime, nil
	}
	if s.Access != nil {
		return nil, &runtimes.Problem{Reason: s.Access.Reason, Message: s.Access.Message} // what ends that enqueues the Kyma already
	}
	connect := r.Clusters.Get
	if s.hub.Spec.Remote != nil && !*s.hub.Spec.Remote {
		connect = r.Clusters.Local
	}
	cluster, err := connect(ctx, client.ObjectKeyFromObject(s.hub))
	if err == nil {
		return cluster, nil
	}
	if problem, known := errors.AsType[*runtimes.Problem](err); known {
		return nil, problem
	}
	return nil, &runtimes.Problem{Message: err.Error(), Retry: retrySoon}
}

// unrequire ends the events of what modules of a Kyma require.
func (r *Reconciler) unrequire(key types.NamespacedName) {
	if old, had := r.required.LoadAndDelete(key); had {
		if before, ok := old.(Runtime); ok {
			before.Unrequire(key)
		}
	}
}
