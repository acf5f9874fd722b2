package excerpt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		most int
		want string
	}{
		"a text that fits is whole":            {"abcd", 4, "abcd"},
		"the ellipsis counts":                  {"abcdefgh", 7, "abcd…"},
		"characters stay whole":                {"ääää", 7, "ää…"},
		"invalid UTF-8 becomes question marks": {"a\xffb", 9, "a?b"},
		"a bound below the ellipsis leaves it": {"abcdefgh", 2, "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := excerpt.Cut(c.text, c.most); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPair(t *testing.T) {
	long := strings.Repeat("abcdefghij", 5)
	for name, c := range map[string]struct{ before, after, was, is string }{
		"short ones are whole":                           {"one", "two", "one", "two"},
		"of a long beginning the end is shown":           {long + "1", long + "2", "…ghij1", "…ghij2"},
		"texts that differ at once keep their beginning": {"x" + long, "y", "xabcdefghijab…", "y"},
		"an absent text leaves the other's beginning":    {long, "", "abcdefghijabc…", ""},
		"a difference far back may be cut again":         {long + "1" + long, long + "2", "…ghij1abcde…", "…ghij2"},
	} {
		t.Run(name, func(t *testing.T) {
			if was, is := excerpt.Pair(c.before, c.after, 16); was != c.was || is != c.is {
				t.Errorf("got %q and %q, want %q and %q", was, is, c.was, c.is)
			}
		})
	}
}

func FuzzPair(f *testing.F) {
	f.Add("ääääääääääääää1", "ääääääääääääää2", 9)
	f.Add("\xff\xfe", "a", 3)
	f.Fuzz(func(t *testing.T, before, after string, most int) {
		most = min(max(most, 0), 200)
		was, is := excerpt.Pair(before, after, most)
		for _, text := range []string{was, is} {
			if len(text) > max(most, len(excerpt.Ellipsis)) || !utf8.ValidString(text) {
				t.Errorf("%q has more than %d bytes, or is no UTF-8", text, most)
			}
		}
		if was == is && most >= 24 && strings.ToValidUTF8(before, "?") != strings.ToValidUTF8(after, "?") {
			t.Errorf("both look alike: %q", was)
		}
	})
}
