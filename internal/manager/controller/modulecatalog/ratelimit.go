package modulecatalog

import (
	"context"
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// rateLimitedSource holds Kymas back, each once however often it is added, and passes a few of them per second on to the controller's
// queue. While none waits it does nothing.
type rateLimitedSource struct {
	limiter *rate.Limiter

	mutex   sync.Mutex
	waiting map[types.NamespacedName]bool
	order   []types.NamespacedName // may name some that wait no longer
	filled  chan struct{}
}

// burst is how many Kymas need not wait for each other.
const burst = 10

func newRateLimitedSource(perSecond float64) *rateLimitedSource {
	return &rateLimitedSource{
		limiter: rate.NewLimiter(rate.Limit(perSecond), burst),
		waiting: map[types.NamespacedName]bool{}, filled: make(chan struct{}, 1),
	}
}

// add adds Kymas that wait.
func (p *rateLimitedSource) add(keys ...types.NamespacedName) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, key := range keys {
		if !p.waiting[key] {
			p.waiting[key] = true
			p.order = append(p.order, key)
		}
	}
	select {
	case p.filled <- struct{}{}:
	default:
	}
}

// drop removes a Kyma: it is being reconciled for another reason, which covers this one too.
func (p *rateLimitedSource) drop(key types.NamespacedName) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.waiting, key)
}

// next returns the first one that still waits.
func (p *rateLimitedSource) next() (key types.NamespacedName, ok bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for len(p.order) > 0 {
		key, p.order = p.order[0], p.order[1:]
		if p.waiting[key] {
			delete(p.waiting, key)
			return key, true
		}
	}
	p.order = nil
	return key, false
}

func (p *rateLimitedSource) empty() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.waiting) == 0
}

// source passes Kymas on until the context ends.
func (p *rateLimitedSource) source() source.Source {
	return source.Func(func(ctx context.Context, to queue) error {
		go p.run(ctx, to)
		return nil
	})
}

func (p *rateLimitedSource) run(ctx context.Context, to queue) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.filled:
		}
		for !p.empty() {
			if p.limiter.Wait(ctx) != nil {
				return
			}
			if key, ok := p.next(); ok {
				to.Add(reconcile.Request{NamespacedName: key})
			}
		}
	}
}

// notifier enqueues Kymas in the queues of its subscribers.
type notifier struct {
	mutex  sync.RWMutex
	queues []queue
}

func (b *notifier) source() source.Source {
	return source.Func(func(_ context.Context, to queue) error {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.queues = append(b.queues, to)
		return nil
	})
}

// notify enqueues a Kyma. A controller that has not subscribed yet reconciles every Kyma when it starts.
func (b *notifier) notify(key types.NamespacedName) {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	for _, to := range b.queues {
		to.Add(reconcile.Request{NamespacedName: key})
	}
}
