package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// wave is the only one of a Scenario's ModuleRollouts: it begins when a person approves it.
const wave = "all"

// rolloutOf returns the ModuleRollout of a module with only its name.
func rolloutOf(module string) *v1beta2.ModuleRollout {
	return &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: module}}
}

// installPlanned installs, and gives both modules a ModuleRollout.
func installPlanned(ctx context.Context, s *Scenario) error {
	if err := install(ctx, s); err != nil {
		return err
	}
	for _, module := range s.Modules {
		rollout := rolloutOf(module.Name)
		rollout.Spec = v1beta2.ModuleRolloutSpec{
			Channels: []string{v1beta2.DefaultChannel}, Waves: []v1beta2.RolloutWave{{Name: wave, Approval: true}},
			// Faults last for seconds, and what they delay has not failed.
			ProgressDeadline: metav1.Duration{Duration: prepareWithin * 10},
		}
		if err := s.Rig.Hub.Client.Create(ctx, rollout); err != nil {
			return err
		}
	}
	return Await(ctx, s, rollouts(func(r *v1beta2.ModuleRollout) error {
		if !conditions.IsTrue(r.Status.Conditions, v1beta2.ConditionArmed) || len(r.Status.Channels) == 0 {
			return errors.New("is not armed")
		}
		return nil
	}), prepareWithin)
}

// rollouts is nil once the ModuleRollouts of both modules are as wanted.
func rollouts(wanted func(*v1beta2.ModuleRollout) error) func(context.Context, *Scenario) error {
	return func(ctx context.Context, s *Scenario) error {
		for _, module := range s.Modules {
			live := rolloutOf(module.Name)
			if err := s.Rig.Hub.Client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
				return err
			}
			if err := wanted(live); err != nil {
				return fmt.Errorf("ModuleRollout %s %w: %s %v", live.Name, err, live.Status.Summary, live.Status.Conditions)
			}
		}
		return nil
	}
}

// inPhase is nil once the rollouts of a version are in a phase.
func inPhase(version string, phase v1beta2.RolloutPhase) func(context.Context, *Scenario) error {
	return rollouts(func(r *v1beta2.ModuleRollout) error {
		at := slices.IndexFunc(r.Status.Channels, func(c v1beta2.RolloutChannel) bool { return c.Name == v1beta2.DefaultChannel })
		if at < 0 || r.Status.Channels[at].To.Version != version || r.Status.Channels[at].Phase != phase {
			return fmt.Errorf("is not %s with %s", phase, version)
		}
		return nil
	})
}

// held is nil once both modules wait for a version: what runs stays, Ready, and the Kyma tells of the other one.
func held(runs, offered string) func(context.Context, *Scenario) error {
	waiting := inPhase(offered, v1beta2.RolloutWaiting)
	return func(ctx context.Context, s *Scenario) error {
		if err := waiting(ctx, s); err != nil {
			return err
		}
		if err := installed(runs)(ctx, s); err != nil {
			return err
		}
		live, err := s.Live(ctx)
		if err != nil {
			return err
		}
		for _, module := range live.Status.Modules {
			if module.Offered != offered {
				return fmt.Errorf("the Kyma tells that module %s waits for %q, not %s", module.Name, module.Offered, offered)
			}
		}
		return nil
	}
}

// approveWave lets both modules have what the channel offers.
func approveWave(ctx context.Context, s *Scenario) error {
	for _, module := range s.Modules {
		err := edit(ctx, s.Rig.Hub, rolloutOf(module.Name), func(r *v1beta2.ModuleRollout) {
			for _, channel := range r.Status.Channels {
				target := channel.To.Version
				if channel.To.Digest != "" {
					target += "@" + channel.To.Digest
				}
				r.Spec.Decision = &v1beta2.RolloutDecision{Action: v1beta2.RolloutApprove, Target: target, Wave: wave, At: metav1.Now(), By: "a person"}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rolledOut is nil once both modules run in that version and the rollouts are completed.
func rolledOut(version string) func(context.Context, *Scenario) error {
	completed := inPhase(version, v1beta2.RolloutCompleted)
	return func(ctx context.Context, s *Scenario) error {
		if err := installed(version)(ctx, s); err != nil {
			return err
		}
		return completed(ctx, s)
	}
}

// installUpgraded installs, and upgrades both modules.
func installUpgraded(ctx context.Context, s *Scenario) error {
	if err := install(ctx, s); err != nil {
		return err
	}
	if err := offerNext(ctx, s); err != nil {
		return err
	}
	return Await(ctx, s, installed(v2), prepareWithin)
}

// goBack takes both modules back to the version before, as a person does who vouches for that. From then on lower versions are what is
// wanted.
func goBack(ctx context.Context, s *Scenario) error {
	s.Back = v1
	avoid := map[string]string{}
	manifests, err := s.Manifests(ctx)
	if err != nil {
		return err
	}
	for i := range manifests {
		manifest := &manifests[i]
		if n := len(manifest.Status.Revisions); n > 0 {
			newest := manifest.Status.Revisions[n-1]
			avoid[manifest.Labels[v1beta2.LabelModuleName]] = newest.Version + "@" + newest.Digest
		}
	}
	return edit(ctx, s.Rig.Hub, s.Kyma(), func(kyma *v1beta2.Kyma) {
		for i := range kyma.Spec.Modules {
			kyma.Spec.Modules[i].Avoid = avoid[kyma.Spec.Modules[i].Name]
		}
	})
}
