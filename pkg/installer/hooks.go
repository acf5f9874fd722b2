package installer

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// awaitStart returns what a part waits for, nil when its objects may be written: the objects of earlier parts, their hooks, and then its
// own hooks that come before its objects.
func (c *call) awaitStart(ctx context.Context, part int) (*waiting, error) {
	if left := c.awaitEarlierParts(part); left != nil {
		return left, nil
	}
	return engine.RunBefore(ctx, c.releases, part, c.runHooks)
}

// completeReleases runs the hooks that come after the objects, which are ready.
func (c *call) completeReleases(ctx context.Context) (*waiting, error) {
	if c.releases.Settled(c.record.entries) {
		return nil, nil
	}
	left, err := engine.RunAfter(ctx, c.releases, c.runHooks)
	if saved := c.save(ctx); saved != nil && (err == nil || ReasonOf(saved) == ReasonRecordConflict) {
		err = saved
	}
	return left, err
}

// runHooks runs the hooks of the event that a release has come to. It is an engine.HookPass.
func (c *call) runHooks(ctx context.Context, release *engine.Release) (*waiting, error) {
	runner := &hookRunner{call: c, release: release, options: c.options()}
	reached, left, err := engine.RunHooks[waiting](ctx, release.Set, release.Progress, runner)
	release.Progress = reached
	c.noteReleases()
	if err == nil && left != nil && left.err != nil {
		return nil, left.err
	}
	return left, err
}

// hookRunner is the engine.HookRunner of one source.
type hookRunner struct {
	call    *call
	release *engine.Release
	options apply.Options
}

// Recorded implements engine.HookRunner.
func (h *hookRunner) Recorded() []inventory.Entry { return h.call.record.entries }

// Record implements engine.HookRunner.
func (h *hookRunner) Record(done []inventory.Entry) {
	h.call.record.entries = inventory.Merge(h.call.record.entries, done, nil)
}

// Stored implements engine.HookRunner.
func (h *hookRunner) Stored() *hooks.Progress {
	return progressIn(h.call.record.stored.Releases, h.release.Name)
}

// Store implements engine.HookRunner.
func (h *hookRunner) Store(ctx context.Context, progress hooks.Progress) error {
	h.release.Progress = progress
	h.call.noteReleases()
	return h.call.record.save(ctx)
}

// Look implements engine.HookRunner.
func (h *hookRunner) Look(ctx context.Context, hook hooks.Hook) (live *unstructured.Unstructured, ours bool, err error) {
	live, err = h.call.read(ctx, hook.Object.GroupVersionKind(), hook.ID())
	return live, h.owns(live), err
}

func (h *hookRunner) owns(live *unstructured.Unstructured) bool {
	return live != nil && live.GetAnnotations()[h.options.OwnerKey] == h.options.Owner
}

// Write implements engine.HookRunner.
func (h *hookRunner) Write(
	ctx context.Context, hook hooks.Hook, object *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	h.call.touched[hook.ID()] = true
	live, outcome := engine.WriteHook(ctx, h.call.engine, hook, object, h.options)
	h.call.didOutcome(outcome)
	if outcome.Err != nil {
		return nil, refused([]apply.Outcome{outcome})
	}
	return live, nil
}

// Delete implements engine.HookRunner. What finalizers hold is found by the next look.
func (h *hookRunner) Delete(ctx context.Context, entries []inventory.Entry) error {
	remove := h.call.remover(removing{options: h.options, forget: h.call.forget, quiet: true})
	_, err := remaining(engine.DeleteWave(ctx, entries, remove))
	return err
}

// Waits implements engine.HookRunner. A hook that has failed is an error: nothing is tried again by itself.
func (h *hookRunner) Waits(hook hooks.Hook, event hooks.Event, verdict hooks.Verdict, why string) *waiting {
	id, ticket := hook.ID(), h.release.Progress.Ticket()
	left := &waiting{
		reason: ReasonWaitingForHook, message: fmt.Sprintf("hook %s of %s: %s: %s", event, h.release.Name, id, why),
		on: []wanted{{gvk: hook.Object.GroupVersionKind(), id: id, ok: func(live *unstructured.Unstructured) bool {
			now, _ := hook.Judge(ticket, live, h.owns(live))
			return now != hooks.Wait
		}}},
	}
	reason := ""
	switch verdict {
	case hooks.Failed:
		reason = ReasonChartHookFailed
		left.message += "; what runs stays as it is: delete the object to try again, or install other content or values"
	case hooks.Foreign:
		reason = string(apply.ClassOwnershipConflict)
		left.message += "; delete or rename that object"
	default:
	}
	if event.OfDeletion() {
		left.message += fmt.Sprintf("; to remove it without the hooks of its removal, annotate the Secret %s/%s with %s=true",
			h.call.inst.Namespace, h.call.record.name, AnnotationSkipDeleteHooks)
	}
	if reason != "" {
		left.err = &Error{Reason: reason, Err: errors.New(left.message)}
	}
	return left
}

// ranHooks returns the hooks that this call has looked at, or done something with, but those that went with everything else.
func (c *call) ranHooks() []ObjectReport {
	var ran []ObjectReport
	for _, release := range c.releases {
		for _, hook := range release.Set {
			id := hook.ID()
			_, looked := c.lookedUp(id)
			if _, told := c.told[id]; (looked || told) && indexOf(c.gone, id) < 0 {
				ran = append(ran, c.reported(id, hook.Object.GroupVersionKind().Version))
			}
		}
	}
	return ran
}
