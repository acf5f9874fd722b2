package rolloutedit

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
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

// Covers reports whether a rollout decides about a channel.
func Covers(rollout *v1beta2.ModuleRollout, channel string) bool {
	return len(rollout.Spec.Channels) == 0 || slices.Contains(rollout.Spec.Channels, channel)
}

// IsMarked reports whether a release carries the mark of a rollout: from then on every replica of the lifecycle manager that sees the
// release knows of the rollout.
func IsMarked(release *v1beta2.ModuleReleaseMeta, rollout *v1beta2.ModuleRollout) bool {
	return release.Annotations[v1beta2.AnnotationRollout] == string(rollout.UID)
}

// ErrUnmarked means that a release was not marked in time.
var ErrUnmarked = errors.New("the release is not marked")

// AwaitMark watches a release until it carries the mark of a rollout, and returns it then. The error is ErrUnmarked after the timeout.
func AwaitMark(
	ctx context.Context, c client.WithWatch, rollout *v1beta2.ModuleRollout, timeout time.Duration,
) (*v1beta2.ModuleReleaseMeta, error) {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		marked, err := awaitOnce(bounded, c, rollout)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case bounded.Err() != nil && marked == nil:
			return nil, ErrUnmarked
		case err != nil || marked != nil:
			return marked, err
		}
		select { // the stream ended; streams do
		case <-bounded.Done():
		case <-time.After(time.Second):
		}
	}
}

// awaitOnce lists and then watches until the mark is there or the stream ends.
func awaitOnce(ctx context.Context, c client.WithWatch, rollout *v1beta2.ModuleRollout) (*v1beta2.ModuleReleaseMeta, error) {
	only := []client.ListOption{client.InNamespace(rollout.Namespace), client.MatchingFields{"metadata.name": rollout.Name}}
	var list v1beta2.ModuleReleaseMetaList
	if err := c.List(ctx, &list, only...); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if IsMarked(&list.Items[i], rollout) {
			return &list.Items[i], nil
		}
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}
	stream, err := c.Watch(ctx, &v1beta2.ModuleReleaseMetaList{}, append([]client.ListOption{from}, only...)...)
	if err != nil {
		return nil, err
	}
	defer stream.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, nil //nolint:nilnil // AwaitMark says what that means
		case event, open := <-stream.ResultChan():
			release, is := event.Object.(*v1beta2.ModuleReleaseMeta)
			if !open || event.Type == watch.Error || !is {
				return nil, nil //nolint:nilnil // it is watched again
			}
			if event.Type != watch.Deleted && IsMarked(release, rollout) {
				return release, nil
			}
		}
	}
}
