package communitycatalog

import (
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// noting limits how often storing a version is retried while other clients write the same source.
var noting = wait.Backoff{Steps: 10, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5}

// Saw stores the version of a catalog that was read from a source, if it counts and is higher than all before. Among concurrent writers,
// the highest version wins; a source that was changed or removed in the meantime is left alone.
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

// asks reports whether two sources request the same catalog of the same signer.
func (s Source) asks(other Source) bool { return s.URL == other.URL && s.Key == other.Key }

// Same reports whether two sources request the same catalog, in the same way.
func (s Source) Same(other Source) bool {
	return s.asks(other) && s.Digest == other.Digest && s.RequireFreshness == other.RequireFreshness
}
