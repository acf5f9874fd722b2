package server

import (
	"context"
	"sync"
	"time"
)

const (
	// shortestBeat is the minimum time between two beats: changes come in bursts.
	shortestBeat = 250 * time.Millisecond
	// longestBeat bounds the delay of a change when computing takes long.
	longestBeat = time.Second
	// costShare is the ratio of the pause to the duration of the last computation, so that a large fleet leaves time for other work.
	costShare = 3
)

// debouncer groups bursts of changes into beats. Pages show the state as of a beat.
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

// note records that something has changed.
func (p *debouncer) note() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// number returns the number of the last beat.
func (p *debouncer) number() uint64 {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.beat
}

// next returns a channel that is closed at the next beat.
func (p *debouncer) next() <-chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.waiting
}

// cost records how long computing took.
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

// run starts a beat after changes, until the context ends: at once after a quiet period, and otherwise after the pause.
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
