package operation

import (
	"context"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// bystand gives the second runtime a separate Kyma, which is Ready before any fault and must stay Ready. It is not synchronised, so that no
// operation on other Kymas has a reason to write there.
func bystand(ctx context.Context, r *rig.Rig) error {
	s := blank(r, NewID())
	s.Home, s.Other = s.Other, s.Home
	if err := s.offer(ctx, s.Maps); err != nil {
		return err
	}
	secret, err := s.newAccess()
	if err != nil {
		return err
	}
	kyma := s.Kyma()
	testkit.Unsynced()(kyma)
	kyma.Spec.Modules = []v1beta2.Module{{Name: s.Maps}}
	if err := r.Hub.Client.Create(ctx, secret); err != nil {
		return err
	}
	if err := r.Hub.Client.Create(ctx, kyma); err != nil {
		return err
	}
	if !r.Manager.Running() {
		if err := r.Manager.Start(); err != nil {
			return err
		}
	}
	r.Bystander = kyma.Name
	return Await(ctx, s, func(ctx context.Context, s *Scenario) error {
		live, err := s.Live(ctx)
		if err == nil && (live.Status.State != v1beta2.StateReady || live.Status.ObservedGeneration != live.Generation) {
			err = fmt.Errorf("the bystander is %s: %s", live.Status.State, conditionText(live.Status.Conditions))
		}
		return err
	}, time.Minute)
}
