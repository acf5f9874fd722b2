package podlogs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestHarmless(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"plain":                     {"a\tb <script>", "a\tb <script>"},
		"umlauts and emoji":         {"Grüße 🚀", "Grüße 🚀"},
		"colors":                    {"\x1b[1;31mred\x1b[0m!", "red!"},
		"a title of the terminal":   {"\x1b]0;owned\x07text", "text"},
		"a link of the terminal":    {"\x1b]8;;https://evil.example.com\x1b\\here\x1b]8;;\x1b\\", "here"},
		"a sequence without an end": {"\x1b]0;the rest stays", "0;the rest stays"},
		"a color without an end":    {"a\x1b[31", "a"},
		"two characters":            {"\x1bc\x1b=x", "x"},
		"an escape alone":           {"a\x1b", "a␛"},
		"C1 controls":               {"a\u009b31mb\u0085c", "ab<U+0085>c"},
		"control characters":        {"a\x00b\rc\bd\x7f", "a␀b␍c␈d␡"},
		"text that is turned round": {"a\u202eb\u2066c\u200bd\ufeff", "a<U+202E>b<U+2066>c<U+200B>d<U+FEFF>"},
		"line separators":           {"a\u2028b", "a<U+2028>b"},
		"invalid UTF-8":             {"a\xff\xc3b", "a\uFFFD\uFFFDb"},
	} {
		if got := Harmless(test.text); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestLines(t *testing.T) {
	var l Lines
	var got []string
	for _, part := range []string{"one\ntw", "o\r\n", "\n", strings.Repeat("x", MostLine+5), "yy\nlast"} {
		got = append(got, l.Add([]byte(part))...)
	}
	got = append(got, l.End()...)
	if len(got) != 5 || got[0] != "one" || got[1] != "two" || got[2] != "" || got[4] != "last" ||
		got[3] != strings.Repeat("x", MostLine)+"… (7 more bytes)" {
		t.Errorf("%.60q", got)
	}
	if l.End() != nil {
		t.Error("the last line comes twice")
	}
}

// FuzzLines: whatever a container prints, in whatever pieces, lines are bounded, valid, and without anything that a terminal or a page would
// obey; and the pieces make no difference.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\x1b[31mb\xff\n\u202e"), 3)
	f.Add([]byte("\x1b]0;x\x07\x1b\x1b[["), 1)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		step = max(1, step%64)
		var whole, pieces Lines
		all := append(whole.Add(data), whole.End()...)
		var again []string
		for at := 0; at < len(data); at += step {
			again = append(again, pieces.Add(data[at:min(len(data), at+step)])...)
		}
		again = append(again, pieces.End()...)
		if strings.Join(all, "\n") != strings.Join(again, "\n") || len(all) != len(again) {
			t.Fatalf("%q in pieces of %d is %q", all, step, again)
		}
		for _, line := range all {
			bad := func(r rune) bool { return r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
			if !utf8.ValidString(line) || strings.ContainsFunc(line, bad) || len(line) > 10*MostLine {
				t.Fatalf("%q", line)
			}
		}
	})
}

func TestMoment(t *testing.T) {
	for line, want := range map[string][2]string{
		"2026-01-02T03:04:05.123456789Z a b": {"2026-01-02T03:04:05.123456789Z", "a b"},
		"2026-01-02T03:04:05+02:00 ":         {"2026-01-02T03:04:05+02:00", ""},
		"no time":                            {"", "no time"},
		"":                                   {"", ""},
	} {
		if at, text := Moment(line); at != want[0] || text != want[1] {
			t.Errorf("%q: %q, %q", line, at, text)
		}
	}
}

func TestCopy(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errors.New("reset")))
	for name, test := range map[string]struct {
		log  io.Reader
		most int64
		end  End
		want string
	}{
		"to its end":                     {strings.NewReader("a\nb"), 100, EndComplete, "a b"},
		"to the bound":                   {strings.NewReader("aaa\nbbb\nccc\n"), 6, EndBytes, "aaa bb"},
		"to where the connection breaks": {broken, 100, EndBroken, "a b"},
		"nothing":                        {strings.NewReader(""), 100, EndComplete, ""},
	} {
		var got []string
		end, err := Copy(t.Context(), test.log, test.most, func(lines []string) error {
			got = append(got, lines...)
			return nil
		})
		if text := strings.Join(got, " "); err != nil || end != test.end || text != test.want {
			t.Errorf("%s: %s, %q, %v", name, end, text, err)
		}
	}
}

// flood prints without end.
type flood struct{ read int }

func (f *flood) Read(into []byte) (int, error) {
	f.read += len(into)
	return copy(into, bytes.Repeat([]byte("x\n"), len(into)/2+1)), nil
}

func TestCopy_HasARateAndEnds(t *testing.T) {
	ctx, end := context.WithTimeout(t.Context(), 5*pace)
	defer end()
	log := &flood{}
	why, err := Copy(ctx, log, 1<<30, func([]string) error { return nil })
	if err != nil || why != EndTime || log.read > 7*step {
		t.Errorf("%s after %d bytes: %v", why, log.read, err)
	}
	gone := errors.New("gone")
	if _, err = Copy(t.Context(), &flood{}, 1<<30, func([]string) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("it goes on without a reader: %v", err)
	}
}

func TestOptions(t *testing.T) {
	q := Query{Container: "c", Previous: true, Tail: 7, Since: 90 * time.Second, Bytes: 100}
	o := q.options()
	if o.Container != "c" || !o.Previous || *o.TailLines != 7 || *o.SinceSeconds != 90 || *o.LimitBytes != 100 || !o.Timestamps {
		t.Errorf("%+v", o)
	}
	q = Query{Follow: true, Bytes: 100}
	if o = q.options(); !o.Follow || o.LimitBytes != nil || o.TailLines != nil || o.SinceSeconds != nil {
		t.Errorf("%+v", o)
	}
}
