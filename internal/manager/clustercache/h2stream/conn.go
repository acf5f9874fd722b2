package h2stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	// streamWindow is how much of a stream the server may send ahead. It bounds the frames, and with them the TLS records, that the
	// connection's buffers grow to and keep. A larger object takes one more round trip for each such piece.
	streamWindow = 8 << 10
	maxFrame     = 16 << 10 // the least that HTTP/2 lets a client announce
	maxHeaders   = 32 << 10
	// maxNoise is the limit of frames without data per minute; an honest server sends a handful.
	maxNoise = 2000
)

// Conn is one HTTP/2 connection that carries only GETs with endless responses. net/http can do that as well, but keeps two
// goroutines, several buffers and the whole request for every stream, four times what is affordable for thousands of runtimes
// (docs/adr/0003-watch-streams.md). Here one goroutine reads the connection and passes the bytes of every stream on synchronously.
type Conn struct {
	conn      net.Conn
	framer    *http2.Framer
	ask, wait time.Duration // after that much silence the server is asked, and then given up

	mu       sync.Mutex // guards what follows, and writing
	subs     map[uint32]*Stream
	last     uint32 // id of the newest stream
	most     uint32 // streams that the server allows at a time
	draining bool   // takes no new streams
	err      error  // why it ended

	owed    int // bytes read and not yet acknowledged; of the reading goroutine
	noise   int
	quiet   time.Time // begin of the minute that noise is counted in
	pinged  bool
	closing *time.Timer
}

// newConn starts an HTTP/2 connection; the caller runs read.
func newConn(conn net.Conn) (*Conn, error) {
	t := &Conn{conn: conn, subs: make(map[uint32]*Stream), most: math.MaxUint32, ask: PingAfter, wait: PingTimeout}
	t.framer = http2.NewFramer(conn, pingingReader{t})
	t.framer.SetMaxReadFrameSize(maxFrame)
	t.framer.SetReuseFrames()
	t.framer.MaxHeaderListSize = maxHeaders
	t.framer.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil) // what holds until the server has read our settings
	err := t.write(func() error {
		if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
			return err
		}
		return t.framer.WriteSettings(
			http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0},
			http2.Setting{ID: http2.SettingEnablePush, Val: 0},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHeaders},
		)
	})
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	t.closing = time.AfterFunc(IdleTimeout, t.CloseIdle) // should the server allow no stream at all
	return t, nil
}

// write writes frames; a peer that does not read them ends the connection.
func (t *Conn) write(frames func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writeLocked(frames)
}

func (t *Conn) writeLocked(frames func() error) error {
	if t.err != nil {
		return t.err
	}
	_ = t.conn.SetWriteDeadline(time.Now().Add(PingTimeout))
	err := frames()
	if err != nil {
		_ = t.conn.Close() // the reader notices, and tells the streams
	}
	return err
}

// ErrSilent is the end of every stream of a connection whose server did not respond to a ping.
var ErrSilent = errors.New("the API server has fallen silent")

// pingingReader reads the connection. After a while without a byte, as on an idle stream, it pings the server.
type pingingReader struct{ *Conn }

// Read implements io.Reader.
func (p pingingReader) Read(into []byte) (int, error) {
	for {
		deadline := pingTime(time.Now(), p.ask)
		if p.pinged {
			deadline = time.Now().Add(p.wait)
		}
		_ = p.conn.SetReadDeadline(deadline)
		n, err := p.conn.Read(into)
		switch {
		case n > 0:
			p.pinged = false
			return n, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case p.pinged:
			return 0, ErrSilent
		}
		p.pinged = true
		if err := p.write(func() error { return p.framer.WritePing(false, [8]byte{'f', 'l', 'e', 'e', 't'}) }); err != nil {
			return 0, err
		}
	}
}

// pingTime returns when a connection is pinged that is silent from now on: after at least that long, at a time that it has in common with
// the other connections. So a process with thousands of them sleeps between the pings, and waking it costs more than a ping does.
func pingTime(now time.Time, after time.Duration) time.Time {
	step := after / 15
	return now.Add(after + step - 1).Truncate(step)
}

// read is the goroutine of the connection: it runs as long as the connection, and then ends all of its streams.
func (t *Conn) read() {
	var err error
	for err == nil {
		var header http2.FrameHeader
		if header, err = t.framer.ReadFrameHeader(); err != nil {
			break
		}
		if header.Type == http2.FrameData {
			err = t.data(header)
			continue
		}
		err = t.control(header)
	}
	t.mu.Lock()
	t.err = fmt.Errorf("the connection for streams ended: %w", err)
	subs := t.subs
	t.subs = nil
	if t.closing != nil {
		t.closing.Stop()
	}
	t.mu.Unlock()
	_ = t.conn.Close()
	for _, s := range subs {
		s.finish(t.err)
	}
}

// open sends a request and waits for the head of its response.
func (t *Conn) open(req *http.Request) (*http.Response, error) {
	block, err := headerBlock(req)
	if err != nil {
		return nil, err
	}
	ctx := req.Context()
	heads := make(chan *http.Response, 1)
	s := &Stream{conn: t, heads: heads}
	if err := t.begin(s, block); err != nil {
		return nil, err
	}
	late := time.NewTimer(CallTimeout)
	defer late.Stop()
	select {
	case head, ok := <-heads:
		if !ok {
			return nil, s.cause()
		}
		head.Request, head.Body = req, s
		s.watch(ctx)
		return head, nil
	case <-late.C:
		err = fmt.Errorf("no answer to a watch: %w", context.DeadlineExceeded)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.abandon(err)
	return nil, err
}

var errDraining = errors.New("the connection takes no more streams")

// begin opens a stream for a request.
func (t *Conn) begin(s *Stream, block []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.hasRoomLocked() {
		return errDraining
	}
	if t.last == 0 {
		t.last = 1
	} else {
		t.last += 2
	}
	s.id = t.last
	t.subs[s.id] = s
	err := t.writeLocked(func() error {
		return t.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block, EndStream: true, EndHeaders: true})
	})
	if err != nil {
		delete(t.subs, s.id)
	}
	return err
}

// drop forgets a stream, and resets it when the server has not ended it. An unused connection is closed after a while.
func (t *Conn) drop(s *Stream, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil || t.subs[s.id] != s {
		return
	}
	delete(t.subs, s.id)
	if tell {
		_ = t.writeLocked(func() error { return t.framer.WriteRSTStream(s.id, http2.ErrCodeCancel) })
	}
	if len(t.subs) > 0 {
		return
	}
	if t.draining {
		_ = t.conn.Close()
		return
	}
	t.closing.Reset(IdleTimeout)
}

// CloseIdle closes the connection unless it carries a stream.
func (t *Conn) CloseIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.subs) == 0 {
		t.draining = true
		_ = t.conn.Close()
	}
}

// usable reports whether new streams can be opened.
func (t *Conn) usable() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hasRoomLocked()
}

// ended reports whether the connection is closed, or about to be.
func (t *Conn) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.draining || t.err != nil
}

// hasRoomLocked reports whether a new stream can be opened. The caller holds the lock.
func (t *Conn) hasRoomLocked() bool {
	return !t.draining && t.err == nil && uint64(len(t.subs)) < uint64(t.most)
}

// allow applies the server's limit on concurrent streams. Streams above it use another connection.
func (t *Conn) allow(settings *http2.SettingsFrame) {
	if most, told := settings.Value(http2.SettingMaxConcurrentStreams); told {
		t.mu.Lock()
		t.most = most
		t.mu.Unlock()
	}
}
