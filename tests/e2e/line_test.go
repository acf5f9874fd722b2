package e2e

import (
	"io"
	"net"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// line leads to a server, as long as no one cuts it.
type line struct {
	address, target string

	mu       sync.Mutex
	listener net.Listener
	ends     map[net.Conn]bool
}

// layLine opens a line to a server.
func layLine(target string) *line {
	GinkgoHelper()
	l := &line{address: "127.0.0.1:0", target: target, ends: map[net.Conn]bool{}}
	l.mend()
	return l
}

// fix lets connections through, at the address that the line has always had.
func (l *line) mend() {
	GinkgoHelper()
	listener, err := net.Listen("tcp", l.address)
	Expect(err).NotTo(HaveOccurred())
	l.mu.Lock()
	l.listener, l.address = listener, listener.Addr().String()
	l.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.carry(listener, conn)
		}
	}()
}

// cut breaks every connection and lets none through.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener == nil {
		return
	}
	_ = l.listener.Close() // it only ever ends once
	l.listener = nil
	for end := range l.ends {
		_ = end.Close()
	}
}

func (l *line) carry(through net.Listener, near net.Conn) {
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		_ = near.Close()
		return
	}
	l.mu.Lock()
	if l.listener != through { // it was cut meanwhile
		l.mu.Unlock()
		_, _ = near.Close(), far.Close()
		return
	}
	l.ends[near], l.ends[far] = true, true
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { pour(near, far) })
	both.Go(func() { pour(far, near) })
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, near)
	delete(l.ends, far)
}

// pour copies until one side ends, which ends the other.
func pour(to, from net.Conn) {
	_, _ = io.Copy(to, from) // however it ends, it ended
	_, _ = to.Close(), from.Close()
}
