package setup

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/manifest"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
)

// fleetPort connects the Manifest controller to the fleet, which do not depend on each other.
type fleetPort struct {
	fleet   *clustercache.Clusters
	account string
	causes  *priority.LastPriorities
}

// Get connects to a runtime, and converts errors to the controller's type.
func (p *fleetPort) Get(ctx context.Context, target manifest.Target) (manifest.Runtime, error) {
	runtime, err := p.fleet.Get(ctx, clustercache.Target{
		Namespace: target.Namespace, Name: target.Name, Local: target.Local, ServiceAccount: p.account, Owner: target.Owner,
		Urgent: p.causes.Manifests.Of(target.Owner) >= priority.Now,
	})
	if problem, known := errors.AsType[*clustercache.Problem](err); known {
		return nil, &manifest.Problem{Reason: problem.Reason, Message: problem.Message, Retry: problem.RetryAfter}
	}
	if err != nil {
		return nil, err
	}
	return runtimePort{runtime}, nil
}

// Changed drops the connection when the access Secret differs from the one that it was made with.
func (p *fleetPort) Changed(_ context.Context, namespace, name string) {
	p.fleet.InvalidateAccess(namespace, name)
}

// Source enqueues Manifests.
func (p *fleetPort) Source() source.Source { return p.fleet.Source(clustercache.Manifests) }

type runtimePort struct{ *clustercache.Runtime }

// Track translates kinds and modes.
func (p runtimePort) Track(owner types.NamespacedName, interests []manifest.Interest) {
	kinds := make([]clustercache.Interest, 0, len(interests))
	for _, interest := range interests {
		kind := clustercache.Interest{GroupVersionKind: interest.GVK, Mode: clustercache.Metadata, Keep: interest.Keep}
		switch interest.Mode {
		case manifest.Workload:
			kind.Mode = clustercache.Workload
		case manifest.ModuleCR:
			kind.Mode = clustercache.ModuleCR
		case manifest.Metadata:
		}
		kinds = append(kinds, kind)
	}
	p.Runtime.Track(owner, kinds)
}

// Hidden returns why a kind cannot be observed, and when to retry: the cluster cache recovers by itself and enqueues nothing then.
func (p runtimePort) Hidden(owner types.NamespacedName) *manifest.Problem {
	_, problem := p.Synced(owner)
	if problem == nil {
		return nil
	}
	return &manifest.Problem{Reason: problem.Reason, Message: problem.Message, Retry: max(problem.RetryAfter, retryHidden)}
}

// ModuleCRs translates the states of a module's custom resources.
func (p runtimePort) ModuleCRs(kind schema.GroupKind) ([]manifest.ModuleCRState, bool) {
	known, synced := p.Runtime.ModuleCRs(kind)
	crs := make([]manifest.ModuleCRState, 0, len(known))
	for _, cr := range known {
		crs = append(crs, manifest.ModuleCRState{Namespace: cr.Namespace, Name: cr.Name, State: cr.State, Message: cr.Message, Object: cr.Object})
	}
	return crs, synced
}

// Capabilities translates the capabilities of the runtime.
func (p runtimePort) Capabilities(ctx context.Context) (manifest.Capabilities, error) {
	known, err := p.Runtime.Capabilities(ctx)
	return manifest.Capabilities{KubeVersion: known.KubeVersion, APIVersions: known.APIVersions}, err
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
