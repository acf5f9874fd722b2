package setup

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// clusterFacts looks at the clusters of Kymas, as far as their modules require anything of them.
type clusterFacts struct {
	fleet   *clustercache.Clusters
	account string
	// tracked are the runtimes whose definitions are tracked for a Kyma.
	tracked sync.Map
}

// Look returns what is known of what is needed. While a definition is needed, the Kyma is enqueued when one comes, goes or serves other
// versions; that ends when none is needed any more.
func (p *clusterFacts) Look(ctx context.Context, kyma *v1beta2.Kyma, needs module.ClusterNeeds) module.ClusterFacts {
	key := client.ObjectKeyFromObject(kyma)
	if len(needs.Definitions) == 0 {
		p.Forget(key)
	}
	if needs.None() {
		return module.ClusterFacts{}
	}
	runtime, err := p.fleet.Get(ctx, clustercache.Target{
		Namespace: key.Namespace, Name: key.Name, Local: kyma.Spec.Remote != nil && !*kyma.Spec.Remote, ServiceAccount: p.account,
		Owner: clustercache.Requirements.Owner(key),
	})
	if err != nil {
		return module.ClusterFacts{Problem: problemOf(err)}
	}
	facts := module.ClusterFacts{}
	if len(needs.Definitions) > 0 {
		facts = p.definitions(runtime, key, needs.Definitions)
	}
	if needs.Kubernetes {
		known, err := runtime.Capabilities(ctx)
		if err != nil {
			facts.Problem = problemOf(err)
		}
		facts.Kubernetes = known.KubeVersion
	}
	return facts
}

// definitions tracks the definitions of a cluster for a Kyma and returns what is known of those that are needed.
func (p *clusterFacts) definitions(runtime *clustercache.Runtime, key types.NamespacedName, needed []string) module.ClusterFacts {
	owner := clustercache.Requirements.Owner(key)
	if before, ok := p.tracked.Load(key); ok && before != runtime {
		p.Forget(key)
	}
	p.tracked.Store(key, runtime)
	runtime.Track(owner, []runtimes.Interest{clustercache.DefinitionInterest})
	facts := module.ClusterFacts{Definitions: definitionFacts(runtime, needed)}
	if _, problem := runtime.Synced(owner); problem != nil {
		facts.Problem = problem.Message
	}
	return facts
}

// definitionFacts returns the needed definitions that were looked at.
func definitionFacts(runtime *clustercache.Runtime, needed []string) map[string]requirements.Definition {
	served, known := runtime.Definitions()
	if !known {
		return nil
	}
	facts := make(map[string]requirements.Definition, len(needed))
	for _, name := range needed {
		versions, present := served[name]
		facts[name] = requirements.Definition{Present: present, Served: versions}
	}
	return facts
}

func problemOf(err error) string {
	if problem, known := errors.AsType[*runtimes.Problem](err); known {
		return problem.Message
	}
	return err.Error()
}

// Forget ends what was begun for a Kyma.
func (p *clusterFacts) Forget(key types.NamespacedName) {
	before, ok := p.tracked.LoadAndDelete(key)
	if runtime, is := before.(*clustercache.Runtime); ok && is {
		runtime.Untrack(clustercache.Requirements.Owner(key))
	}
}

// Source enqueues the Kymas whose facts changed.
func (p *clusterFacts) Source() source.Source { return p.fleet.Source(clustercache.Requirements) }
