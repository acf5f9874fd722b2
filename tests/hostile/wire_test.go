package hostile

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"golang.org/x/net/http2"
)

// speaking sets a trap for an attack that uses HTTP/2 in its own way.
func speaking(attack func(t *trap, f *http2.Framer, conn net.Conn)) func(target) *trap {
	return func(target) *trap {
		return setRawTrap(func(t *trap, conn net.Conn) {
			if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil {
				return
			}
			f := http2.NewFramer(conn, conn)
			if f.WriteSettings() == nil {
				t.met.Add(1)
				go func() { _, _ = io.Copy(io.Discard, conn) }() // what the client sends does not matter
				attack(t, f, conn)
			}
		}, "h2")
	}
}

// repeating writes the same frame endlessly.
func repeating(frame func(*http2.Framer) error) func(target) *trap {
	return speaking(func(_ *trap, f *http2.Framer, _ net.Conn) {
		var err error
		for err == nil {
			err = frame(f)
		}
	})
}

// hushing reads nothing that the client writes, while it makes the client respond.
func hushing(target) *trap {
	return setRawTrap(func(t *trap, conn net.Conn) {
		f := http2.NewFramer(conn, conn)
		if f.WriteSettings() != nil {
			return
		}
		t.met.Add(1)
		var err error
		for err == nil {
			err = f.WritePing(false, [8]byte{1})
		}
	}, "h2")
}

// heading sends endless headers, by HTTP/1.1.
func heading(t *trap, conn net.Conn) {
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		return
	}
	t.met.Add(1)
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n"); err != nil {
		return
	}
	line := []byte(strings.Repeat("X-Header: "+strings.Repeat("a", 1000)+"\r\n", 32))
	for {
		if _, err := conn.Write(line); err != nil {
			return
		}
	}
}

// informing sends endless interim responses, by HTTP/1.1.
func informing(t *trap, conn net.Conn) {
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		return
	}
	t.met.Add(1)
	for {
		if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"); err != nil {
			return
		}
	}
}

// silent accepts connections and sends nothing.
func silent(t *trap, conn net.Conn) {
	t.met.Add(1)
	<-t.closed
	_ = conn.Close()
}

// babbling sends noise instead of TLS.
func babbling(t *trap, conn net.Conn) {
	t.met.Add(1)
	for {
		if _, err := conn.Write(junk); err != nil {
			return
		}
	}
}

// old supports only outdated versions of TLS.
func old(server *httptest.Server) {
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
}

// unmet marks an attack as met that ends before any request.
func unmet(t *trap) *trap {
	t.met.Add(1)
	return t
}

var _ = DescribeTable("A runtime whose wire carries", strike,
	Entry("nothing", attack{set: func(target) *trap { return listenRaw(silent) }}),
	Entry("noise", attack{set: func(target) *trap { return listenRaw(babbling) }}),
	Entry("an outdated version of TLS", attack{set: func(target) *trap { return unmet(setTrap(on(always, drip), old)) }, tells: "RuntimeUnreachable"}),
	Entry("a certificate of another authority", attack{tells: "is not trusted", set: func(target) *trap {
		t := unmet(setTrap(on(always, drip)))
		t.CA = env.Hub.Config.CAData
		return t
	}}),
	Entry("endless headers", attack{set: func(target) *trap { return setRawTrap(heading, "http/1.1") }, lasts: long}),
	Entry("endless interim responses", attack{set: func(target) *trap { return setRawTrap(informing, "http/1.1") }}),
	Entry("endless pings", attack{set: repeating(func(f *http2.Framer) error { return f.WritePing(false, [8]byte{}) }), lasts: long}),
	Entry("endless pings, and responses are not read", attack{set: hushing, lasts: long}),
	Entry("endless settings", attack{lasts: long, set: repeating(func(f *http2.Framer) error {
		return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
	})}),
	Entry("endless GOAWAY frames", attack{set: repeating(func(f *http2.Framer) error {
		return f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("you sent Bearer "+token.secret))
	})}),
	Entry("unrequested data", attack{set: repeating(func(f *http2.Framer) error { return f.WriteData(1, false, make([]byte, 16<<10)) })}),
	Entry("endless continuation headers", attack{lasts: long, set: speaking(func(_ *trap, f *http2.Framer, _ net.Conn) {
		block := []byte{0x00, 0x01, 'a', 0x7f, 0x81, 0x1f}
		block = append(block, make([]byte, 256)...)
		err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block})
		for err == nil {
			err = f.WriteContinuation(1, false, block)
		}
	})}),
)
