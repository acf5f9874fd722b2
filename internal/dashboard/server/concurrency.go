package server

import (
	"context"
	"net/http"
	"sync"
)

// A preview is a dry run with many requests, and may fetch the content of a module.
const (
	mostPreviews      = 4
	mostPreviewsOfOne = 2
)

// concurrency limits how many requests run at once, in total and for each user. The others wait.
type concurrency struct {
	all   chan struct{}
	ofOne int
	// what names the limited requests in errors.
	what string

	mutex sync.Mutex
	queue map[string]*queue
}

// queue holds the slots of one user; it is removed with the last request in it.
type queue struct {
	turn    chan struct{}
	waiting int
}

func newTurns(all, ofOne int, what string) *concurrency {
	return &concurrency{all: make(chan struct{}, all), ofOne: ofOne, what: what, queue: map[string]*queue{}}
}

// take waits for a slot, first among the user's own, then among all. The caller releases it by calling done.
func (t *concurrency) take(ctx context.Context, name string) (done func(), err error) {
	own := t.join(name)
	back := func() { t.leave(name, own) }
	for _, slots := range []chan struct{}{own.turn, t.all} {
		select {
		case slots <- struct{}{}:
			before := back
			back = func() {
				<-slots
				before()
			}
		case <-ctx.Done():
			back()
			return nil, fail(http.StatusTooManyRequests, WhyTooMany, "too many %s at once: try again in a moment", t.what)
		}
	}
	return back, nil
}

func (t *concurrency) join(name string) *queue {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	own := t.queue[name]
	if own == nil {
		own = &queue{turn: make(chan struct{}, t.ofOne)}
		t.queue[name] = own
	}
	own.waiting++
	return own
}

func (t *concurrency) leave(name string, own *queue) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if own.waiting--; own.waiting == 0 {
		delete(t.queue, name)
	}
}
