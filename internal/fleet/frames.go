package fleet

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// maxEvent is more than an API server stores for one object, even spelled out as JSON.
	maxEvent = 6 << 20
	// keptBuffer is the largest buffer that goes back to the pool; a rare giant must not stay.
	keptBuffer = 128 << 10
)

// errOversized stands for one event above the cap. The stream goes on behind it.
var errOversized = errors.New("an event is larger than what is read")

// buffers are shared by all streams of the fleet: a stream owns one only while an event is arriving, which is nearly never.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

// frames cuts a stream of JSON objects into single ones. At rest it holds a few hundred bytes.
type frames struct {
	src   io.Reader
	max   int
	first [384]byte // what a read at rest goes to: a bookmark fits

	buf   *[]byte // borrowed; nil at rest
	start int     // of the current object in buf
	scan  int     // how far buf was looked at
	last  int     // end of the object that was handed out

	depth     int
	inString  bool
	escaped   bool
	oversized bool
}

func newFrames(src io.Reader, limit int) *frames { return &frames{src: src, max: limit} }

// next gives one complete object, valid until the next call. io.EOF comes between objects only; io.ErrUnexpectedEOF within one.
func (f *frames) next() ([]byte, error) {
	f.consume()
	for {
		if done, err := f.advance(); err != nil {
			return nil, err
		} else if done {
			return f.take()
		}
		if err := f.fill(); err != nil {
			if errors.Is(err, io.EOF) && f.depth > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

// release gives the buffer back; the frames must not be used after that.
func (f *frames) release() {
	if f.buf == nil {
		return
	}
	if cap(*f.buf) <= keptBuffer {
		*f.buf = (*f.buf)[:0]
		buffers.Put(f.buf)
	}
	f.buf = nil
}

// consume forgets the object that was handed out, and the buffer when nothing is left in it.
func (f *frames) consume() {
	f.start, f.last = max(f.start, f.last), 0
	if f.buf != nil && f.start == len(*f.buf) {
		f.rest()
	}
}

// rest is the state between two events, in which nearly all streams are nearly always.
func (f *frames) rest() {
	f.release()
	f.start, f.scan = 0, 0
}

func (f *frames) take() ([]byte, error) {
	f.last = f.scan
	if f.oversized {
		f.oversized = false
		return nil, errOversized
	}
	return (*f.buf)[f.start:f.scan], nil
}

// advance looks at the bytes that were not looked at yet; done says that an object ended at f.scan.
func (f *frames) advance() (done bool, err error) {
	if f.buf == nil {
		return false, nil
	}
	data := *f.buf
	for ; f.scan < len(data); f.scan++ {
		c := data[f.scan]
		switch {
		case f.escaped:
			f.escaped = false
		case f.inString:
			f.escaped = c == '\\'
			f.inString = c != '"'
		case f.depth == 0:
			if err := f.open(c); err != nil {
				return false, err
			}
		case c == '"':
			f.inString = true
		case c == '{' || c == '[':
			f.depth++
		case c == '}' || c == ']':
			if f.depth--; f.depth == 0 {
				f.scan++
				return true, nil
			}
		}
	}
	return false, nil
}

// open takes a byte between two objects.
func (f *frames) open(c byte) error {
	switch c {
	case ' ', '\t', '\r', '\n':
		f.start = f.scan + 1
		return nil
	case '{':
		f.start = f.scan
		f.depth = 1
		return nil
	}
	return fmt.Errorf("byte %#x instead of a JSON object in the stream", c)
}

// fill reads once. At rest it reads into f.first, so that a waiting stream holds no buffer.
func (f *frames) fill() error {
	if f.buf != nil && f.start == len(*f.buf) && f.depth == 0 { // only white space came
		f.rest()
	}
	if f.buf == nil {
		n, err := f.src.Read(f.first[:])
		if n > 0 {
			f.buf = buffers.Get().(*[]byte)
			*f.buf = append((*f.buf)[:0], f.first[:n]...)
			return nil
		}
		return err
	}
	f.shed()
	buf := *f.buf
	if len(buf) == cap(buf) && f.start > 0 {
		buf = buf[:copy(buf, buf[f.start:])]
		f.scan -= f.start
		f.start = 0
	}
	if len(buf) == cap(buf) {
		grown := make([]byte, len(buf), 2*cap(buf))
		copy(grown, buf)
		buf = grown
	}
	n, err := f.src.Read(buf[len(buf):cap(buf)])
	*f.buf = buf[:len(buf)+n]
	if n > 0 {
		return nil
	}
	return err
}

// shed drops the bytes of an object that is too large, while its end is still awaited.
func (f *frames) shed() {
	if len(*f.buf)-f.start <= f.max && !f.oversized {
		return
	}
	f.oversized = true
	*f.buf = (*f.buf)[:0]
	f.start, f.scan = 0, 0
}
