package h2stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is the server's end of an h2Conn, controlled by a test.
type peer struct {
	*http2.Framer
	conn   net.Conn
	frames chan string // what the client sent, in short
	client *Conn
	done   chan struct{} // closed when the client's reading goroutine has ended
}

func newPeer(t *testing.T, change func(*Conn)) *peer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{conn: server, Framer: http2.NewFramer(server, server), frames: make(chan string, 10_000), done: make(chan struct{})}
	if p.client, err = newConn(client); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(p.client)
	}
	go func() { defer close(p.done); p.client.read() }()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(server, preface); err != nil || string(preface) != http2.ClientPreface {
		t.Fatalf("%q %v", preface, err)
	}
	go p.record()
	t.Cleanup(func() { _ = server.Close(); <-p.done })
	p.expect(t, "SETTINGS")
	return p
}

func (p *peer) record() {
	defer close(p.frames)
	for {
		frame, err := p.ReadFrame()
		if err != nil {
			return
		}
		line := frame.Header().Type.String()
		switch frame := frame.(type) {
		case *http2.WindowUpdateFrame:
			line = fmt.Sprintf("WINDOW %d +%d", frame.StreamID, frame.Increment)
		case *http2.RSTStreamFrame:
			line = fmt.Sprintf("RST %d %s", frame.StreamID, frame.ErrCode)
		case *http2.PingFrame:
			line = fmt.Sprintf("PING ack=%v", frame.IsAck())
		case *http2.SettingsFrame:
			if frame.IsAck() {
				line = "SETTINGS ack"
			}
		case *http2.HeadersFrame:
			line = fmt.Sprintf("HEADERS %d", frame.StreamID)
		}
		p.frames <- line
	}
}

func (p *peer) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got, ok := <-p.frames:
		if !ok || got != want {
			t.Fatalf("the client sent %q, want %q", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("the client did not send %q", want)
	}
}

// wantEnd waits until the client has closed the connection.
func (p *peer) wantEnd(t *testing.T) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection goes on")
	}
}

// answer sends the head of a response.
func (p *peer) answer(t *testing.T, id uint32, status string, end bool) {
	t.Helper()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	enc.SetMaxDynamicTableSize(0)
	if status != "" {
		_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: status})
	}
	_ = enc.WriteField(hpack.HeaderField{Name: "retry-after", Value: "7"})
	if err := p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end}); err != nil {
		t.Fatal(err)
	}
}

func watchRequest(ctx context.Context, t *testing.T) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://runtime.test/api/v1/configmaps?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t")
	return req
}

// tried sends a request that should get no response.
func (p *peer) tried(req *http.Request) error {
	resp, err := p.client.open(req)
	if err == nil {
		err = errors.Join(err, resp.Body.Close())
	}
	return err
}

// opened opens a stream that the server accepts with 200, and collects its data.
func (p *peer) opened(ctx context.Context, t *testing.T, id uint32) *collected {
	t.Helper()
	c := &collected{ended: make(chan error, 2)}
	head := make(chan *http.Response, 1)
	go func() {
		resp, err := p.client.open(watchRequest(ctx, t)) //nolint:bodyclose // handed over
		if err != nil {
			c.ended <- err
		}
		head <- resp
	}()
	p.expect(t, fmt.Sprintf("HEADERS %d", id))
	p.answer(t, id, "200", false)
	resp := <-head
	if resp == nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("answer %+v", resp)
	}
	resp.Body.(*Stream).HandOver(c.take, func(err error) { c.ended <- err })
	return c
}

type collected struct {
	mu    sync.Mutex
	data  []byte
	stop  error
	ended chan error
}

func (c *collected) take(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.data = append(c.data, data...)
	return c.stop
}

func (c *collected) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.data)
}

func (c *collected) want(t *testing.T, text string) {
	t.Helper()
	eventually(t, "the client has read "+text, func() bool { return c.text() == text })
}

func (c *collected) wantEnd(t *testing.T, want error) error {
	t.Helper()
	select {
	case err := <-c.ended:
		if want != nil && !errors.Is(err, want) {
			t.Fatalf("ended with %v, want %v", err, want)
		}
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("the stream goes on")
		return nil
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(45 * time.Second); !done(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
