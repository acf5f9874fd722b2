package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// installManual installs modules whose upgrades a person wants to be asked about.
func installManual(ctx context.Context, s *Scenario) error {
	for i := range s.Modules {
		s.Modules[i].UpgradeStrategy = v1beta2.UpgradeManual
	}
	return install(ctx, s)
}

// offerForConsent offers the second version. Until a person agrees, nothing of it may be written.
func offerForConsent(ctx context.Context, s *Scenario) error {
	s.Held = v2
	return offerNext(ctx, s)
}

// asking is nil once both modules wait for consent to a version, and what runs is Ready and as before.
func asking(runs, offered string) func(context.Context, *Scenario) error {
	return func(ctx context.Context, s *Scenario) error {
		kyma, err := s.Live(ctx)
		if err != nil {
			return err
		}
		for _, module := range kyma.Status.Modules {
			if module.Pending == nil || module.Pending.Version != offered || module.Pending.Digest == "" {
				return fmt.Errorf("module %s does not wait for consent to %s: %+v", module.Name, offered, module.Pending)
			}
		}
		if len(kyma.Status.Modules) != len(s.Modules) {
			return errors.New("the status does not have all modules")
		}
		return installed(runs)(ctx, s)
	}
}

// approve agrees, as the user of the hub's Kyma, to what both modules wait for. From then on it may be written.
func approve(ctx context.Context, s *Scenario) error {
	kyma, err := s.Live(ctx)
	if err != nil {
		return err
	}
	pending := map[string]string{}
	for _, module := range kyma.Status.Modules {
		if module.Pending != nil {
			pending[module.Name] = module.Pending.Version + "@" + module.Pending.Digest
		}
	}
	s.Agreed = map[string]uint64{}
	for _, server := range s.Rig.Servers() {
		s.Agreed[server.Proxy.Name()] = server.Proxy.Last()
	}
	return edit(ctx, s.Rig.Hub, s.Kyma(), func(kyma *v1beta2.Kyma) {
		for i := range kyma.Spec.Modules {
			kyma.Spec.Modules[i].Approved = pending[kyma.Spec.Modules[i].Name]
		}
	})
}
