package fleet

import (
	"context"
	"io"
	"sync"
)

// leash ends a stream on purpose. While the stream is opened it is a context, and afterwards the stream itself: a context, with all that
// hangs on it, for each of the streams of thousands of runtimes was the largest part of what is kept of a stream.
type leash struct {
	mu     sync.Mutex
	end    func()
	pulled bool
}

// hold is the context in which the stream is opened, for a kind that goes on as long as ctx does. release ends that context alone.
func (l *leash) hold(ctx context.Context) (opening context.Context, release context.CancelFunc) {
	opening, release = context.WithCancel(ctx)
	l.end = release
	return opening, release
}

// pass makes the open stream what is ended from now on. Closing it writes to a connection and tells others, so that is done in a
// goroutine: who pulls holds locks.
func (l *leash) pass(body io.Closer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = func() { go body.Close() }
	if l.pulled {
		l.end()
	}
}

// pull ends the stream.
func (l *leash) pull() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.pulled {
		l.pulled = true
		l.end()
	}
}

// cut says that the stream was ended on purpose.
func (l *leash) cut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pulled
}
