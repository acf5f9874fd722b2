package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// cutAll reads a stream to its end.
func cutAll(src io.Reader, limit int) (objects []string, err error) {
	c := &Splitter{Max: limit}
	buf := make([]byte, 1000)
	for {
		n, err := src.Read(buf)
		wrong := c.Feed(buf[:n], func(object []byte) error {
			if object == nil {
				object = []byte("oversized")
			}
			objects = append(objects, string(object))
			return nil
		})
		switch {
		case wrong != nil:
			return objects, wrong
		case errors.Is(err, io.EOF):
			return objects, c.End()
		case err != nil:
			return objects, err
		}
	}
}

func TestSplitter_SplitsObjects(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 100_000) + `"}`
	cases := []struct {
		name   string
		stream string
		want   []string
		err    error
	}{
		{"an empty stream has no object", "", nil, io.EOF},
		{"white space alone is none either", " \n\r\t\n", nil, io.EOF},
		{"objects end by line breaks", "{}\n{\"a\":1}\n", []string{"{}", `{"a":1}`}, io.EOF},
		{"or by nothing at all", `{}{"a":1}{}`, []string{"{}", `{"a":1}`, "{}"}, io.EOF},
		{"a line break within an object does not end it", "{\n\"a\":\n1}\n{}", []string{"{\n\"a\":\n1}", "{}"}, io.EOF},
		{"braces in a text do not count", `{"a":"}{][\"}"}{}`, []string{`{"a":"}{][\"}"}`, "{}"}, io.EOF},
		{"a backslash before a quote may be one of two", `{"a":"\\"}{}`, []string{`{"a":"\\"}`, "{}"}, io.EOF},
		{"objects nest", `{"a":[{"b":{}},[]]} {}`, []string{`{"a":[{"b":{}},[]]}`, "{}"}, io.EOF},
		{"an object larger than any buffer", long + "\n{}", []string{long, "{}"}, io.EOF},
		{"a stream that ends within an object", `{}{"a":`, []string{"{}"}, io.ErrUnexpectedEOF},
		{"a stream that ends within a text", `{"a":"`, nil, io.ErrUnexpectedEOF},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for how, src := range map[string]io.Reader{
				"at once":      strings.NewReader(c.stream),
				"byte by byte": iotest.OneByteReader(strings.NewReader(c.stream)),
				"in halves":    iotest.HalfReader(strings.NewReader(c.stream)),
				"with its end": iotest.DataErrReader(strings.NewReader(c.stream)),
			} {
				got, err := cutAll(src, 1<<20)
				if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
					t.Errorf("%s: %v %s", how, err, diff)
				}
			}
		})
	}
}

func TestSplitter_RefusesNonObject(t *testing.T) {
	for _, stream := range []string{"[]", "1", "null", `"a"`, "{}\x00", "<html>", "{}]"} {
		if _, err := cutAll(strings.NewReader(stream), 1<<20); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", stream, err)
		}
	}
}

func TestSplitter_SkipsOversizedObject(t *testing.T) {
	big := `{"a":"` + strings.Repeat(`{\"`, 50_000) + `"}`
	for _, src := range []io.Reader{
		strings.NewReader(`{"n":1}` + big + `{"n":2}` + "\n" + big + "\n" + `{"n":3}`),
		iotest.HalfReader(strings.NewReader(`{"n":1}` + big + `{"n":2}` + "\n" + big + "\n" + `{"n":3}`)),
	} {
		got, err := cutAll(src, 40_000)
		want := []string{`{"n":1}`, "oversized", `{"n":2}`, "oversized", `{"n":3}`}
		if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, io.EOF) {
			t.Errorf("%v %s", err, diff)
		}
	}
}

func TestSplitter_IdleHoldsNoBuffer(t *testing.T) {
	c := &Splitter{Max: 1 << 20}
	object := `{"a":"` + strings.Repeat("x", 9_000) + `"}`
	for _, part := range []string{object + object[:5000], object[5000:] + "\n", `{"b":1}`} {
		if err := c.Feed([]byte(part), func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if c.carry != nil {
		t.Error("the buffer was kept")
	}
}

func TestSplitter_CallbackErrorStops(t *testing.T) {
	stop, seen := errors.New("stop"), 0
	c := &Splitter{Max: 1 << 20}
	err := c.Feed([]byte("{}{}{}"), func([]byte) error { seen++; return stop })
	if !errors.Is(err, stop) || seen != 1 {
		t.Fatalf("%v after %d", err, seen)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a"}}}`+"\n"+`{}`), uint64(1))
	f.Add([]byte(`{"a":"}\""}{`), uint64(2))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		got, err := cutAll(choppy{bytes.NewReader(stream), rand.New(rand.NewPCG(seed, 0))}, 1<<16)
		if err == nil {
			t.Fatal("no end")
		}
		// Input that is valid for encoding/json is split at the same places.
		dec := json.NewDecoder(bytes.NewReader(stream))
		for i := 0; ; i++ {
			var object json.RawMessage
			if dec.Decode(&object) != nil || object[0] != '{' {
				return
			}
			if i >= len(got) || got[i] != string(object) {
				t.Fatalf("object %d of %q: %q, want %q", i, stream, got, object)
			}
		}
	})
}

// choppy returns random amounts of bytes.
type choppy struct {
	src io.Reader
	rnd *rand.Rand
}

func (c choppy) Read(p []byte) (int, error) { return c.src.Read(p[:1+c.rnd.IntN(len(p))]) }
