package h2stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func TestConn_AConnectionCarriesStreams(t *testing.T) {
	p := newPeer(t, nil)
	one, two := p.opened(t.Context(), t, 1), p.opened(t.Context(), t, 3)
	must(t, p.WriteData(1, false, []byte("a")), p.WriteData(3, false, []byte("x")), p.WriteDataPadded(1, false, []byte("b"), make([]byte, 9)),
		p.WriteData(99, false, []byte("for no one")), p.WriteData(3, true, []byte("y")))
	one.want(t, "ab")
	two.want(t, "xy")
	two.wantEnd(t, io.EOF)
	must(t, p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 10}))
	p.expect(t, "SETTINGS ack")
	must(t, p.WritePing(false, [8]byte{1}))
	p.expect(t, "PING ack=true")
	must(t, p.WriteRawFrame(0xbe, 0, 1, []byte("of a kind that no one knows")), p.WriteWindowUpdate(0, 5), p.WriteRSTStream(1, http2.ErrCodeInternal))
	if err := one.wantEnd(t, nil); !strings.Contains(err.Error(), "INTERNAL") {
		t.Error(err)
	}
}

func TestConn_AConnectionOpensItsWindows(t *testing.T) {
	p := newPeer(t, nil)
	c := p.opened(t.Context(), t, 1)
	piece := bytes.Repeat([]byte("x"), streamWindow/2)
	for i := 1; i <= 8; i++ {
		must(t, p.WriteData(1, false, piece))
		p.expect(t, fmt.Sprintf("WINDOW 1 +%d", len(piece)))
		if i%4 == 0 {
			p.expect(t, fmt.Sprintf("WINDOW 0 +%d", 4*len(piece)))
		}
	}
	c.want(t, strings.Repeat("x", 8*len(piece)))
}

func TestH2Stream_EndsWithContext(t *testing.T) {
	p := newPeer(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	c := p.opened(ctx, t, 1)
	cancel()
	p.expect(t, "RST 1 CANCEL")
	c.wantEnd(t, context.Canceled)
	other := p.opened(t.Context(), t, 3)
	other.stop = errors.New("enough")
	must(t, p.WriteData(3, false, []byte("z")))
	p.expect(t, "RST 3 CANCEL")
	other.wantEnd(t, other.stop)
}

func TestH2Stream_ReadsErrorResponse(t *testing.T) {
	p := newPeer(t, nil)
	answers := make(chan *http.Response, 1)
	go func() {
		resp, err := p.client.open(watchRequest(t.Context(), t)) //nolint:bodyclose // at the end
		if err != nil {
			t.Error(err)
		}
		answers <- resp
	}()
	p.expect(t, "HEADERS 1")
	p.answer(t, 1, "103", false) // a hint, not the answer
	p.answer(t, 1, "410", false)
	must(t, p.WriteData(1, false, []byte("go")))
	resp := <-answers
	go func() {
		<-time.After(50 * time.Millisecond)
		must(t, p.WriteData(1, false, []byte("ne")))
		p.answer(t, 1, "", true) // trailers
	}()
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusGone || resp.Header.Get("Retry-After") != "7" || string(body) != "gone" || err != nil {
		t.Fatalf("%d %v %q %v", resp.StatusCode, resp.Header, body, err)
	}
	must(t, resp.Body.Close())
}

func TestH2Conn_ResetsOnlyInvalidStream(t *testing.T) {
	p := newPeer(t, nil)
	p.AllowIllegalWrites = true
	one, two := p.opened(t.Context(), t, 1), p.opened(t.Context(), t, 3)
	must(t, p.WriteRawFrame(http2.FrameWindowUpdate, 0, 1, []byte{0, 0, 0, 0}))
	one.wantEnd(t, nil)
	p.expect(t, "RST 1 PROTOCOL_ERROR")
	must(t, p.WriteData(3, false, []byte("goes on")))
	two.want(t, "goes on")
}

func TestConn_AConnectionKeepsToTheStreamsThatTheServerAllows(t *testing.T) {
	p := newPeer(t, nil)
	must(t, p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}))
	p.expect(t, "SETTINGS ack")
	if !p.client.usable() {
		t.Error("takes no stream, and one is allowed")
	}
	one := p.opened(t.Context(), t, 1)
	if p.client.usable() {
		t.Error("takes more than one")
	}
	if err := p.tried(watchRequest(t.Context(), t)); !errors.Is(err, errDraining) {
		t.Errorf("a second stream: %v", err)
	}
	must(t, p.WriteData(1, true, nil))
	one.wantEnd(t, io.EOF)
	if !p.client.usable() {
		t.Error("takes no stream after the first one ended")
	}
}

func TestH2Conn_DrainsAfterGoAway(t *testing.T) {
	p := newPeer(t, nil)
	one, two := p.opened(t.Context(), t, 1), p.opened(t.Context(), t, 3)
	must(t, p.WriteGoAway(1, http2.ErrCodeNo, nil))
	two.wantEnd(t, errDraining)
	if p.client.usable() {
		t.Error("it takes new streams")
	}
	if err := p.tried(watchRequest(t.Context(), t)); !errors.Is(err, errDraining) {
		t.Error(err)
	}
	must(t, p.WriteData(1, false, []byte("still here")))
	one.want(t, "still here")
	must(t, p.WriteData(1, true, nil))
	one.wantEnd(t, io.EOF)
	p.wantEnd(t)
}

func TestH2Conn_PingsSilentServerThenCloses(t *testing.T) {
	p := newPeer(t, func(tr *Conn) { tr.ask, tr.wait = 3*time.Second, 3*time.Second })
	c := p.opened(t.Context(), t, 1)
	p.expect(t, "PING ack=false")
	must(t, p.WritePing(true, [8]byte{}))
	p.expect(t, "PING ack=false")
	c.wantEnd(t, ErrSilent)
	p.wantEnd(t)
}

func TestPingTime_IsSharedByConnections(t *testing.T) {
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	wakes := map[time.Time]bool{}
	for i := range 1000 { // connections that fell silent within one ping's time
		now := began.Add(time.Duration(i) * PingAfter / 1000)
		at := pingTime(now, PingAfter)
		if silent := at.Sub(now); silent < PingAfter || silent > 75*time.Second {
			t.Errorf("a connection is pinged after %s, want between %s and 75s", silent, PingAfter)
		}
		wakes[at] = true
	}
	if len(wakes) > 16 {
		t.Errorf("the pings of 1000 connections wake the process %d times, want 16 at most", len(wakes))
	}
}

func TestH2Conn_ClosesOnProtocolError(t *testing.T) {
	cases := map[string]func(*peer) error{
		"data for the connection itself": func(p *peer) error { return p.WriteRawFrame(http2.FrameData, 0, 0, []byte("x")) },
		"a frame that is too large":      func(p *peer) error { return p.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, maxFrame+1)) },
		"too large a frame of its own":   func(p *peer) error { return p.WriteRawFrame(0xbe, 0, 1, make([]byte, maxFrame+1)) },
		"more padding than data":         func(p *peer) error { return p.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte{9, 0}) },
		"padding without length":         func(p *peer) error { return p.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, nil) },
		"a header block that is none": func(p *peer) error {
			return p.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, []byte{0xff, 0xff, 0xff})
		},
		"a continuation of nothing": func(p *peer) error { return p.WriteRawFrame(http2.FrameContinuation, 0, 1, []byte{0}) },
		"a push": func(p *peer) error {
			return p.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
		},
		"settings that are cut off": func(p *peer) error { return p.WriteRawFrame(http2.FrameSettings, 0, 0, []byte{1}) },
		"the end of the connection": func(p *peer) error { return p.conn.Close() },
		"frames without end that say nothing": func(p *peer) error {
			for range maxNoise + 10 {
				if err := p.WriteData(1, false, nil); err != nil {
					return nil //nolint:nilerr // it has left already
				}
			}
			return nil
		},
	}
	for name, offend := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, nil)
			p.AllowIllegalWrites = true
			c := p.opened(t.Context(), t, 1)
			must(t, offend(p))
			p.wantEnd(t)
			if err := c.wantEnd(t, nil); errors.Is(err, io.EOF) && name != "the end of the connection" {
				t.Errorf("ended with %v, as if in order", err)
			}
		})
	}
}

func TestH2Conn_OpenTimesOut(t *testing.T) {
	p := newPeer(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.tried(watchRequest(ctx, t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	p.expect(t, "HEADERS 1")
	p.expect(t, "RST 1 CANCEL")
	reset := make(chan error)
	go func() { reset <- p.tried(watchRequest(t.Context(), t)) }()
	p.expect(t, "HEADERS 3")
	must(t, p.WriteRSTStream(3, http2.ErrCodeRefusedStream))
	if err := <-reset; err == nil {
		t.Fatal("a stream that was refused was opened")
	}
}

func TestHeaderBlock_RefusesInvalidHeaders(t *testing.T) {
	p := newPeer(t, nil)
	for name, change := range map[string]func(http.Header){
		"a line break": func(h http.Header) { h["Authorization"] = []string{"a\r\nb: c"} },
		"a bad name":   func(h http.Header) { h["a b"] = []string{"c"} },
		"a hop":        func(h http.Header) { h["Connection"] = []string{"close"} },
		"too much":     func(h http.Header) { h["A"] = []string{strings.Repeat("~", 2*maxFrame)} },
	} {
		req := watchRequest(t.Context(), t)
		change(req.Header)
		if err := p.tried(req); err == nil {
			t.Errorf("%s was sent", name)
		}
	}
}

func FuzzConn(f *testing.F) {
	frame := func(write func(*http2.Framer) error) []byte {
		var b bytes.Buffer
		if err := write(http2.NewFramer(&b, nil)); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	f.Add(frame(func(w *http2.Framer) error { return w.WriteSettings(http2.Setting{ID: 1, Val: 2}) }))
	f.Add(frame(func(w *http2.Framer) error { return w.WriteDataPadded(1, true, []byte("x"), make([]byte, 3)) }))
	f.Add(frame(func(w *http2.Framer) error { return w.WriteGoAway(0, 0, nil) }))
	f.Add(frame(func(w *http2.Framer) error {
		return w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true})
	}))
	f.Fuzz(func(t *testing.T, sent []byte) {
		client, server := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, server) }()
		tr, err := newConn(client)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = server.Write(sent); _ = server.Close() }()
		s := &Stream{conn: tr, heads: make(chan *http.Response, 1)}
		if err := tr.begin(s, nil); err == nil {
			ended := make(chan error, 1)
			s.HandOver(func([]byte) error { return nil }, func(err error) { ended <- err })
			tr.read()
			if <-ended == nil {
				t.Fatal("ended without a reason")
			}
		}
		_ = client.Close()
	})
}
