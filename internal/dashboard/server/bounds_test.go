package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestBounds_NobodyTakesTheSessionsOfOthers: many logins of one user end that user's oldest sessions.
func TestBounds_NobodyTakesTheSessionsOfOthers(t *testing.T) {
	now := time.Now()
	s := newSessions(func() time.Time { return now })
	other := s.start(&User{Name: "other"}, time.Time{})
	var mine []string
	for range mostOfOne + 3 {
		now = now.Add(time.Second)
		mine = append(mine, s.start(&User{Name: "busy"}, time.Time{}))
	}
	if s.find(other) == nil {
		t.Error("another user's session has ended")
	}
	for i, id := range mine {
		if there := s.find(id) != nil; there != (i >= 3) {
			t.Errorf("session %d of %d: there %v", i, len(mine), there)
		}
	}
}

func TestBounds_ASessionHasNotManyStreams(t *testing.T) {
	s := open(t, ModeLocal)
	s.enter()
	s.enter() // the session that this replaces does not count
	ask := func(ctx context.Context) (*http.Response, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+streamPath+"?q=/api/v1/session", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return s.http.Do(request)
	}
	ctx, done := context.WithCancel(t.Context())
	defer done()
	for range mostTabs {
		answer, err := ask(ctx)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer, err)
		}
		defer answer.Body.Close() // they stay open until the end of the test
	}
	if r := s.do(http.MethodGet, streamPath+"?q=/api/v1/session", ""); r.status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", r.status)
	}
	done()
	eventually(t, 10*time.Second, "closed streams count no more", func() bool {
		ctx, done := context.WithCancel(t.Context())
		defer done()
		answer, err := ask(ctx)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

func TestPreviewsTakeTurns(t *testing.T) {
	turns := newTurns(3, 2, "previews are made")
	waits := func(name string, patience time.Duration) bool {
		ctx, done := context.WithTimeout(t.Context(), patience)
		defer done()
		back, err := turns.take(ctx, name)
		if err == nil {
			back()
			return false
		}
		var told *Problem
		return errors.As(err, &told) && told.Status == http.StatusTooManyRequests
	}
	var back []func()
	for _, name := range []string{"one", "one", "two"} {
		done, err := turns.take(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, done)
	}
	const awhile, atOnce = 50 * time.Millisecond, time.Minute // a caller that need not wait may still be slow
	if !waits("one", awhile) || !waits("two", awhile) || !waits("three", awhile) {
		t.Error("a third of one person, or a fourth in all, does not wait")
	}
	back[0]()
	if waits("one", atOnce) || waits("three", atOnce) {
		t.Error("a turn that was given back is no one's")
	}
	back[1]()
	back[2]()
	if len(turns.queue) != 0 || len(turns.all) != 0 {
		t.Errorf("something is left: %v %d", turns.queue, len(turns.all))
	}
}

func TestBounds_WhatIsOldIsNamedToWhoMayListIt(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Lamp"}
	all := place{GroupVersionKind: kind}
	mine, hidden := place{GroupVersionKind: kind, namespace: "mine"}, place{GroupVersionKind: kind, namespace: "hidden"}
	broken := func() *watchStore { return &watchStore{err: errors.New("the line is dead"), since: time.Now()} }
	for sentence, c := range map[string]struct {
		shared bool
		scopes map[place]scope
		want   []string
	}{
		"a user with one namespace sees that one":    {false, map[place]scope{all: {namespaces: []string{"mine"}}}, []string{"mine"}},
		"a user with all namespaces sees all":        {false, map[place]scope{all: {all: true}}, []string{"", "hidden", "mine"}},
		"a request for one namespace shows that one": {false, map[place]scope{mine: {all: true}}, []string{"mine"}},
		"a user without permissions sees nothing":    {true, map[place]scope{all: {}}, nil},
		"a shared stream is read for a part, too":    {true, map[place]scope{all: {namespaces: []string{"mine"}}}, []string{"", "mine"}},
		"another kind shows nothing":                 {false, map[place]scope{{}: {all: true}}, nil},
	} {
		w := &watches{shared: func(schema.GroupKind) bool { return c.shared }, streams: map[place]*watchStore{
			all: broken(), mine: broken(), hidden: broken(),
		}}
		var got []string
		for _, u := range w.stale(c.scopes) {
			got = append(got, u.Namespace)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", sentence, got, c.want)
		}
	}
}

func TestBounds_NothingBeginsWithTheRightsOfAnEndedSession(t *testing.T) {
	w := &watches{streams: map[place]*watchStore{}, changed: func() {}}
	u := &User{Name: "gone"}
	w.forget(u)
	if _, err := w.stream(u, place{}); problemOf(err).Status != http.StatusUnauthorized || len(w.streams) != 0 {
		t.Errorf("got %v with %d streams", err, len(w.streams))
	}
}
