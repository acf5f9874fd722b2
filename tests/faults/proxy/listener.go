package proxy

import (
	"net"
	"sync"
)

// Reach is the treatment of connections.
type Reach int

const (
	// Open serves them.
	Open Reach = iota
	// Refused resets them, like a machine whose server is down. The port stays ours, so that no other program takes it meanwhile.
	Refused
	// BlackHole keeps them without a response, like a firewall that drops packets.
	BlackHole
)

// listener is a net.Listener whose connections can be cut, refused and held.
type listener struct {
	net.Listener

	mutex  sync.Mutex
	state  Reach
	flows  chan struct{} // closed while bytes may flow
	conns  map[*conn]struct{}
	opened int
}

func newListener(inner net.Listener) *listener {
	l := &listener{Listener: inner, flows: make(chan struct{}), conns: map[*conn]struct{}{}}
	close(l.flows)
	return l
}

// Accept returns the next connection that is not refused.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: inner, listener: l, ended: make(chan struct{})}
		if l.take(c) {
			return c, nil
		}
		c.reset()
	}
}

func (l *listener) take(c *conn) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.opened++
	if l.state == Refused {
		return false
	}
	l.conns[c] = struct{}{}
	return true
}

func (l *listener) reach(state Reach) {
	l.mutex.Lock()
	if (state == BlackHole) != (l.state == BlackHole) {
		if state == BlackHole {
			l.flows = make(chan struct{})
		} else {
			close(l.flows)
		}
	}
	l.state = state
	l.mutex.Unlock()
	if state == Refused {
		l.cut()
	}
}

func (l *listener) cut() {
	l.mutex.Lock()
	conns := l.conns
	l.conns = map[*conn]struct{}{}
	l.mutex.Unlock()
	for c := range conns {
		c.reset()
	}
}

func (l *listener) count() (opened, standing int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.opened, len(l.conns)
}

func (l *listener) flowing() <-chan struct{} {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.flows
}

func (l *listener) forget(c *conn) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.conns, c)
}

// conn holds its bytes while the listener requires it.
type conn struct {
	net.Conn

	listener *listener
	once     sync.Once
	ended    chan struct{}
}

// Read returns bytes once they may flow.
func (c *conn) Read(data []byte) (int, error) {
	n, err := c.Conn.Read(data)
	c.wait()
	return n, err
}

// Write sends bytes once they may flow.
func (c *conn) Write(data []byte) (int, error) {
	c.wait()
	return c.Conn.Write(data)
}

// Close ends the connection, even while it is held.
func (c *conn) Close() error {
	c.end()
	return c.Conn.Close()
}

func (c *conn) wait() {
	select {
	case <-c.listener.flowing():
	case <-c.ended:
	}
}

func (c *conn) end() {
	c.once.Do(func() {
		close(c.ended)
		c.listener.forget(c)
	})
}

// reset ends the connection so that the other side receives an RST.
func (c *conn) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
