package modulerights

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

const (
	// keptReports and keptChanges bound what is remembered: a fleet is on its way between few contents at a time.
	keptReports = 64
	keptChanges = 8192
	// renderedAtOnce bounds the contents that are rendered at a time.
	renderedAtOnce = 2
	// retryCapabilities is the pause after a cluster that did not say what it serves.
	retryCapabilities = 45 * time.Second
)

// ErrPending reports that a content is being fetched; nothing has failed.
var ErrPending = errors.New("the content is being fetched")

// Contents renders what Manifests install.
type Contents interface {
	// NeedsCapabilities reports whether what a Manifest installs is rendered differently for different clusters.
	NeedsCapabilities(manifest *v1beta2.Manifest) (bool, error)
	// Content returns the rendered objects of a Manifest, also those that it would have if the cluster changed. They are shared and must not
	// be changed. The error is ErrPending while the content is being fetched, and otherwise has a reason of package content.
	Content(ctx context.Context, manifest *v1beta2.Manifest, known runtimes.Capabilities) (permissions.Content, error)
}

// Rights finds out what contents of modules may do.
type Rights struct {
	// Contents renders.
	Contents Contents
	// Capabilities returns what the cluster of a Kyma serves; local is true for the hub itself.
	Capabilities func(ctx context.Context, kyma types.NamespacedName, local bool) (runtimes.Capabilities, error)
	// Rendered is called for each content that was rendered.
	Rendered func()
	// Log gets a line for each content that cannot be rendered.
	Log logr.Logger

	reports, changes *lru.Cache
	room             chan struct{}
	pauses           pauses

	ctx     context.Context //nolint:containedctx // of all jobs
	cancel  context.CancelFunc
	running sync.WaitGroup

	rendering singleflight.Group

	mu    sync.Mutex
	jobs  map[changeKey]*job
	queue priority.Queue
}

// New returns Rights that render with contents.
func New(contents Contents, capabilities func(context.Context, types.NamespacedName, bool) (runtimes.Capabilities, error)) *Rights {
	r := &Rights{
		Contents: contents, Capabilities: capabilities, Rendered: func() {}, Log: logr.Discard(),
		reports: lru.New(keptReports), changes: lru.New(keptChanges), room: make(chan struct{}, renderedAtOnce), pauses: standardPauses,
		jobs: map[changeKey]*job{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Start ends what is under way when the context ends.
func (r *Rights) Start(ctx context.Context) error {
	<-ctx.Done()
	r.mu.Lock()
	r.cancel() // no job begins after this
	r.mu.Unlock()
	r.running.Wait()
	return nil
}

// NeedLeaderElection returns false: every replica looks after Kymas.
func (r *Rights) NeedLeaderElection() bool { return false }

// Source enqueues the Kymas that wait.
func (r *Rights) Source() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.queue = queue
		return nil
	})
}

// Change returns what a content of a Kyma's module may do and another one may not. While that is being found out, or fails to be, the Kyma
// is enqueued when more is known. A positive retry is the time after which to ask again: the cluster did not say what it serves. Where that
// may last, the Change has a Problem: a person must be able to agree to a version whatever the cluster says.
func (r *Rights) Change(ctx context.Context, kyma types.NamespacedName, needed module.NeededChange) (module.Change, time.Duration) {
	var asked pair
	var err error
	if asked.to, err = r.contentOf(ctx, kyma, needed.Wanted); err == nil && needed.Installed != nil {
		asked.from, err = r.contentOf(ctx, kyma, needed.Installed)
	}
	if err != nil {
		problem := silence(err)
		return module.Change{Pending: problem == "", Problem: problem}, retryCapabilities
	}
	key := asked.key()
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.changes.Get(key); ok {
		change, _ := known.(module.Change)
		return change, 0
	}
	its := r.jobs[key]
	if its == nil {
		its = &job{waiting: map[types.NamespacedName]struct{}{}, told: module.Change{Pending: true}}
		if r.ctx.Err() == nil {
			r.jobs[key] = its
			r.running.Go(func() { r.run(key, its) })
		}
	}
	its.asked = asked // the login of the last who asked is the most likely to hold
	its.waiting[kyma] = struct{}{}
	return its.told, 0
}

// silence returns the reason why a cluster does not say what it serves, empty where that is over in a moment.
func silence(err error) string {
	class := apply.Classify(err)
	if class == apply.ClassCanceled || class == apply.ClassThrottled {
		return ""
	}
	problem, known := errors.AsType[*runtimes.Problem](err)
	switch {
	case known && (problem.Passing || problem.Reason == v1beta2.ReasonRuntimeConnecting):
		return ""
	case known:
		return problem.Reason
	case class == apply.ClassForbidden:
		return v1beta2.ReasonRuntimeForbidden
	case class == apply.ClassUnauthorized:
		return v1beta2.ReasonRuntimeUnauthorized
	}
	return v1beta2.ReasonRuntimeUnreachable
}

// changeOf returns how two reports differ.
func changeOf(before, after *permissions.Report) module.Change {
	return module.ChangeOf(permissions.Compare(*before, *after))
}
