package wire

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

const (
	// MaxEvent is more than an API server stores for one object, even spelled out as JSON.
	MaxEvent = 6 << 20
	// MaxCarried bounds the total length of incomplete events of one runtime.
	MaxCarried = 8 << 20
	// keptBuffer is the largest buffer that goes back to the pool; a rare giant must not stay in it.
	keptBuffer = 128 << 10
)

// Buffers are shared by all streams of all runtimes: a stream holds one only while an event has arrived in part, which is rare.
var Buffers = sync.Pool{New: func() any { b := make([]byte, 0, 8<<10); return &b }}

// BorrowBuffer returns an empty buffer of Buffers, which the caller must give back.
func BorrowBuffer() *[]byte {
	buf, _ := Buffers.Get().(*[]byte)
	return buf
}

// Splitter splits a stream of JSON objects, independent of how its bytes arrive. Between objects it holds no buffer.
type Splitter struct {
	// Max is the length of the largest object that is handed over.
	Max       int
	carry     *[]byte // the beginning of an object, the end of which has not come
	depth     int
	inString  bool
	escaped   bool
	oversized bool
	// Shared counts the carried bytes of all streams of a runtime, up to MaxCarried; nil where there is only one.
	Shared *atomic.Int64
}

// Feed takes some bytes of the stream and calls object for every object that they complete. The bytes are valid during the call only. nil
// means an object that was larger than max.
func (c *Splitter) Feed(data []byte, object func([]byte) error) error {
	start := 0
	for i, b := range data {
		switch {
		case c.escaped:
			c.escaped = false
		case c.inString:
			c.escaped = b == '\\'
			c.inString = b != '"'
		case c.depth == 0:
			if b == ' ' || b == '\t' || b == '\r' || b == '\n' {
				continue
			}
			if b != '{' {
				return fmt.Errorf("byte %#x instead of a JSON object in the stream", b)
			}
			start, c.depth = i, 1
		case b == '"':
			c.inString = true
		case b == '{', b == '[':
			c.depth++
		case b == '}', b == ']':
			if c.depth--; c.depth > 0 {
				continue
			}
			if err := c.complete(data[start:i+1], object); err != nil {
				return err
			}
		}
	}
	if c.depth > 0 {
		c.keep(data[start:])
	}
	return nil
}

// complete passes on an object, given its last part.
func (c *Splitter) complete(last []byte, object func([]byte) error) error {
	if c.carry == nil && !c.oversized && len(last) <= c.Max {
		return object(last)
	}
	c.keep(last)
	if c.oversized {
		c.oversized = false
		return object(nil)
	}
	err := object(*c.carry)
	c.release()
	return err
}

// keep buffers a part of an object.
func (c *Splitter) keep(part []byte) {
	if c.carry == nil && !c.oversized {
		c.carry = BorrowBuffer()
	}
	if c.oversized || len(*c.carry)+len(part) > c.Max || c.overReserved(len(part)) {
		c.oversized = true
		c.release()
		return
	}
	*c.carry = append(*c.carry, part...)
}

// overReserved reserves room for more bytes, and reports whether there is none.
func (c *Splitter) overReserved(more int) bool {
	if c.Shared == nil {
		return false
	}
	if c.Shared.Add(int64(more)) > MaxCarried {
		c.Shared.Add(-int64(more))
		return true
	}
	return false
}

// release returns the buffer to the pool.
func (c *Splitter) release() {
	if c.carry == nil {
		return
	}
	if c.Shared != nil {
		c.Shared.Add(-int64(len(*c.carry)))
	}
	if cap(*c.carry) <= keptBuffer {
		*c.carry = (*c.carry)[:0]
		Buffers.Put(c.carry)
	}
	c.carry = nil
}

// End returns how the stream ended: io.EOF between objects, io.ErrUnexpectedEOF within one.
func (c *Splitter) End() error {
	c.release()
	if c.depth > 0 {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}
