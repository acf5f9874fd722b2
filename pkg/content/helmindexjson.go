package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// maxEntry is how many bytes of JSON one version of a chart may have; descriptions are the longest of it.
const maxEntry = 1 << 20

// jsonIndex reads the versions of one chart out of an index that is JSON, and walks over everything else where it stands: an index decoded
// as a whole takes 50 times its size. understood is false where the text is no JSON that lists charts; listed says that the chart is among
// them.
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

// jsonEntry reads one version, if it is JSON; what has another type than it should have is left out.
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

// isText says whether raw is a JSON string of that text. Most are seen not to be without being decoded.
func isText(raw []byte, text string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return len(raw) == len(text)+2 && string(raw[1:len(raw)-1]) == text
	}
	return len(raw) <= maxEntry && jsonText(raw) == text
}

// jsonText is a string, or a number as it is written: an author who forgot the quotes meant the same.
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

// jsonWalk goes over JSON without making anything of it. Each of its steps says whether it found what it should; where it did not, the text
// is none that is to be read this way.
type jsonWalk struct {
	data []byte
	at   int
}

func (w *jsonWalk) space() {
	for w.at < len(w.data) && strings.IndexByte(" \t\r\n", w.data[w.at]) >= 0 {
		w.at++
	}
}

// next takes one character, after space.
func (w *jsonWalk) next(want byte) bool {
	w.space()
	if w.at >= len(w.data) || w.data[w.at] != want {
		return false
	}
	w.at++
	return true
}

// members calls value at the value of every member of an object, with the name as it is written; value has to go over the value.
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

// elements calls value at every element of an array; value has to go over it.
func (w *jsonWalk) elements(value func() bool) bool {
	return w.all('[', ']', func() bool {
		w.space()
		return value()
	})
}

// all calls each at everything between two brackets.
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

// skip goes over one value.
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

// skipText goes over a string.
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
