package simruntime

import (
	"net"
	"sync"
	"sync/atomic"
)

// network is what a runtime has of the network.
type network struct {
	mu       sync.Mutex
	listener net.Listener
	port     string
	open     map[*socket]struct{}
	holding  chan struct{} // closed when a black hole ends; nil without one
	down     atomic.Int32
}

// socket is one connection to a runtime.
type socket struct {
	net.Conn
	runtime *Runtime
	closed  chan struct{}
	once    sync.Once
}

func (r *Runtime) newSocket(conn net.Conn) *socket {
	made := &socket{Conn: conn, runtime: r, closed: make(chan struct{})}
	r.counter.connections.Add(1)
	r.net.mu.Lock()
	defer r.net.mu.Unlock()
	if r.net.open == nil {
		r.net.open = make(map[*socket]struct{})
	}
	r.net.open[made] = struct{}{}
	return made
}

// Read implements io.Reader. In a black hole nothing arrives until it ends.
func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.runtime.counter.in.Add(int64(n))
	s.hold()
	return n, err
}

// Write implements io.Writer. In a black hole nothing leaves until it ends.
func (s *socket) Write(p []byte) (int, error) {
	s.hold()
	n, err := s.Conn.Write(p)
	s.runtime.counter.out.Add(int64(n))
	return n, err
}

// hold waits for the end of a black hole.
func (s *socket) hold() {
	for s.runtime.net.down.Load() == int32(BlackHole) {
		s.runtime.net.mu.Lock()
		holding := s.runtime.net.holding
		s.runtime.net.mu.Unlock()
		if holding == nil {
			return
		}
		select {
		case <-holding:
		case <-s.closed:
			return
		}
	}
}

// Close implements net.Conn.
func (s *socket) Close() error {
	s.once.Do(func() {
		close(s.closed)
		s.runtime.counter.connections.Add(-1)
		s.runtime.net.mu.Lock()
		delete(s.runtime.net.open, s)
		s.runtime.net.mu.Unlock()
	})
	return s.Conn.Close()
}

// abort closes it by a reset.
func (s *socket) abort() {
	if tcp, ok := s.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = s.Close()
}

// cut aborts all connections.
func (r *Runtime) cut() {
	r.net.mu.Lock()
	open := make([]*socket, 0, len(r.net.open))
	for s := range r.net.open {
		open = append(open, s)
	}
	r.net.mu.Unlock()
	for _, s := range open {
		s.abort()
	}
}

// fall makes a runtime go away in one way or come back.
func (r *Runtime) fall(d Down) error {
	r.net.mu.Lock()
	if holding := r.net.holding; holding != nil && d != BlackHole {
		close(holding)
		r.net.holding = nil
	}
	if d == BlackHole && r.net.holding == nil {
		r.net.holding = make(chan struct{})
	}
	r.net.down.Store(int32(d))
	r.net.mu.Unlock()
	switch d {
	case Refuse:
		r.unlisten()
		r.cut()
		return nil
	case Reset:
		r.cut()
	case Up, BlackHole:
	}
	return r.listen()
}
