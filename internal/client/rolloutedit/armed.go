package rolloutedit

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// Governing returns the ModuleRollout that decides who gets what the channels of a release name; nil when there is none, or when the
// cluster does not know the kind.
func Governing(ctx context.Context, c client.Reader, key client.ObjectKey) (*v1beta2.ModuleRollout, error) {
	rollout := &v1beta2.ModuleRollout{}
	err := c.Get(ctx, key, rollout)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil //nolint:nilnil // no rollout decides
	}
	return rollout, err
}

// Covers reports whether a rollout decides about a channel, as the lifecycle manager does: also about one that left its plan, as long as a
// version of that is undecided.
func Covers(its *v1beta2.ModuleRollout, channel string) bool { return rollout.Governs(its, channel) }

// IsArmed reports whether a channel may move without reaching every Kyma at once:
//
//  1. the release carries the mark of the rollout: a replica of the lifecycle manager that sees the release knows of the rollout
//  2. the rollout's status names what the channel offers now: a version that it sees first is taken for one that all Kymas may have
func IsArmed(release *v1beta2.ModuleReleaseMeta, rollout *v1beta2.ModuleRollout, channels []string) bool {
	if release.Annotations[v1beta2.AnnotationRollout] != string(rollout.UID) {
		return false
	}
	for _, name := range channels {
		known := slices.ContainsFunc(rollout.Status.Channels, func(c v1beta2.RolloutChannel) bool {
			return c.Name == name && c.To.Version != ""
		})
		if !known {
			return false
		}
	}
	return true
}

// ErrUnarmed means that a rollout was not armed in time.
var ErrUnarmed = errors.New("the rollout is not armed")

// pollInterval is how often AwaitArmed looks. It waits for a moment, once for each new rollout, and so needs no right but to get both
// objects.
const pollInterval = 250 * time.Millisecond

// AwaitArmed waits until a rollout is armed for some channels. The error is ErrUnarmed after the timeout.
func AwaitArmed(ctx context.Context, c client.Reader, key client.ObjectKey, channels []string, timeout time.Duration) error {
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		rollout, err := Governing(ctx, c, key)
		if err != nil || rollout == nil {
			return err == nil, err // it was deleted meanwhile: nothing is to be waited for
		}
		release := &v1beta2.ModuleReleaseMeta{}
		if err := c.Get(ctx, key, release); err != nil {
			return false, err
		}
		return IsArmed(release, rollout, channels), nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return ErrUnarmed
	}
	return err
}
