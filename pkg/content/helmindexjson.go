package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// maxEntry is the maximum size of one version of a chart in JSON, in bytes; most of it is descriptions.
const maxEntry = 1 << 20

// jsonIndex returns the versions of one chart from an index in JSON, and skips everything else in place: a decoded index takes 50 times its
// size. understood is false if the text is not JSON that lists charts; listed reports whether the chart is among them.
func jsonIndex(data []byte, chart string) (found []indexEntry, listed, understood bool, err error) {
	walk := &jsonWalk{data: data}
	complete := walk.members(func(key []byte) bool {
		if !isText(key, "entries") {
			return walk.skip()
		}
		understood = true
		return walk.members(func(key []byte) bool {
			if !isText(key, chart) {
				return walk.skip()
			}
			found, listed = nil, true
			return walk.elements(func() bool {
				begin := walk.at
				if !walk.skip() {
					return false
				}
				if len(found) >= maxVersions {
					err = tooManyVersions(chart)
					return false
				}
				if walk.at-begin > maxEntry {
					return true
				}
				entry, ok := jsonEntry(data[begin:walk.at])
				found = append(found, entry)
				return ok
			})
		})
	})
	if err != nil {
		return nil, true, true, err
	}
	walk.space()
	if !complete || walk.at < len(data) || !understood {
		return nil, false, false, nil
	}
	return found, listed, true, nil
}

// jsonEntry decodes one version, if it is JSON; it ignores fields of an unexpected type.
func jsonEntry(data []byte) (entry indexEntry, ok bool) {
	var read struct {
		Version json.RawMessage   `json:"version"`
		URLs    []json.RawMessage `json:"urls"`
		Digest  json.RawMessage   `json:"digest"`
	}
	if _, malformed := errors.AsType[*json.SyntaxError](json.Unmarshal(data, &read)); malformed {
		return entry, false
	}
	entry = indexEntry{Version: jsonText(read.Version), Digest: jsonText(read.Digest)}
	for _, url := range read.URLs[:min(len(read.URLs), 1)] { // of which no other one is looked at
		entry.URLs = append(entry.URLs, jsonText(url))
	}
	return entry, true
}

// isText reports whether raw is a JSON string with that text. Most are rejected without being decoded.
func isText(raw []byte, text string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return len(raw) == len(text)+2 && string(raw[1:len(raw)-1]) == text
	}
	return len(raw) <= maxEntry && jsonText(raw) == text
}

// jsonText returns a string, or a number as written: an author who forgot the quotes meant the same.
func jsonText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if _, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return string(raw)
	}
	return ""
}

// jsonWalk scans JSON without decoding it. Each step reports whether it found what it expected; otherwise the text cannot be read by this
// method.
type jsonWalk struct {
	data []byte
	at   int
}

func (w *jsonWalk) space() {
	for w.at < len(w.data) && strings.IndexByte(" \t\r\n", w.data[w.at]) >= 0 {
		w.at++
	}
}

// next skips space and consumes one character.
func (w *jsonWalk) next(want byte) bool {
	w.space()
	if w.at >= len(w.data) || w.data[w.at] != want {
		return false
	}
	w.at++
	return true
}

// members calls value for every member of an object, with the name as written; value must consume the member's value.
func (w *jsonWalk) members(value func(key []byte) bool) bool {
	return w.all('{', '}', func() bool {
		w.space()
		begin := w.at
		if w.at >= len(w.data) || w.data[w.at] != '"' || !w.skip() {
			return false
		}
		key := w.data[begin:w.at]
		return w.next(':') && value(key)
	})
}

// elements calls value for every element of an array; value must consume the element.
func (w *jsonWalk) elements(value func() bool) bool {
	return w.all('[', ']', func() bool {
		w.space()
		return value()
	})
}

// all calls each for everything between two brackets.
func (w *jsonWalk) all(open, end byte, each func() bool) bool {
	if !w.next(open) {
		return false
	}
	if w.next(end) {
		return true
	}
	for each() {
		if w.next(end) {
			return true
		}
		if !w.next(',') {
			return false
		}
	}
	return false
}

// skip consumes one value.
func (w *jsonWalk) skip() bool {
	w.space()
	depth, begin := 0, w.at
	for w.at < len(w.data) {
		switch w.data[w.at] {
		case '"':
			if !w.skipText() {
				return false
			}
			if depth == 0 {
				return true
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of what the value stands in
				return w.at > begin
			}
			if depth--; depth == 0 {
				w.at++
				return true
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return w.at > begin
			}
		}
		w.at++
	}
	return false
}

// skipText consumes a string.
func (w *jsonWalk) skipText() bool {
	for w.at++; w.at < len(w.data); w.at++ {
		switch w.data[w.at] {
		case '\\':
			w.at++
		case '"':
			w.at++
			return true
		}
	}
	return false
}
