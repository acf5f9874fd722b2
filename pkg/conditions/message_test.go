package conditions_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

func TestCut(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, test := range []struct {
		name, message, want string
	}{
		{"a short message is kept", "all good", "all good"},
		{"an empty message is kept", "", ""},
		{"a message at the limit is kept", x(1024), x(1024)},
		{"characters count, not bytes", strings.Repeat("ü", 1024), strings.Repeat("ü", 1024)},
		{"a long message is cut at a word", x(1000) + " " + x(100), x(1000) + "…"},
		{"a word that ends at the cut is kept whole", x(1000) + " " + x(22) + " and more", x(1000) + " " + x(22) + "…"},
		{"no comma is left at the end", x(1000) + ", " + x(100), x(1000) + "…"},
		{"a message without words is cut anywhere", x(1025), x(1023) + "…"},
		{"a message with one early space does not lose most of its text", "failed: " + x(2000), "failed: " + x(1015) + "…"},
		{"a character of several bytes is not divided", strings.Repeat("ü", 1025), strings.Repeat("ü", 1023) + "…"},
		{"invalid UTF-8 is replaced", "a\xffb", "a\uFFFDb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := conditions.Cut(test.message); got != test.want {
				t.Errorf("got %d characters ending in %q, want %d ending in %q",
					utf8.RuneCountInString(got), end(got), utf8.RuneCountInString(test.want), end(test.want))
			}
		})
	}
}

func end(text string) string { return text[max(0, len(text)-20):] }

func FuzzCut(f *testing.F) {
	f.Add("word ", 300)
	f.Add("ü", 2000)
	f.Add("\xff", 1025)
	f.Fuzz(func(t *testing.T, piece string, times int) {
		message := strings.Repeat(piece, min(max(times, 0), 4000/(len(piece)+1)+1))
		got := conditions.Cut(message)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > conditions.MessageLimit {
			t.Fatalf("%d characters, valid %v", utf8.RuneCountInString(got), utf8.ValidString(got))
		}
		if conditions.Cut(got) != got {
			t.Fatal("cutting again changes it")
		}
	})
}

func TestNoteFitsIntoAnEvent(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a short text is kept":        {"all good", "all good"},
		"a text at the limit is kept": {strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		"bytes count, not characters": {strings.Repeat("ü", 600), strings.Repeat("ü", 510) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			got := conditions.Note(test.text)
			if got != test.want || len(got) > conditions.NoteLimit || !utf8.ValidString(got) {
				t.Errorf("%d bytes: %q", len(got), got)
			}
		})
	}
}
