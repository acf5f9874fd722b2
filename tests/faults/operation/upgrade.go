package operation

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// ManagerUpgrade is the operation by which this version of the manager takes the place of the version before, with modules installed. Its
// rig needs that manager (rig.Rig.Earlier); only the crash suite has the operation, because all others expect a manager that runs.
func ManagerUpgrade() Operation {
	return Operation{Name: "manager-upgrade", Prepare: installEarlier, Steps: []Step{
		{"start this version of the manager", startManager, undisturbed},
	}}
}

// identity is what an object loses when it is made anew or changed.
type identity struct {
	UID        types.UID
	Generation int64
}

// installEarlier installs the modules by the manager of the version before, which has ended afterwards.
func installEarlier(ctx context.Context, s *Scenario) (err error) {
	earlier := s.Rig.Earlier
	if earlier == nil {
		return fmt.Errorf("the rig has no manager of the version before: set %s to its program", rig.EarlierVariable)
	}
	if err := s.Rig.Manager.Stop(); err != nil {
		return err
	}
	if err := earlier.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, earlier.Stop()) }()
	if err := install(ctx, s); err != nil {
		return err
	}
	if err := s.Rig.Quiet(ctx); err != nil {
		return err
	}
	s.Before, err = s.identities(ctx)
	return err
}

// startManager starts this version, unless it was started again after its death.
func startManager(_ context.Context, s *Scenario) error {
	if s.Rig.Manager.Running() {
		return nil
	}
	return s.Rig.Manager.Start()
}

// undisturbed is nil once the manager has the Kyma under control, and every object of its modules is the one that was there before,
// unchanged.
func undisturbed(ctx context.Context, s *Scenario) error {
	if err := installed(v1)(ctx, s); err != nil {
		return err
	}
	if err := s.holds(ctx); err != nil {
		return err
	}
	now, err := s.identities(ctx)
	if err != nil {
		return err
	}
	for name, before := range s.Before {
		if now[name] != before {
			return fmt.Errorf("%s was %v before the upgrade and is %v", name, before, now[name])
		}
	}
	return nil
}

// identities returns the identities of all objects of the installed modules, by kind and name.
func (s *Scenario) identities(ctx context.Context) (map[string]identity, error) {
	found := map[string]identity{}
	for _, module := range s.Modules {
		for _, object := range s.objects(module.Name, v1) {
			live, err := s.get(ctx, object)
			if err != nil {
				return nil, err
			}
			found[object.GetKind()+" "+object.GetName()] = identity{UID: live.GetUID(), Generation: live.GetGeneration()}
		}
	}
	return found, nil
}
