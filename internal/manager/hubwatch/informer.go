package hubwatch

import (
	"context"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// The hub's watches are renewed after one to two hours, like those of the runtimes; client-go would renew them every five to ten minutes.
const (
	shortestWatch = time.Hour
	watchSpread   = time.Hour
)

// NewInformer creates an informer with long watches, for cache.Options.
func NewInformer(
	from toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(withLongWatches(from), object, resync, indexers)
}

// withLongWatches requests long watches from the server. A ping on the connection detects a dead watch, much sooner than its end.
func withLongWatches(from toolscache.ListerWatcher) toolscache.ListerWatcher {
	source := toolscache.ToListerWatcherWithContext(from)
	return &toolscache.ListWatch{
		ListWithContextFunc: source.ListWithContext,
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			//nolint:gosec // nothing is secret about when a watch ends
			seconds := int64((shortestWatch + rand.N(watchSpread)).Seconds())
			options.TimeoutSeconds = &seconds
			return source.WatchWithContext(ctx, options)
		},
	}
}
