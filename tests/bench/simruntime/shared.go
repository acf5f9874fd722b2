package simruntime

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// mostListeners is how many runtimes have a listener of their own. More of them share one, since a listener is an open file, as each
// connection is, and where a process may have 20,000 of them 10,000 runtimes would not fit.
const mostListeners = 6_000

// listenTogether opens one door for all runtimes.
func (f *Runtimes) listenTogether() error {
	listener, err := (&net.ListenConfig{Control: onLoopback}).Listen(context.Background(), "tcp4", "0.0.0.0:0")
	if err != nil {
		return fmt.Errorf("%d runtimes cannot share a listener: %w", len(f.runtimes), err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	for _, r := range f.runtimes {
		r.net.port = port
	}
	f.shared = listener
	go f.acceptAll(listener)
	return nil
}

// acceptAll lets connections in until the listener is closed, each to the runtime whose address it was made to.
func (f *Runtimes) acceptAll(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			f.options.Logf("the runtimes cannot accept: %v", err)
			return
		}
		at, ok := conn.LocalAddr().(*net.TCPAddr)
		i := -1
		if ok && at.IP.To4() != nil {
			i = int(at.IP.To4()[2])<<8 + int(at.IP.To4()[3]) - 1
		}
		if i < 0 || i >= len(f.runtimes) {
			_ = conn.Close()
			continue
		}
		if !f.runtimes[i].enter(conn) {
			return
		}
	}
}
