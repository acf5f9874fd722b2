package inventory

import (
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The prefixes of a FieldsHash: the operation with which our manager last wrote the object.
const (
	// FieldsCreated: by POST (or by an update), so the managed fields must be migrated before the first server-side apply.
	FieldsCreated = "u:"
	// FieldsApplied: by server-side apply.
	FieldsApplied = "a:"
)

// FieldsHash identifies the set of fields that manager owns in an object, "" when it owns none. When another client changes such a field,
// it takes ownership, so drift shows as another hash, and the metadata alone is enough to detect it. The time and API version of the
// entries and fields written through subresources do not count.
//
// The same set has several spellings: the API server sorts it in its own order, and an object that went through a Go map has another one.
// The hash is the same for all of them.
func FieldsHash(entries []metav1.ManagedFieldsEntry, manager string) string {
	var ours ownership
	for at := range entries {
		entry := &entries[at]
		if entry.Manager == manager && entry.Subresource == "" {
			ours.add(string(entry.Operation), hashFields(entry.FieldsV1))
		}
	}
	return ours.hash()
}

// ownership sums up the entries of one manager.
type ownership struct {
	sum                     uint64
	found, applied, updated bool
}

func (o *ownership) add(operation string, fields uint64) {
	o.found = true
	if operation == string(metav1.ManagedFieldsOperationApply) {
		o.applied = true
	} else {
		o.updated = true
	}
	o.sum += mix(hashText(operation) ^ fields)
}

func (o *ownership) hash() string {
	switch {
	case !o.found:
		return ""
	case o.applied && !o.updated:
		return FieldsApplied + hexOf(o.sum)
	default:
		return FieldsCreated + hexOf(o.sum)
	}
}

func hashFields(fields *metav1.FieldsV1) uint64 {
	if fields == nil {
		return fnvOffset
	}
	raw := fields.GetRawBytes()
	s := scanner{data: raw}
	sum, ok := s.object(0)
	if s.space(); ok && s.at == len(raw) {
		return sum
	}
	// An API server does not write this. A hash of its bytes still shows whether it changed.
	return mix(hashText(string(raw)))
}

// maxDepth of a field set. No schema comes near it; it bounds the stack for hostile input.
const maxDepth = 256

// scanner reads the nested objects of a field set, a tree of keys with {} as leaves, and hashes them as it reads. It allocates nothing,
// because it handles every metadata event of every object. Members are combined by addition, so their order does not matter.
type scanner struct {
	data []byte
	at   int
}

// object reads {"key":{…},…}; false when it is something else.
func (s *scanner) object(depth int) (sum uint64, ok bool) {
	if depth > maxDepth || !s.skip('{') {
		return 0, false
	}
	sum = fnvOffset
	if s.skip('}') {
		return mix(sum), true
	}
	for {
		key, ok := s.key()
		if !ok || !s.skip(':') {
			return 0, false
		}
		members, ok := s.object(depth + 1)
		if !ok {
			return 0, false
		}
		sum += mix(key ^ members*fnvPrime)
		if s.skip('}') {
			return mix(sum), true
		}
		if !s.skip(',') {
			return 0, false
		}
	}
}

// space skips white space.
func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// skip consumes the next character if it is the given one.
func (s *scanner) skip(char byte) bool {
	if s.space(); s.at < len(s.data) && s.data[s.at] == char {
		s.at++
		return true
	}
	return false
}

// key reads a string and hashes its decoded value, so that all ways to escape a character are equal.
func (s *scanner) key() (sum uint64, ok bool) {
	if !s.skip('"') {
		return 0, false
	}
	sum = fnvOffset
	for s.at < len(s.data) {
		char := s.data[s.at]
		s.at++
		switch {
		case char == '"':
			return mix(sum), true
		case char < ' ':
			return 0, false
		case char != '\\':
			sum = (sum ^ uint64(char)) * fnvPrime
		default:
			meant, ok := s.escape()
			if !ok {
				return 0, false
			}
			var text [utf8.UTFMax]byte
			for _, char := range text[:utf8.EncodeRune(text[:], meant)] {
				sum = (sum ^ uint64(char)) * fnvPrime
			}
		}
	}
	return 0, false
}

// escape reads what follows a backslash.
func (s *scanner) escape() (rune, bool) {
	if s.at >= len(s.data) {
		return 0, false
	}
	char := s.data[s.at]
	s.at++
	switch char {
	case '"', '\\', '/':
		return rune(char), true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'u':
		return s.unicode()
	}
	return 0, false
}

// unicode reads the digits of \u0000. A surrogate without its other half becomes a replacement character, as in encoding/json.
func (s *scanner) unicode() (rune, bool) {
	high, ok := s.digits()
	if !ok || !utf16.IsSurrogate(high) {
		return high, ok
	}
	back := s.at
	if s.at+1 < len(s.data) && s.data[s.at] == '\\' && s.data[s.at+1] == 'u' {
		s.at += 2
		if low, ok := s.digits(); ok {
			if meant := utf16.DecodeRune(high, low); meant != utf8.RuneError {
				return meant, true
			}
		}
	}
	s.at = back // the next escape is read on its own
	return utf8.RuneError, true
}

func (s *scanner) digits() (rune, bool) {
	if s.at+4 > len(s.data) {
		return 0, false
	}
	var value [2]byte
	if _, err := hex.Decode(value[:], s.data[s.at:s.at+4]); err != nil {
		return 0, false
	}
	s.at += 4
	return rune(value[0])<<8 | rune(value[1]), true
}

// FNV-1a with 64 bits. A cryptographic hash would protect nothing here: a client that can write an object can write its managed fields too.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

func hashText(text string) uint64 {
	sum := fnvOffset
	for at := range len(text) {
		sum = (sum ^ uint64(text[at])) * fnvPrime
	}
	return sum
}

// mix spreads every bit of a hash over all of its bits. Without it the sum of two hashes would often be that of two others.
func mix(sum uint64) uint64 {
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	sum *= 0xc4ceb9fe1a85ec53
	return sum ^ sum>>33
}

func hexOf(sum uint64) string {
	var value [hashBytes]byte
	for at := range value {
		value[at] = byte(sum >> (56 - 8*at))
	}
	return hex.EncodeToString(value[:])
}
