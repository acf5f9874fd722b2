package communitycatalog

import (
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// noting is how often a version is tried to be kept while others write the same source.
var noting = wait.Backoff{Steps: 10, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5}

// Saw keeps the version of a catalog that was read from a source, where it counts and is higher than all before. Where others write at the
// same time the highest stays; a source that is another one by now, or gone, is left alone.
func (s SourceStore) Saw(ctx context.Context, source Source, found Catalog) error {
	version := source.Seen(found)
	if s.DryRun || version <= source.Version {
		return nil
	}
	return retry.RetryOnConflict(noting, func() error {
		there, err := s.get(ctx, source.Name)
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		if now := sourceOf(there); !now.asks(source) || !now.Remembers() || now.Version >= version {
			return nil
		}
		from := client.MergeFromWithOptions(there.DeepCopy(), client.MergeFromWithOptimisticLock{})
		there.Data[keyVersion] = strconv.FormatInt(version, 10)
		return client.IgnoreNotFound(s.Client.Patch(ctx, there, from, client.FieldOwner(fieldManager)))
	})
}

// asks reports whether two sources ask for the same catalog of the same signer.
func (s Source) asks(other Source) bool { return s.URL == other.URL && s.Key == other.Key }

// Same reports whether two sources ask for the same, in the same way.
func (s Source) Same(other Source) bool {
	return s.asks(other) && s.Digest == other.Digest && s.RequireFreshness == other.RequireFreshness
}
