package testbench

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Plan gives a module a ModuleRollout, or the one that it has another spec, and returns when the manager has taken that up. From then on no
// Kyma follows the channel by itself.
func (w *Bench) Plan(ctx context.Context, module string, spec v1beta2.ModuleRolloutSpec) error {
	rollout := rolloutOf(module)
	err := w.Hub.Client.Get(ctx, client.ObjectKeyFromObject(rollout), rollout)
	switch {
	case apierrors.IsNotFound(err):
		rollout.Spec = spec
		err = w.Hub.Client.Create(ctx, rollout)
	case err == nil:
		before := rollout.DeepCopy()
		rollout.Spec = spec
		err = w.Hub.Client.Patch(ctx, rollout, client.MergeFrom(before))
	}
	if err != nil {
		return err
	}
	_, err = w.AwaitRollout(ctx, module, func(r *v1beta2.ModuleRollout) bool {
		return r != nil && r.Status.ObservedGeneration == r.Generation && conditions.IsTrue(r.Status.Conditions, v1beta2.ConditionArmed)
	})
	return err
}

// Unplan deletes the ModuleRollout of a module, and returns when it is gone. The manager holds it until every Kyma may have what the
// channel names.
func (w *Bench) Unplan(ctx context.Context, module string) error {
	if err := client.IgnoreNotFound(w.Hub.Client.Delete(ctx, rolloutOf(module))); err != nil {
		return err
	}
	_, err := w.AwaitRollout(ctx, module, func(r *v1beta2.ModuleRollout) bool { return r == nil })
	return err
}

// AwaitRollout waits until the ModuleRollout of a module is as wanted; one that is not there is nil. It returns what it saw.
func (w *Bench) AwaitRollout(
	ctx context.Context, module string, wanted func(*v1beta2.ModuleRollout) bool,
) (*v1beta2.ModuleRollout, error) {
	stream, err := w.Hub.Client.Watch(ctx, &v1beta2.ModuleRolloutList{}, client.InNamespace(v1beta2.DefaultNamespace),
		client.MatchingFields{metav1.ObjectNameField: module})
	if err != nil {
		return nil, err
	}
	defer stream.Stop()
	// The watch has begun: what is read now, and what it tells, leave no gap.
	last := rolloutOf(module)
	switch err := w.Hub.Client.Get(ctx, client.ObjectKeyFromObject(last), last); {
	case apierrors.IsNotFound(err):
		last = nil
	case err != nil:
		return nil, err
	}
	for {
		if wanted(last) {
			return last, nil
		}
		select {
		case event, open := <-stream.ResultChan():
			if !open {
				return last, fmt.Errorf("the watch of ModuleRollout %s ended", module)
			}
			last = seenRollout(event)
		case <-ctx.Done():
			return last, fmt.Errorf("ModuleRollout %s is not as wanted: %w\n%s", module, ctx.Err(), describeRollout(last))
		}
	}
}

// seenRollout returns what an event tells of; nil when that is gone.
func seenRollout(event watch.Event) *v1beta2.ModuleRollout {
	if rollout, is := event.Object.(*v1beta2.ModuleRollout); is && event.Type != watch.Deleted {
		return rollout
	}
	return nil
}

func describeRollout(r *v1beta2.ModuleRollout) string {
	if r == nil {
		return "it is not there"
	}
	return fmt.Sprintf("%s: %s, generation %d of %d, %v", r.Status.Phase, r.Status.Summary, r.Status.ObservedGeneration, r.Generation,
		r.Status.Conditions)
}

func rolloutOf(module string) *v1beta2.ModuleRollout {
	return &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: module}}
}

// InPhase says that the rollout of a version is in one of some phases.
func InPhase(version string, phases ...v1beta2.RolloutPhase) func(*v1beta2.ModuleRollout) bool {
	return func(r *v1beta2.ModuleRollout) bool {
		return r != nil && slices.ContainsFunc(r.Status.Channels, func(c v1beta2.RolloutChannel) bool {
			return c.Name == v1beta2.DefaultChannel && c.To.Version == version && slices.Contains(phases, c.Phase)
		})
	}
}
