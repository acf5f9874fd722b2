package setup

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/manifest"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// fleetPort connects the Manifest controller to the fleet, which do not depend on each other.
type fleetPort struct {
	fleet   *clustercache.Clusters
	account string
	causes  *priority.LastPriorities
}

// Get connects to a runtime.
func (p *fleetPort) Get(ctx context.Context, target manifest.Target) (manifest.Runtime, error) {
	runtime, err := p.fleet.Get(ctx, clustercache.Target{
		Namespace: target.Namespace, Name: target.Name, Local: target.Local, ServiceAccount: p.account, Owner: target.Owner,
		Urgent: p.causes.Manifests.Of(target.Owner) >= priority.Now,
	})
	if err != nil {
		return nil, err
	}
	cluster, err := runtime.As(target.Account)
	if err != nil {
		return nil, &runtimes.Problem{Reason: v1beta2.ReasonInternal, Message: err.Error(), Err: err}
	}
	return runtimePort{runtime, cluster}, nil
}

// Changed drops the connection when the access Secret differs from the one that it was made with.
func (p *fleetPort) Changed(_ context.Context, namespace, name string) {
	p.fleet.InvalidateAccess(namespace, name)
}

// Source enqueues Manifests.
func (p *fleetPort) Source() source.Source { return p.fleet.Source(clustercache.Manifests) }

// runtimePort is a runtime as the account of a Manifest reads and writes it.
type runtimePort struct {
	*clustercache.Runtime

	cluster *apply.Cluster
}

// Cluster returns the runtime as the account of the Manifest.
func (p runtimePort) Cluster() *apply.Cluster { return p.cluster }

// Own returns the runtime as the connection itself.
func (p runtimePort) Own() *apply.Cluster { return p.Runtime.Cluster() }

// Hidden returns why a kind cannot be observed, and when to retry.
func (p runtimePort) Hidden(owner types.NamespacedName) *runtimes.Problem {
	_, problem := p.Synced(owner)
	if problem == nil {
		return nil
	}
	return later(problem)
}

// later returns a problem with a pause before the next try: the cluster cache recovers by itself and enqueues nothing then.
func later(problem *runtimes.Problem) *runtimes.Problem {
	retried := *problem
	retried.Retry = max(retried.Retry, retryHidden)
	return &retried
}

// retryHidden is the pause before a kind that could not be observed is tried again.
const retryHidden = 30 * time.Second

// contentGC keeps the content store below its maximum size.
type contentGC struct {
	store interface {
		Collect(now time.Time) (int64, error)
	}
	log logr.Logger
}

// Start collects garbage now and every hour.
func (j *contentGC) Start(ctx context.Context) error {
	ticker := time.NewTicker(time.Hour)
	defer ticker.Stop()
	for now := time.Now(); ; {
		if freed, err := j.store.Collect(now); err != nil {
			j.log.Error(err, "Could not tidy up the content store")
		} else if freed > 0 {
			j.log.Info("Tidied up the content store", "freedBytes", freed)
		}
		select {
		case <-ctx.Done():
			return nil
		case now = <-ticker.C:
		}
	}
}

// NeedLeaderElection returns false: every replica has a store of its own.
func (j *contentGC) NeedLeaderElection() bool { return false }
