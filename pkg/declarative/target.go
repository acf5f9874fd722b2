package declarative

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// coalesce is how long events are collected, because an installation of many objects becomes ready through many events.
const coalesce = 100 * time.Millisecond

// firstTruce and longestTruce bound how long a value that another client sets is left before it is restored: a single edit is reverted at
// once, and two controllers that fight over a field do not keep the API server busy. A quiet minute ends a fight.
const (
	firstTruce   = time.Second
	longestTruce = 30 * time.Second
)

// targets are the connections to clusters. Objects of the same cluster share one, and it ends with the last of them.
type targets struct {
	label string // value of LabelManagedBy

	mu     sync.Mutex
	fights *flowcontrol.Backoff
	wake   func(reconcile.Request)
	run    func(cache.Cache) (stop func())
	opened []*target
	owners map[string]reconcile.Request // the request that installs the objects with this owner mark
}

// start implements source.Source: it stores the queue and the context.
func (t *targets) start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fights = flowcontrol.NewBackOff(firstTruce, longestTruce)
	t.wake = func(request reconcile.Request) {
		pause := coalesce
		if fight := request.String(); t.fights.IsInBackOffSinceUpdate(fight, time.Now()) {
			pause = t.fights.Get(fight)
		}
		queue.AddAfter(request, pause)
	}
	t.run = func(watches cache.Cache) func() {
		ctx, stop := context.WithCancel(ctx)
		go func() { _ = watches.Start(ctx) }() // it fails only when it is started twice
		return stop
	}
	return nil
}

// open connects a request to a cluster, reusing the connection with the same configuration if there is one.
func (t *targets) open(request reconcile.Request, owner string, config *rest.Config) (*target, error) {
	if config == nil {
		return nil, fmt.Errorf("there is no rest.Config for %s: return one that reaches its cluster", request)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owners == nil {
		t.owners = map[string]reconcile.Request{}
	}
	t.owners[owner] = request
	found := slices.IndexFunc(t.opened, func(known *target) bool { return same(known.config, config) })
	if found < 0 {
		made, err := t.connect(config)
		if err != nil {
			return nil, err
		}
		t.opened = append(t.opened, made)
		found = len(t.opened) - 1
	}
	chosen := t.opened[found]
	chosen.users[request] = true
	t.leave(request, chosen)
	return chosen, nil
}

// forget removes a request.
func (t *targets) forget(request reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.owners, func(_ string, who reconcile.Request) bool { return who == request })
	t.leave(request, nil)
}

// leave releases all connections of a request except one, and closes the unused ones.
func (t *targets) leave(request reconcile.Request, but *target) {
	t.opened = slices.DeleteFunc(t.opened, func(known *target) bool {
		if known == but || !known.users[request] {
			return false
		}
		delete(known.users, request)
		known.watches.release(request)
		if len(known.users) > 0 {
			return false
		}
		known.stop()
		return true
	})
}

// connect prepares a connection, without a call.
func (t *targets) connect(config *rest.Config) (*target, error) {
	cluster, err := installer.Connect(config)
	if err != nil {
		return nil, err
	}
	seen := &watches{tell: t.tell, needs: map[reconcile.Request]kinds{}, running: kinds{}}
	seen.objects, err = cache.New(cluster.Config, cache.Options{
		Mapper: cluster.Client.RESTMapper(), Scheme: cluster.Client.Scheme(), DefaultTransform: reduce,
		DefaultLabelSelector:     labels.SelectorFromSet(labels.Set{LabelManagedBy: t.label}),
		DefaultWatchErrorHandler: seen.broken,
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the watches: %w", err)
	}
	return &target{
		config: rest.CopyConfig(config), cluster: cluster, watches: seen,
		users: map[reconcile.Request]bool{}, stop: t.run(seen.objects),
	}, nil
}

// tell enqueues the request that installs an object.
func (t *targets) tell(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if request, ok := t.owners[owner]; ok {
		t.wake(request)
	}
}

// fought notes that an object was restored which had been in order.
func (t *targets) fought(request reconcile.Request) {
	t.fights.GC()
	t.fights.Next(request.String(), time.Now())
}

// target is a connection to one cluster.
type target struct {
	config  *rest.Config
	cluster *installer.Cluster
	watches *watches
	users   map[reconcile.Request]bool
	stop    func()
}

// followed calls a function that installs or uninstalls, and watches the kinds in its report. Another call covers changes from before a
// stream began. A report of everything that is installed ends the streams of other kinds.
func (t *target) followed(
	ctx context.Context, request reconcile.Request, call func() (installer.Report, error),
) (installer.Report, error) {
	for {
		report, err := call()
		if report.State == installer.StateGone {
			return report, err
		}
		complete := err == nil && report.State != installer.StateDeleting
		begun, unseen := t.watches.follow(ctx, request, kindsOf(report), complete)
		switch {
		case err != nil:
			return report, err
		case unseen != nil:
			return report, failed(ReasonNotWatched, unseen)
		case !begun:
			return report, nil
		}
	}
}

// same compares two configurations. Functions cannot be compared, and are usually recreated each time, so they are ignored.
func same(a, b *rest.Config) bool { return reflect.DeepEqual(plain(a), plain(b)) }

func plain(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.WrapTransport, config.Transport, config.Dial, config.Proxy, config.RateLimiter = nil, nil, nil, nil, nil
	config.WarningHandler, config.WarningHandlerWithContext, config.AuthConfigPersister = nil, nil, nil
	return config
}
