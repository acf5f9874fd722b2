package h2stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
)

// data reads the payload of a DATA frame, piece by piece, into its stream.
func (t *Conn) data(header http2.FrameHeader) error {
	left, padding := int(header.Length), 0
	if header.StreamID == 0 || left > maxFrame {
		return errors.New("a frame of data without a stream, or larger than allowed")
	}
	if header.Flags.Has(http2.FlagDataPadded) {
		var pad [1]byte
		if left == 0 {
			return errors.New("a padded frame without padding")
		}
		if _, err := io.ReadFull(pingingReader{t}, pad[:]); err != nil {
			return err
		}
		left--
		if padding = int(pad[0]); padding > left {
			return errors.New("a frame with more padding than data")
		}
		left -= padding
	}
	t.mu.Lock()
	s := t.subs[header.StreamID]
	t.mu.Unlock()
	if err := t.payload(s, left); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, pingingReader{t}, int64(padding)); err != nil {
		return err
	}
	if header.Flags.Has(http2.FlagDataEndStream) && s != nil {
		t.drop(s, false)
		s.finish(io.EOF)
	}
	if header.Length == 0 {
		return t.countFrame()
	}
	return t.acknowledge(s, int(header.Length), header.Flags.Has(http2.FlagDataEndStream))
}

// payload passes the bytes of one frame on; s is nil for a stream that we gave up.
func (t *Conn) payload(s *Stream, left int) error {
	buf := wire.BorrowBuffer()
	defer wire.Buffers.Put(buf)
	room := (*buf)[:cap(*buf)]
	for left > 0 {
		n, err := pingingReader{t}.Read(room[:min(left, len(room))])
		if err != nil {
			return err
		}
		left -= n
		if s != nil {
			s.take(room[:n])
		}
	}
	return nil
}

// acknowledge opens the windows again: that of the stream by half, that of the connection, which has 64 KiB, by a quarter.
func (t *Conn) acknowledge(s *Stream, n int, ended bool) error {
	t.owed += n
	give := 0
	if s != nil && !ended {
		if s.owed += n; s.owed >= streamWindow/2 {
			give, s.owed = s.owed, 0
		}
	}
	all := 0
	if t.owed >= 16<<10 {
		all, t.owed = t.owed, 0
	}
	if give == 0 && all == 0 {
		return nil
	}
	return t.write(func() error {
		var err error
		if give > 0 && t.subs[s.id] == s {
			err = t.framer.WriteWindowUpdate(s.id, uint32(give))
		}
		if all > 0 && err == nil {
			err = t.framer.WriteWindowUpdate(0, uint32(all))
		}
		return err
	})
}

// control handles a frame that is not data.
func (t *Conn) control(header http2.FrameHeader) error {
	if err := t.countFrame(); err != nil {
		return err
	}
	frame, err := t.framer.ReadFrameForHeader(header)
	if stream, ok := errors.AsType[http2.StreamError](err); ok {
		return t.refuse(stream)
	}
	if err != nil {
		return err
	}
	switch frame := frame.(type) {
	case *http2.MetaHeadersFrame:
		t.head(frame)
	case *http2.RSTStreamFrame:
		t.reset(frame.StreamID, fmt.Errorf("the API server reset the stream: %s", frame.ErrCode))
	case *http2.SettingsFrame:
		if !frame.IsAck() {
			t.allow(frame)
			return t.write(t.framer.WriteSettingsAck)
		}
	case *http2.PingFrame:
		if !frame.IsAck() {
			return t.write(func() error { return t.framer.WritePing(true, frame.Data) })
		}
	case *http2.GoAwayFrame:
		t.drain(frame.LastStreamID)
	case *http2.PushPromiseFrame:
		return errors.New("the API server sent a push promise, which is disabled")
	}
	return nil // window updates concern senders of data; unknown frames must be ignored
}

// countFrame ends a connection whose server sends endless frames that carry nothing.
func (t *Conn) countFrame() error {
	if now := time.Now(); now.Sub(t.quiet) > time.Minute {
		t.quiet, t.noise = now, 0
	}
	if t.noise++; t.noise > maxNoise {
		return errors.New("the API server sends too many frames without data")
	}
	return nil
}

// head handles the head of a response, or its end.
func (t *Conn) head(frame *http2.MetaHeadersFrame) {
	t.mu.Lock()
	s := t.subs[frame.StreamID]
	t.mu.Unlock()
	if s == nil {
		return
	}
	if code, err := strconv.Atoi(frame.PseudoValue("status")); err == nil && code >= http.StatusOK {
		head := &http.Response{
			StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code),
			Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{}, ContentLength: -1,
		}
		for _, field := range frame.RegularFields() {
			head.Header.Add(field.Name, field.Value)
		}
		s.answer(head)
	}
	if frame.StreamEnded() {
		t.drop(s, false)
		s.finish(io.EOF)
	}
}

// refuse ends a stream in which the server broke the protocol, and resets it: the server may continue to send otherwise.
func (t *Conn) refuse(broken http2.StreamError) error {
	t.reset(broken.StreamID, broken)
	return t.write(func() error { return t.framer.WriteRSTStream(broken.StreamID, broken.Code) })
}

func (t *Conn) reset(id uint32, err error) {
	t.mu.Lock()
	s := t.subs[id]
	t.mu.Unlock()
	if s != nil {
		t.drop(s, false)
		s.finish(err)
	}
}

// drain handles GOAWAY: accepted streams continue, and the others must be retried on another connection.
func (t *Conn) drain(last uint32) {
	t.mu.Lock()
	t.draining = true
	var refused []*Stream
	for id, s := range t.subs {
		if id > last {
			refused = append(refused, s)
		}
	}
	empty := len(t.subs) == 0
	t.mu.Unlock()
	for _, s := range refused {
		t.drop(s, false)
		s.finish(errDraining)
	}
	if empty {
		_ = t.conn.Close()
	}
}

// headerBlock encodes the head of a request. It uses no dynamic table, so no copy of the headers, least of all of credentials, is kept.
func headerBlock(req *http.Request) ([]byte, error) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	enc.SetMaxDynamicTableSize(0)
	put := func(name, value string) error {
		if !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("the value of header %s cannot be sent", name)
		}
		return enc.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: name == "authorization"})
	}
	err := errors.Join(
		put(":method", req.Method), put(":scheme", "https"), put(":authority", req.URL.Host), put(":path", req.URL.RequestURI()),
	)
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		lower := strings.ToLower(name)
		if !httpguts.ValidHeaderFieldName(lower) || slices.Contains([]string{"connection", "host", "transfer-encoding", "upgrade"}, lower) {
			return nil, fmt.Errorf("header %q cannot be sent", name)
		}
		for _, value := range req.Header[name] {
			err = errors.Join(err, put(lower, value))
		}
	}
	if block.Len() > maxFrame {
		return nil, errors.New("the head of the request is larger than what is sent")
	}
	return block.Bytes(), err
}
