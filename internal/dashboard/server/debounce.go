package server

import (
	"context"
	"sync"
	"time"
)

const (
	// shortestBeat is the time between two beats at least: changes come in crowds.
	shortestBeat = 250 * time.Millisecond
	// longestBeat is how late a change may be seen because computing takes long.
	longestBeat = time.Second
	// costShare is how many times longer than the last computing took the pause is, so that a large fleet leaves time for others.
	costShare = 3
)

// debouncer turns crowds of changes into beats. What is shown is as of a beat.
type debouncer struct {
	mutex   sync.Mutex
	beat    uint64
	took    time.Duration
	waiting chan struct{}
	news    chan struct{}
}

func newPulse() *debouncer {
	return &debouncer{beat: 1, waiting: make(chan struct{}), news: make(chan struct{}, 1)}
}

// note says that something has changed.
func (p *debouncer) note() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// number returns that of the last beat.
func (p *debouncer) number() uint64 {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.beat
}

// next is closed at the next beat.
func (p *debouncer) next() <-chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.waiting
}

// cost says how long computing took.
func (p *debouncer) cost(took time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.took = took
}

func (p *debouncer) pause() time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return min(max(shortestBeat, costShare*p.took), longestBeat)
}

// run beats after changes, until the context ends: at once when nothing happened for a while, and else after the pause.
func (p *debouncer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.news:
		}
		p.mutex.Lock()
		p.beat++
		close(p.waiting)
		p.waiting = make(chan struct{})
		p.mutex.Unlock()
		rest := time.NewTimer(p.pause())
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
}
