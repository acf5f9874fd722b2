package rolloutedit

import (
	"bytes"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
)

// Decide lets a person decide about a rollout: it reads the rollout and its release, has decide change the rollout in memory, and writes
// the difference bound to the version that was read. On a conflict it reads both again, so that decide judges what stands there by then.
// decide may be called many times; the release is nil when there is none or when it may not be read.
func Decide(
	ctx context.Context, c client.Client, key client.ObjectKey, dryRun kymaedit.DryRun,
	decide func(*v1beta2.ModuleRollout, *v1beta2.ModuleReleaseMeta) (rollouts.Outcome, error),
) (*v1beta2.ModuleRollout, rollouts.Outcome, error) {
	var outcome rollouts.Outcome
	rollout := &v1beta2.ModuleRollout{}
	err := repeat(ctx, fmt.Sprintf("ModuleRollout %s", key), func() error {
		*rollout = v1beta2.ModuleRollout{}
		if err := c.Get(ctx, key, rollout); err != nil {
			return err
		}
		release, err := releaseOf(ctx, c, key)
		if err != nil {
			return err
		}
		before := rollout.DeepCopy()
		if outcome, err = decide(rollout, release); err != nil {
			return err
		}
		return write(ctx, c, before, rollout, dryRun)
	})
	return rollout, outcome, err
}

// releaseOf returns the release of a rollout, nil when there is none or when it may not be read.
func releaseOf(ctx context.Context, c client.Client, key client.ObjectKey) (*v1beta2.ModuleReleaseMeta, error) {
	release := &v1beta2.ModuleReleaseMeta{}
	err := c.Get(ctx, key, release)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || meta.IsNoMatchError(err) {
		return nil, nil //nolint:nilnil // a decision does not depend on it
	}
	return release, err
}

// MovedError is a channel that names a version which is neither the one to be left nor the one to be set.
type MovedError struct{ Release, Channel, Version string }

// Error names both.
func (e *MovedError) Error() string {
	if e.Version == "" {
		return fmt.Sprintf("release %s has no channel %s any more", e.Release, e.Channel)
	}
	return fmt.Sprintf("channel %s of release %s names %s by now", e.Channel, e.Release, e.Version)
}

// SetChannel sets a channel of a release back. It is written only while the channel names the version to be left: a version that another
// person set meanwhile stays. The result reports whether the channel changed.
func SetChannel(ctx context.Context, c client.Client, key client.ObjectKey, back rollouts.SetBack, dryRun kymaedit.DryRun) (bool, error) {
	changed := false
	err := repeat(ctx, fmt.Sprintf("ModuleReleaseMeta %s", key), func() error {
		release := &v1beta2.ModuleReleaseMeta{}
		if err := c.Get(ctx, key, release); err != nil {
			return err
		}
		changed = false
		switch offered := rollouts.Offered(release, back.Channel); offered {
		case back.To:
			return nil
		case back.From:
		default:
			return &MovedError{key.Name, back.Channel, offered}
		}
		before := release.DeepCopy()
		if back.Channel == "" {
			release.Spec.Mandatory.Version = back.To
		}
		for i := range release.Spec.Channels {
			if release.Spec.Channels[i].Channel == back.Channel {
				release.Spec.Channels[i].Version = back.To
			}
		}
		changed = true
		return write(ctx, c, before, release, dryRun)
	})
	return changed && err == nil, err
}

// write writes the difference of two objects, bound to the version of the first one. Equal objects are not written.
func write(ctx context.Context, c client.Client, before, after client.Object, dryRun kymaedit.DryRun) error {
	plain, err := client.MergeFrom(before).Data(after)
	if err != nil || bytes.Equal(plain, []byte("{}")) {
		return err
	}
	options := []client.PatchOption{client.FieldOwner(kymaedit.FieldManager)}
	switch dryRun {
	case kymaedit.DryRunClient:
		return nil
	case kymaedit.DryRunServer:
		options = append(options, client.DryRunAll)
	case kymaedit.DryRunNone, "":
	}
	return c.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), options...)
}

// repeat makes attempts until one does not end in a conflict, with random pauses, so that many writers do not collide again.
func repeat(ctx context.Context, what string, attempt func() error) error {
	backoff := wait.Backoff{Duration: 5 * time.Millisecond, Factor: 1.5, Jitter: 1, Steps: 60, Cap: 500 * time.Millisecond}
	for {
		err := attempt()
		if !apierrors.IsConflict(err) {
			return err
		}
		timer := time.NewTimer(backoff.Step())
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%s kept changing concurrently: %w", what, ctx.Err())
		case <-timer.C:
		}
	}
}
