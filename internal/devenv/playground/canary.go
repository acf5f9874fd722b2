//go:build unix

package playground

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// canaryVariable is the shell variable with the path of the third cluster's kubeconfig, which exists once that cluster does.
const canaryVariable = "CANARY_KUBECONFIG"

// serveCanary waits until a user creates Kyma canary, and gives it a cluster. Most users of a playground never do, so that neither its
// start nor its memory is for that.
func (p *playground) serveCanary(ctx context.Context) error {
	err := p.awaitCanary(ctx)
	if err == nil {
		err = p.startCanary(ctx)
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the playground ends
	}
	return err
}

// awaitCanary returns when there is a Kyma canary. A watch that ends, as all do after some time, is followed by another one.
func (p *playground) awaitCanary(ctx context.Context) error {
	for {
		events, err := p.hub.client.Watch(ctx, &v1beta2.KymaList{}, client.InNamespace(v1beta2.DefaultNamespace),
			client.MatchingFields{"metadata.name": canaryName})
		if err != nil {
			return fmt.Errorf("cannot watch for Kyma %s: %w", canaryName, err)
		}
		found := sawObject(events)
		if found || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// sawObject reports whether a watch told of an object before it ended.
func sawObject(events watch.Interface) bool {
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Added || event.Type == watch.Modified {
			return true
		}
	}
	return false
}

// startCanary starts the third cluster like the second one, and lets the manager into it.
func (p *playground) startCanary(ctx context.Context) error {
	doing := fmt.Sprintf("starting a third cluster, because there is a Kyma %s", canaryName)
	return p.progress.step(canaryName, doing, func() (string, error) {
		var err error
		if p.canary, err = p.startCluster(ctx, canaryName); err != nil {
			return "", err
		}
		if err := p.crew.StartOperators(ctx, p.options.Programs, p.folder.dir, p.canary.ControlPlane); err != nil {
			return "", err
		}
		access, err := RuntimeAccess(p.canary.ControlPlane)
		if err != nil {
			return "", err
		}
		err = p.hub.client.Create(ctx, AccessSecret(v1beta2.DefaultNamespace, canaryName, access))
		if apierrors.IsAlreadyExists(err) {
			err = errors.New("there is a Secret kcp-system/" + canaryName + " already, which leads elsewhere: delete it and start again")
		}
		return fmt.Sprintf("is up, and Secret %s lets the manager in", canaryName), err
	})
}

// canaryKubeconfig is the path of the third cluster's kubeconfig.
func (p *playground) canaryKubeconfig() string { return p.folder.path(canaryName, "kubeconfig") }
