package catalog

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

// pace lets Kymas wait for their turn, each once however often it is added, and passes a few of them per second on to the controller's
// queue. While nobody waits it does nothing.
type pace struct {
	limiter *rate.Limiter

	mutex   sync.Mutex
	waiting map[types.NamespacedName]bool
	order   []types.NamespacedName // may name some that wait no longer
	filled  chan struct{}
}

// burst is how many Kymas need not wait for each other.
const burst = 10

func newPace(perSecond float64) *pace {
	return &pace{
		limiter: rate.NewLimiter(rate.Limit(perSecond), burst),
		waiting: map[types.NamespacedName]bool{}, filled: make(chan struct{}, 1),
	}
}

// add has Kymas wait.
func (p *pace) add(keys ...types.NamespacedName) {
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

// drop takes a Kyma out: it is being looked at for another reason, which does for this one too.
func (p *pace) drop(key types.NamespacedName) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.waiting, key)
}

// next takes the first one that still waits.
func (p *pace) next() (key types.NamespacedName, ok bool) {
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

func (p *pace) empty() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.waiting) == 0
}

// source passes Kymas on until the context ends.
func (p *pace) source() source.Source {
	return source.Func(func(ctx context.Context, to queue) error {
		go p.run(ctx, to)
		return nil
	})
}

func (p *pace) run(ctx context.Context, to queue) {
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

// bell wakes Kymas in the queues of those who listen.
type bell struct {
	mutex  sync.RWMutex
	queues []queue
}

func (b *bell) source() source.Source {
	return source.Func(func(_ context.Context, to queue) error {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.queues = append(b.queues, to)
		return nil
	})
}

// ring enqueues a Kyma. Who does not listen yet looks at every Kyma when he starts.
func (b *bell) ring(key types.NamespacedName) {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	for _, to := range b.queues {
		to.Add(reconcile.Request{NamespacedName: key})
	}
}
