package podlogs

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MostLine bounds a line, in bytes of what the container printed.
const MostLine = 16 << 10

// Lines cuts what a container prints into lines. The zero value is ready to use. It keeps at most one line.
type Lines struct {
	rest []byte
	// lost counts the bytes of a line beyond MostLine.
	lost int
}

// Add takes the next bytes, and returns the lines that are complete.
func (l *Lines) Add(data []byte) []string {
	var all []string
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			l.keep(data)
			break
		}
		l.keep(data[:end])
		all = append(all, l.line())
		data = data[end+1:]
	}
	return all
}

// End returns the last line if it is not complete; nothing else can follow.
func (l *Lines) End() []string {
	if len(l.rest) == 0 && l.lost == 0 {
		return nil
	}
	return []string{l.line()}
}

func (l *Lines) keep(data []byte) {
	fits := min(len(data), MostLine-len(l.rest))
	l.rest = append(l.rest, data[:fits]...)
	l.lost += len(data) - fits
}

func (l *Lines) line() string {
	text := Harmless(strings.TrimSuffix(string(l.rest), "\r"))
	if l.lost > 0 {
		text += fmt.Sprintf("… (%d more bytes)", l.lost)
	}
	l.rest, l.lost = l.rest[:0], 0
	return text
}

// Harmless returns a text that does nothing to who shows it: escape sequences of terminals are gone, other control characters become the
// pictures of Unicode for them, and characters that reorder or hide text become their code. Tabs stay.
func Harmless(text string) string {
	if isPlain(text) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == 0x1b || r == 0x9b {
			if end := escapeEnd(text[i:], r); end > 0 {
				i += end
				continue
			}
		}
		out.WriteString(pictureOf(r, size))
		i += size
	}
	return out.String()
}

// isPlain reports whether a text has printable ASCII and tabs only.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// pictureOf returns a harmless form of a character.
func pictureOf(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "\uFFFD"
	case r == '\t':
		return "\t"
	case r < ' ':
		return string(rune(0x2400) + r)
	case r == 0x7f:
		return "\u2421"
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return fmt.Sprintf("<U+%04X>", r)
	}
	return string(r)
}

// escapeEnd returns how long the escape sequence at the beginning of a text is, 0 if there is none: CSI (colors, the cursor), OSC (titles,
// links) with its siblings, and those of two characters.
func escapeEnd(text string, r rune) int {
	body := strings.TrimPrefix(text, string(r))
	begun := len(text) - len(body)
	kind := byte('[')
	if r == 0x1b {
		if body == "" {
			return 0
		}
		kind = body[0]
		body = body[1:]
		begun++
	}
	switch {
	case kind == '[':
		for i := range len(body) {
			if c := body[i]; c >= '@' && c <= '~' {
				return begun + i + 1
			} else if c < ' ' || c > '?' {
				return begun + i
			}
		}
		return len(text)
	case strings.IndexByte("]P_^X", kind) >= 0:
		if end := strings.IndexByte(body, 0x07); end >= 0 {
			return begun + end + 1
		}
		if end := strings.Index(body, "\x1b\\"); end >= 0 {
			return begun + end + 2
		}
		return begun // its end is missing: what follows is text
	case kind >= '0' && kind <= '~':
		return begun
	}
	return 0
}
