package h2stream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
)

// maxAside is how much of a response is buffered for a caller that reads it instead of using handOver: the text of an error.
const maxAside = 64 << 10

// Stream is one stream of an h2Conn, and the body of its response.
type Stream struct {
	conn *Conn
	id   uint32
	owed int // bytes not yet acknowledged; of the reading goroutine

	mu      sync.Mutex
	heads   chan *http.Response // gets the head of the answer; nil when it came
	aside   []byte
	deliver func([]byte) error
	ended   func(error)
	more    chan struct{} // closed when there is more to read; nil while no reader waits
	err     error
	stop    func() bool // takes the watch on the context back
}

// answer delivers the head of the response. Later HEADERS frames are trailers, which are ignored.
func (s *Stream) answer(head *http.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heads != nil {
		s.heads <- head
		s.heads = nil
	}
}

// take receives some bytes of the response.
func (s *Stream) take(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
	case s.deliver != nil:
		if err := s.deliver(data); err != nil {
			s.giveUp(err)
		}
	case len(s.aside)+len(data) > maxAside:
		s.giveUp(wire.ErrTooLarge)
	default:
		s.aside = append(s.aside, data...)
		s.wake()
	}
}

// HandOver passes all data to deliver, in order and never concurrently, and the end to ended, once. It returns at once.
func (s *Stream) HandOver(deliver func([]byte) error, ended func(error)) {
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
func (s *Stream) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishLocked(err)
}

func (s *Stream) finishLocked(err error) {
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

// tell reports the end to the callback of handOver. The callback continues in its own goroutine.
func (s *Stream) tell() {
	if s.ended != nil {
		ended := s.ended
		s.ended = nil
		ended(s.err)
	}
}

func (s *Stream) wake() {
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
}

// giveUp ends the stream because of its data. The reading goroutine must not wait for itself, so another one resets the stream.
func (s *Stream) giveUp(err error) {
	s.finishLocked(err)
	go s.conn.drop(s, true)
}

// abandon ends the stream from our side.
func (s *Stream) abandon(err error) {
	s.conn.drop(s, true)
	s.finish(err)
}

// watch ends the stream with its context.
func (s *Stream) watch(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { s.abandon(context.Cause(ctx)) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	if s.err != nil {
		stop()
	}
}

// Outlive detaches the stream from the context of its request: only Close ends it from this side then.
func (s *Stream) Outlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

func (s *Stream) cause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return s.err
}

// Read implements io.Reader, for responses that are not handed over.
func (s *Stream) Read(into []byte) (int, error) {
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
func (s *Stream) Close() error {
	s.abandon(net.ErrClosed)
	return nil
}
