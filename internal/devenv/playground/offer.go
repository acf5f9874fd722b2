//go:build unix

package playground

import (
	"context"
	"errors"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// publishModules pushes every version of every module as an OCM component.
func (p *playground) publishModules(ctx context.Context) error {
	return p.progress.step("registry", "publishing "+moduleNames()+" as OCM components, each in two versions", func() (string, error) {
		registry := component.Registry{Host: p.registry.Host, PlainHTTP: true}
		err := errors.Join(PublishModules(ctx, registry, nil), publishStuck(ctx, registry))
		return fmt.Sprintf("has %d component versions, one of them for the rollout to try", len(modules)*len(channels)+1), err
	})
}

// offerModules creates the objects that list the versions and the channels that offer them.
func (p *playground) offerModules(ctx context.Context) error {
	return p.progress.step(hubName, "offering the modules in channels regular and fast", func() (string, error) {
		objects, err := Offers()
		if err != nil {
			return "", err
		}
		for _, object := range objects {
			if err := p.hub.client.Create(ctx, object); err != nil {
				return "", fmt.Errorf("cannot create %T %s: %w", object, object.GetName(), err)
			}
		}
		return "has the ModuleReleaseMeta and ModuleTemplates of " + moduleNames(), nil
	})
}
