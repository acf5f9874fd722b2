package modulerollout

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// shortestWake keeps a time that has come between two looks at the clock from making a pass follow at once.
const shortestWake = 10 * time.Millisecond

// advance decides the next step of every channel, writes the status, and returns after which time to look again without an event.
func (r *Reconciler) advance(ctx context.Context, w *inputs, known *count) (time.Duration, error) {
	before := w.rollout.Status.DeepCopy()
	wake, err := r.step(ctx, w, known)
	if err != nil {
		return 0, err
	}
	if err := r.write(ctx, w, before); err != nil {
		return 0, err
	}
	if wake.IsZero() {
		return 0, nil
	}
	return max(wake.Sub(w.now), shortestWake), nil
}

// step puts the next step of every channel into the status. A channel that the release does not offer at the moment stays as it is: when it
// is offered again, the version before is still known. So does every channel while the plan cannot be carried out.
func (r *Reconciler) step(ctx context.Context, w *inputs, known *count) (wake time.Time, err error) {
	status := &w.rollout.Status
	status.ObservedGeneration = w.rollout.Generation
	status.Channels = slices.DeleteFunc(status.Channels, func(c v1beta2.RolloutChannel) bool { return !rollout.Governs(w.rollout, c.Name) })
	if w.plan != nil {
		members, opens := r.members(w, known)
		wake = opens
		for _, name := range sortedKeys(w.targets) {
			next, err := r.next(ctx, w, name, members[name], known)
			if err != nil {
				return wake, err
			}
			wake = earlier(wake, next)
		}
	}
	slices.SortFunc(status.Channels, func(a, b v1beta2.RolloutChannel) int { return cmp.Compare(a.Name, b.Name) })
	rollout.SetConditions(w.rollout, w.unarmed(), metav1.NewTime(w.now))
	return wake, nil
}

// next puts the next step of a channel into the status, and returns when to look again.
func (r *Reconciler) next(
	ctx context.Context, w *inputs, name string, members []rollout.Member, known *count,
) (wake time.Time, err error) {
	facts := rollout.Facts{Offered: w.targets[name].RolloutVersion, Members: members, Armed: w.armed, Now: w.now, Jumps: w.jumps,
		Awaited: known.awaited[name]}
	if facts.FromMissing, err = r.missing(ctx, w, name); err != nil {
		return time.Time{}, err
	}
	facts.NoWayBack = w.noWayBack(name)
	status := &w.rollout.Status
	channel := channelOf(status, name)
	if channel == nil {
		status.Channels = append(status.Channels, v1beta2.RolloutChannel{Name: name})
		channel = &status.Channels[len(status.Channels)-1]
	}
	step := rollout.Next(w.plan, *channel, facts)
	if len(step.Missing) > 0 {
		if facts.Gone, err = r.departed(ctx, w, name, step.Missing); err != nil {
			return time.Time{}, err
		}
		step = rollout.Next(w.plan, *channel, facts)
	}
	*channel, known.awaited[name] = step.Channel, step.Awaited
	return step.Wake, nil
}

// unarmed says why the release is not marked; empty when it is.
func (w *inputs) unarmed() string {
	switch {
	case w.armed:
		return ""
	case w.release == nil:
		return fmt.Sprintf("there is no ModuleReleaseMeta %s", w.rollout.Name)
	case w.release.DeletionTimestamp != nil:
		return fmt.Sprintf("ModuleReleaseMeta %s is being deleted", w.rollout.Name)
	case w.plan == nil:
		return fmt.Sprintf("ModuleReleaseMeta %s is not marked, since the plan cannot be carried out: correct it", w.rollout.Name)
	default:
		return fmt.Sprintf("ModuleReleaseMeta %s is not marked", w.rollout.Name)
	}
}

// write writes the status when it differs from what was read, bound to the version that was read.
func (r *Reconciler) write(ctx context.Context, w *inputs, before *v1beta2.ModuleRolloutStatus) error {
	defer r.Metrics.ObserveRollout(w.rollout)
	if equality.Semantic.DeepEqual(before, &w.rollout.Status) {
		return nil
	}
	w.rollout.ManagedFields = nil // none in a request means that they are not spoken of
	if err := r.Client.Status().Update(ctx, w.rollout); err != nil {
		return fmt.Errorf("write the status of ModuleRollout %s: %w", client.ObjectKeyFromObject(w.rollout), err)
	}
	r.report(w.rollout, before)
	return nil
}

// earlier returns the earlier of two times; zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
