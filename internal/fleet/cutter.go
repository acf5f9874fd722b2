package fleet

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

const (
	// maxEvent is more than an API server stores for one object, even spelled out as JSON.
	maxEvent = 6 << 20
	// maxCarried is how much of all events of one runtime may have arrived in part.
	maxCarried = 8 << 20
	// keptBuffer is the largest buffer that goes back to the pool; a rare giant must not stay.
	keptBuffer = 128 << 10
)

// buffers are shared by all streams of the fleet: a stream owns one only while an event has arrived in part, which is nearly never.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 8<<10); return &b }}

func borrow() *[]byte {
	buf, _ := buffers.Get().(*[]byte)
	return buf
}

// cutter cuts a stream of JSON objects into single ones, wherever their bytes come from. At rest it holds no buffer.
type cutter struct {
	max       int
	carry     *[]byte // the beginning of an object, the end of which has not come
	depth     int
	inString  bool
	escaped   bool
	oversized bool
	together  *atomic.Int64 // length of carry, of all streams of a runtime; nil where there is only one
}

// feed takes some bytes of the stream and hands over every object that they complete, valid during the call only. nil stands for an object
// that was larger than max.
func (c *cutter) feed(data []byte, object func([]byte) error) error {
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

// complete hands over an object, the last part of which is given.
func (c *cutter) complete(last []byte, object func([]byte) error) error {
	if c.carry == nil && !c.oversized && len(last) <= c.max {
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

// keep puts a part of an object aside.
func (c *cutter) keep(part []byte) {
	if c.carry == nil && !c.oversized {
		c.carry = borrow()
	}
	if c.oversized || len(*c.carry)+len(part) > c.max || c.crowded(len(part)) {
		c.oversized = true
		c.release()
		return
	}
	*c.carry = append(*c.carry, part...)
}

// crowded says that there is no room for so many bytes more, and otherwise takes it.
func (c *cutter) crowded(more int) bool {
	if c.together == nil {
		return false
	}
	if c.together.Add(int64(more)) > maxCarried {
		c.together.Add(-int64(more))
		return true
	}
	return false
}

// release gives the buffer back.
func (c *cutter) release() {
	if c.carry == nil {
		return
	}
	if c.together != nil {
		c.together.Add(-int64(len(*c.carry)))
	}
	if cap(*c.carry) <= keptBuffer {
		*c.carry = (*c.carry)[:0]
		buffers.Put(c.carry)
	}
	c.carry = nil
}

// end says what it means that the stream ends here: io.EOF between objects, io.ErrUnexpectedEOF within one.
func (c *cutter) end() error {
	c.release()
	if c.depth > 0 {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}
