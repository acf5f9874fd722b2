package assignment

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAssignment_DecodesWhatItEncoded(t *testing.T) {
	table := shares(20, 40)
	table[3].Next = "c"
	table[63].Next = "c" // no one's until now
	text := table.Encode()
	got, err := Decode(text)
	if err != nil || got != table {
		t.Errorf("read %v, %v from %s", got, err, text)
	}
	if again := got.Encode(); again != text {
		t.Errorf("spelled %s, and then %s", text, again)
	}
	if names := table.Names(); !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("names are %v", names)
	}
	if len(text) > 1000 {
		t.Errorf("a table of %d bytes", len(text))
	}
}

func TestDecode_RefusesInvalidAssignment(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"it is no JSON":                       {"nonsense", "cannot be read"},
		"it is empty":                         {"", "cannot be read"},
		"two replicas own one bucket":         {`{"owner":{"a":[1,2],"b":[2]}}`, "gives bucket 2 to"},
		"one replica owns one bucket twice":   {`{"owner":{"a":[1,1]}}`, "gives bucket 1 to"},
		"there is no such bucket":             {`{"owner":{"a":[64]}}`, "there is no such bucket"},
		"there is no negative bucket":         {`{"owner":{"a":[-1]}}`, "there is no such bucket"},
		"no one owns a bucket":                {`{"owner":{"":[1]}}`, "no such replica"},
		"two replicas are next in one bucket": {`{"owner":{"a":[1]},"next":{"b":[1],"c":[1]}}`, "gives bucket 1 to"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("refused with %v, want %q", err, test.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, table := range []Assignment{{}, shares(64), shares(22, 21, 21)} {
		f.Add(table.Encode())
	}
	f.Add(`{"owner":{"a":[1,2],"b":[2]}}`)
	f.Add(`{"owner":{"a":[64]},"next":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Decode(text)
		if err != nil {
			return
		}
		again, err := Decode(table.Encode())
		if err != nil || again != table {
			t.Errorf("%q is read as %v, which is written so that it is read as %v, %v", text, table, again, err)
		}
	})
}

func TestHeartbeatObserver_MeasuresUnchangedTime(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var book HeartbeatObserver
	book.Observe(at(0), map[string]string{"old": "1", "live": "1"}, "missing")
	book.Observe(at(2), map[string]string{"old": "1", "live": "2", "new": "1"}, "missing")
	book.Observe(at(4), map[string]string{"old": "1", "live": "3"}, "missing")
	for name, test := range map[string]struct {
		still time.Duration
		moved bool
	}{
		"old":     {10 * time.Second, false}, // it may have been dead before
		"live":    {6 * time.Second, true},
		"new":     {6 * time.Second, true}, // since it is gone
		"missing": {10 * time.Second, false},
		"unknown": {0, false},
	} {
		if got := book.Unchanged(name, at(10)); got != test.still {
			t.Errorf("%s is unchanged for %s, want %s", name, got, test.still)
		}
		if got := book.Moved(name); got != test.moved {
			t.Errorf("%s moved: %v, want %v", name, got, test.moved)
		}
	}
	if got := book.Unchanged("live", at(0)); got != 0 {
		t.Errorf("before it was observed it is unchanged for %s", got)
	}
	book.Forget(func(_ string, there bool) bool { return !there })
	if names := book.Names(); !slices.Equal(names, []string{"live", "old"}) {
		t.Errorf("known are %v", names)
	}
}
