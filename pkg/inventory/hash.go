package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// hashBytes is how much of a digest is kept: 64 bits distinguish the contents of one object, and an inventory holds thousands of them.
	hashBytes = 8
	// flushSize bounds the buffer between encoder and digest, so that a CRD of a megabyte needs no copy of it.
	flushSize = 8 << 10
)

// ContentHash identifies the content of an object: canonical JSON (sorted keys, one form per number), SHA-256, 16 hex digits. It is stable
// across processes and releases, because it is stored.
func ContentHash(object *unstructured.Unstructured) string {
	e, reused := encoders.Get().(*encoder)
	if !reused {
		e = &encoder{digest: sha256.New(), buffer: make([]byte, 0, 2*flushSize)}
	}
	defer e.release()
	e.object(object.Object)
	return e.sum()
}

// encoder writes canonical JSON into a digest. It runs once per object and pass, thousands of times, so it reuses its memory and works
// without reflection.
type encoder struct {
	digest hash.Hash
	buffer []byte
	// keys is a stack: each object pushes its keys, sorts that part and pops it.
	keys []string
}

var encoders sync.Pool

func (e *encoder) release() {
	e.digest.Reset()
	e.buffer = e.buffer[:0]
	clear(e.keys[:cap(e.keys)]) // do not retain the strings of an object that is gone
	e.keys = e.keys[:0]
	encoders.Put(e)
}

func (e *encoder) sum() string {
	e.digest.Write(e.buffer)
	var sum [sha256.Size]byte
	return hex.EncodeToString(e.digest.Sum(sum[:0])[:hashBytes])
}

func (e *encoder) flush() {
	if len(e.buffer) >= flushSize {
		e.digest.Write(e.buffer)
		e.buffer = e.buffer[:0]
	}
}

func (e *encoder) object(fields map[string]any) {
	first := len(e.keys)
	for key := range fields {
		e.keys = append(e.keys, key)
	}
	last := len(e.keys)
	slices.Sort(e.keys[first:last])
	e.buffer = append(e.buffer, '{')
	for at := first; at < last; at++ {
		if at > first {
			e.buffer = append(e.buffer, ',')
		}
		key := e.keys[at]
		e.text(key)
		e.buffer = append(e.buffer, ':')
		e.value(fields[key])
	}
	e.buffer = append(e.buffer, '}')
	e.keys = e.keys[:first]
}

func (e *encoder) list(items []any) {
	e.buffer = append(e.buffer, '[')
	for at, item := range items {
		if at > 0 {
			e.buffer = append(e.buffer, ',')
		}
		e.value(item)
	}
	e.buffer = append(e.buffer, ']')
}

// value writes the types that decoders produce. Others, such as a map[string]string that Go code put into an object, take the slow path
// through encoding/json, so that they hash as they would after decoding.
func (e *encoder) value(value any) {
	switch value := value.(type) {
	case nil:
		e.buffer = append(e.buffer, "null"...)
	case bool:
		e.buffer = strconv.AppendBool(e.buffer, value)
	case string:
		e.text(value)
	case int64:
		e.buffer = strconv.AppendInt(e.buffer, value, 10)
	case int:
		e.buffer = strconv.AppendInt(e.buffer, int64(value), 10)
	case float64:
		e.float(value)
	case map[string]any:
		e.object(value)
	case []any:
		e.list(value)
	default:
		e.foreign(value)
	}
	e.flush()
}

// float writes 1.0 as 1: whether a decoder turns it into an integer is not content.
func (e *encoder) float(value float64) {
	const exact = 1 << 53 // beyond it a float64 no longer distinguishes neighbouring integers
	if value == math.Trunc(value) && math.Abs(value) < exact {
		e.buffer = strconv.AppendInt(e.buffer, int64(value), 10)
		return
	}
	e.buffer = strconv.AppendFloat(e.buffer, value, 'g', -1, 64)
}

func (e *encoder) foreign(value any) {
	data, err := json.Marshal(value)
	var decoded any
	if err == nil {
		err = json.Unmarshal(data, &decoded)
	}
	if err != nil { // no JSON (a channel, NaN): nothing that could be applied either, so any stable text will do
		e.text(fmt.Sprintf("%T: %v", value, err))
		return
	}
	e.value(decoded)
}

// text writes a JSON string. Bytes that need no escape are copied as they are, so different strings never look the same.
func (e *encoder) text(text string) {
	const hexDigits = "0123456789abcdef"
	e.buffer = append(e.buffer, '"')
	plain := 0
	for at := range len(text) {
		char := text[at]
		if char >= ' ' && char != '"' && char != '\\' {
			continue
		}
		e.buffer = append(e.buffer, text[plain:at]...)
		e.buffer = append(e.buffer, '\\', 'u', '0', '0', hexDigits[char>>4], hexDigits[char&0xf])
		plain = at + 1
	}
	e.buffer = append(e.buffer, text[plain:]...)
	e.buffer = append(e.buffer, '"')
}
