package editcmd

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

// setChannelBulk sets the channel of many Kymas.
func (c *change) setChannelBulk(ctx context.Context, channel string) error {
	b, err := c.openBulk(ctx, true)
	if err != nil {
		return err
	}
	b.doing, b.question = "setting channel "+channel+" in", "Set channel "+channel+" in"
	return b.carryOut(ctx, b.edits(ctx, func(s *session, kyma *v1beta2.Kyma) ([]kymaedit.Change, string, error) {
		if err := s.mayFollow(channel); err != nil {
			return nil, "", err
		}
		changes := []kymaedit.Change{kymaedit.SetChannel(&kyma.Spec, channel)}
		if !anyChange(changes) {
			return changes, "follows channel " + channel + " already", nil
		}
		return changes, described(changes, &kyma.Spec), nil
	}, nil))
}

// mayFollow returns an error if a channel does not offer a module that follows the Kyma's.
func (s *session) mayFollow(channel string) error {
	spec := s.Asked.DeepCopy()
	spec.Channel = channel
	for i := range s.Asked.Modules {
		module := &s.Asked.Modules[i]
		if module.Channel != "" || module.Version != "" {
			continue
		}
		if err := s.check(spec, kymaedit.ModuleRequest{Name: module.Name}); err != nil {
			return err
		}
	}
	return nil
}
