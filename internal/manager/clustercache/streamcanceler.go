package clustercache

import (
	"context"
	"io"
	"sync"
)

// streamCanceler ends a stream on purpose. While the stream is opened it cancels a context, and afterwards it closes the stream itself: a
// context with all its references for each stream of thousands of runtimes was the largest part of a stream's memory.
type streamCanceler struct {
	mu     sync.Mutex
	end    func()
	pulled bool
}

// openContext returns the context in which the stream is opened, for a kind that lives as long as ctx. release cancels that context alone.
func (l *streamCanceler) openContext(ctx context.Context) (opening context.Context, release context.CancelFunc) {
	opening, release = context.WithCancel(ctx)
	l.end = release
	return opening, release
}

// attach makes pull close the open stream from now on. Closing it writes to a connection and calls others, so it runs in a
// goroutine: the caller of pull holds locks.
func (l *streamCanceler) attach(body io.Closer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = func() { go body.Close() }
	if l.pulled {
		l.end()
	}
}

// cancel ends the stream.
func (l *streamCanceler) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.pulled {
		l.pulled = true
		l.end()
	}
}

// canceled reports whether the stream was ended on purpose.
func (l *streamCanceler) canceled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pulled
}
