package setup

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/kyma"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// kymaFleet connects the Kyma controller to the fleet.
type kymaFleet struct {
	fleet   *clustercache.Clusters
	account string
	causes  *priority.LastPriorities
}

// Get connects to the runtime of a Kyma.
func (p kymaFleet) Get(ctx context.Context, key types.NamespacedName) (kyma.Runtime, error) {
	runtime, err := p.fleet.Get(ctx, clustercache.Target{
		Namespace: key.Namespace, Name: key.Name, Owner: clustercache.Kymas.Owner(key), Claiming: true,
		Urgent: p.causes.Kymas.Of(key) >= priority.Now,
	})
	if err != nil {
		return nil, err
	}
	return kymaRuntime{runtime}, nil
}

// Local connects to the hub itself, with the account that installs modules there.
func (p kymaFleet) Local(ctx context.Context, key types.NamespacedName) (kyma.Runtime, error) {
	runtime, err := p.fleet.Get(ctx, clustercache.Target{
		Namespace: key.Namespace, Name: key.Name, Local: true, ServiceAccount: p.account, Owner: clustercache.Requirements.Owner(key),
		Urgent: p.causes.Kymas.Of(key) >= priority.Now,
	})
	if err != nil {
		return nil, err
	}
	return kymaRuntime{runtime}, nil
}

// Source enqueues Kymas.
func (p kymaFleet) Source() source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		return errors.Join(p.fleet.Source(clustercache.Kymas).Start(ctx, queue), p.fleet.Source(clustercache.Requirements).Start(ctx, queue))
	})
}

// pins returns the identity of the cluster that a Kyma is bound to.
type pins struct{ reader client.Reader }

func (p pins) of(namespace, name string) string {
	known := &v1beta2.Kyma{}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	err := p.reader.Get(context.Background(), key, known, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil {
		return "" // there is no such Kyma, or the cache is shutting down
	}
	return known.Status.RuntimeID
}

// claimRule returns how far the claim on the runtime of a Kyma binds.
func (p pins) claimRule(namespace, name string) module.ClaimRule {
	known := &v1beta2.Kyma{}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	err := p.reader.Get(context.Background(), key, known, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil {
		known = nil // there is none, or the cache is shutting down
	}
	return module.ClaimRuleOf(known)
}

type kymaRuntime struct{ *clustercache.Runtime }

// Track subscribes a Kyma to kinds.
func (p kymaRuntime) Track(owner types.NamespacedName, interests []runtimes.Interest) {
	p.Runtime.Track(clustercache.Kymas.Owner(owner), interests)
}

// Untrack ends the subscriptions of a Kyma.
func (p kymaRuntime) Untrack(owner types.NamespacedName) {
	p.Runtime.Untrack(clustercache.Kymas.Owner(owner))
}

// Known reports whether everything was listed, and the problem with what cannot be.
func (p kymaRuntime) Known(owner types.NamespacedName) (bool, *runtimes.Problem) {
	synced, problem := p.Synced(clustercache.Kymas.Owner(owner))
	if problem == nil {
		return synced, nil
	}
	return false, later(problem)
}

// Require requests events of what modules of a Kyma require.
func (p kymaRuntime) Require(owner types.NamespacedName, needs module.ClusterNeeds) {
	p.Runtime.Require(clustercache.Requirements.Owner(owner), needs.Definitions, needs.Kubernetes)
}

// Required returns what is known of it.
func (p kymaRuntime) Required(owner types.NamespacedName, needs module.ClusterNeeds) module.ClusterFacts {
	facts := module.ClusterFacts{Definitions: map[string]requirements.Definition{}, Kubernetes: p.KubeVersion()}
	for _, name := range needs.Definitions {
		if found := p.Definition(name); found.Known {
			facts.Definitions[name] = requirements.Definition{Present: found.Present, Served: found.Served}
		}
	}
	if needs.Kubernetes && facts.Kubernetes == "" {
		facts.Problem = "the cluster does not tell its version"
	}
	if _, problem := p.Synced(clustercache.Requirements.Owner(owner)); problem != nil {
		facts.Problem = problem.Message
	}
	return facts
}

// Unrequire ends the subscriptions to what modules of a Kyma require.
func (p kymaRuntime) Unrequire(owner types.NamespacedName) {
	p.Runtime.Untrack(clustercache.Requirements.Owner(owner))
}

// Established reports whether a definition is healthy.
func (p kymaRuntime) Established(id inventory.ID) bool {
	result, kept := p.Health(id)
	return kept && result.Status == health.Ready
}
