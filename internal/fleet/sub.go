package fleet

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// maxAside is how much of an answer is put aside for whoever reads it instead of having it handed over: the text of an error.
const maxAside = 64 << 10

// sub is one stream of a trunk, and the body of its answer.
type sub struct {
	trunk *trunk
	id    uint32
	owed  int // bytes not yet acknowledged; of the reading goroutine

	mu      sync.Mutex
	heads   chan *http.Response // gets the head of the answer; nil when it came
	aside   []byte
	deliver func([]byte) error
	ended   func(error)
	more    chan struct{} // closed when there is more to read; nil while nobody waits
	err     error
	stop    func() bool // takes the watch on the context back
}

// answer gets the head of the answer. What comes after the first one are trailers, of which nothing is expected.
func (s *sub) answer(head *http.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heads != nil {
		s.heads <- head
		s.heads = nil
	}
}

// take gets some bytes of the answer.
func (s *sub) take(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
	case s.deliver != nil:
		if err := s.deliver(data); err != nil {
			s.giveUp(err)
		}
	case len(s.aside)+len(data) > maxAside:
		s.giveUp(errTooLarge)
	default:
		s.aside = append(s.aside, data...)
		s.wake()
	}
}

// handOver has all that comes handed to deliver, in order and never twice at a time, and the end to ended, once. It returns at once.
func (s *sub) handOver(deliver func([]byte) error, ended func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliver, s.ended = deliver, ended
	if len(s.aside) > 0 {
		if err := deliver(s.aside); err != nil && s.err == nil {
			s.giveUp(err)
		}
		s.aside = nil
	}
	if s.err != nil {
		s.tell()
	}
}

// finish ends the stream; only the first reason counts.
func (s *sub) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishLocked(err)
}

func (s *sub) finishLocked(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	if s.heads != nil {
		close(s.heads)
		s.heads = nil
	}
	if s.stop != nil {
		s.stop()
	}
	s.wake()
	s.tell()
}

// tell tells the end to whom the stream was handed over. Whoever that is goes on in a goroutine of its own.
func (s *sub) tell() {
	if s.ended != nil {
		ended := s.ended
		s.ended = nil
		ended(s.err)
	}
}

func (s *sub) wake() {
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
}

// giveUp ends the stream because of what came. The reading goroutine must not wait for itself, so the server is told by another one.
func (s *sub) giveUp(err error) {
	s.finishLocked(err)
	go s.trunk.drop(s, true)
}

// abandon ends the stream from our side.
func (s *sub) abandon(err error) {
	s.trunk.drop(s, true)
	s.finish(err)
}

// watch ends the stream with its context.
func (s *sub) watch(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { s.abandon(context.Cause(ctx)) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	if s.err != nil {
		stop()
	}
}

// outlive implements handed.
func (s *sub) outlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

func (s *sub) cause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return s.err
}

// Read implements io.Reader, for answers that are not handed over.
func (s *sub) Read(into []byte) (int, error) {
	for {
		s.mu.Lock()
		if len(s.aside) > 0 {
			n := copy(into, s.aside)
			s.aside = s.aside[n:]
			s.mu.Unlock()
			return n, nil
		}
		if s.err != nil {
			defer s.mu.Unlock()
			return 0, s.err
		}
		if s.more == nil {
			s.more = make(chan struct{})
		}
		more := s.more
		s.mu.Unlock()
		<-more
	}
}

// Close implements io.Closer.
func (s *sub) Close() error {
	s.abandon(net.ErrClosed)
	return nil
}
