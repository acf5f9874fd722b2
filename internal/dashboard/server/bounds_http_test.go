package server

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// waitsItsTurn takes all slots of a user, sends a request and releases the slots: the answer must not come before.
func waitsItsTurn(s *site, of *concurrency, ask func() reply) {
	s.Helper()
	name := s.currentUser().Name
	var back []func()
	for range of.ofOne {
		done, err := of.take(s.Context(), name)
		if err != nil {
			s.Fatal(err)
		}
		back = append(back, done)
	}
	answered := make(chan reply, 1)
	go func() { answered <- ask() }()
	eventually(s.T, 10*time.Second, "it stands in the queue", func() bool {
		of.mutex.Lock()
		defer of.mutex.Unlock()
		return of.queue[name].waiting == of.ofOne+1
	})
	select {
	case r := <-answered:
		s.Fatalf("it was not waited: %d %s", r.status, r.body)
	default:
	}
	for _, done := range back {
		done()
	}
	if r := <-answered; r.status != http.StatusOK {
		s.Errorf("after that: %d %s", r.status, r.body)
	}
	eventually(s.T, 10*time.Second, "the turn is given back", func() bool {
		of.mutex.Lock()
		defer of.mutex.Unlock()
		return len(of.queue) == 0 && len(of.all) == 0
	})
}

func TestPreviewsOverHTTPTakeTurns(t *testing.T) {
	s := open(t, ModeLocal, acting(t, "bound-previews"))
	s.offers("bound-previews")
	s.enter()
	deed := strings.Replace(addPapers, "acts/", "bound-previews/", 1)
	waitsItsTurn(s, s.server.previews, func() reply { return s.do(http.MethodPost, "/api/v1/previews", deed) })
}

func TestLinksAreReadInTurns(t *testing.T) {
	server, _, asked := publisher(t)
	s := open(t, ModeLocal, (&site{}).trust(server))
	s.lamps("bound-links", server.URL+"/m.yaml")
	s.enter()
	eventually(t, 10*time.Second, "it can be had", func() bool {
		return s.do(http.MethodGet, "/api/v1/catalog/lamps?namespace=bound-links", "").status == http.StatusOK
	})
	waitsItsTurn(s, s.server.links, func() reply {
		return s.do(http.MethodGet, "/api/v1/catalog/lamps/resource?namespace=bound-links", "")
	})
	if asked.Load() == 0 {
		t.Error("nothing was read")
	}
}

func TestBoundsHTTP_ThereAreNotManyStreamsInAll(t *testing.T) {
	s := open(t, ModeLocal)
	s.enter()
	s.server.living.Store(mostLive)
	r := s.do(http.MethodGet, streamPath+"?q=/api/v1/session", "")
	if r.status != http.StatusTooManyRequests || !strings.Contains(r.problem(t).Message, strconv.Itoa(mostLive)) {
		t.Errorf("one more: %d %s", r.status, r.body)
	}
	if n := s.server.living.Load(); n != mostLive {
		t.Errorf("the refused one counts: %d", n)
	}
	s.server.living.Store(mostLive - 1)
	s.until(s.listen("/api/v1/session"), 10*time.Second, "the last one", func(message) bool { return true })
}

func TestHeadersAreShort(t *testing.T) {
	s := open(t, ModeLocal)
	long := func(r *http.Request) { r.Header.Set("X-Long", strings.Repeat("x", 48<<10)) }
	if r := s.do(http.MethodGet, "/api/v1/session", "", long); r.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("48 KiB of headers: %d", r.status)
	}
}

func TestBoundsHTTP_ABodyOverHTTPIsShort(t *testing.T) {
	s := open(t, ModeLocal, acting(t, "bound-bodies"))
	s.enter()
	long := `{"kind":"` + strings.Repeat("x", mostBody) + `"}`
	for _, path := range []string{"/api/v1/session", "/api/v1/previews", "/api/v1/operations", "/api/v1/sources", "/api/v1/sources/test"} {
		if r := s.do(http.MethodPost, path, long); r.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

func TestBoundsHTTP_ThereAreNotManyWatches(t *testing.T) {
	w := &watches{streams: map[place]*watchStore{}, changed: func() {}}
	for i := range mostStreams {
		w.streams[place{GroupVersionKind: schema.GroupVersionKind{Kind: strconv.Itoa(i)}}] = &watchStore{}
	}
	if _, err := w.stream(&User{}, place{namespace: "one-more"}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v", err)
	}
}

func TestLittleIsRememberedOfAPerson(t *testing.T) {
	u := &User{}
	for i := range 3 * mostRecalled {
		u.memory(strconv.Itoa(i))
		if len(u.memories) > mostRecalled {
			t.Fatalf("%d answers", len(u.memories))
		}
	}
	if one := u.memory("last"); one != u.memory("last") {
		t.Error("nothing is remembered")
	}
}
