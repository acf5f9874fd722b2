package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestPending_ManyLoginsAtTheProviderKeepNobodyOut: logins that began before and after them still work.
func TestPending_ManyLoginsAtTheProviderKeepNobodyOut(t *testing.T) {
	s, p := openWithProvider(t)
	const many = 1200
	comesBack := func(sentence, back string) {
		if _, location := s.follow(back); location == "/login?error="+loginExpired {
			t.Errorf("%s may not log in any more", sentence)
		}
	}
	first := s.toCallback()
	pages := s.server.Handler()
	for range many {
		out := httptest.NewRecorder()
		pages.ServeHTTP(out, httptest.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/auth/login", http.NoBody))
		if out.Code != http.StatusFound || !strings.HasPrefix(out.Header().Get("Location"), p.URL) {
			t.Fatalf("status %d, leads to %q", out.Code, out.Header().Get("Location"))
		}
	}
	comesBack("who began before them", first)
	s.browser()
	s.http.Transport = p.Client().Transport
	comesBack("who began after them", s.toCallback())
}

func TestTicketsOfLogins(t *testing.T) {
	now := time.Now()
	p := newProvider(OIDC{}, func() time.Time { return now })
	other := newProvider(OIDC{}, func() time.Time { return now })
	ticket, another := p.newTicket(), p.newTicket()
	one := p.pendingOf(ticket)
	text, _, _ := strings.Cut(ticket, ".")
	for name, c := range map[string]struct {
		state, ticket string
		after         time.Duration
		want          bool
	}{
		"its own":                        {one.state, ticket, 0, true},
		"its own, just in time":          {one.state, ticket, loginLasts - 2*time.Second, true},
		"too late":                       {one.state, ticket, loginLasts, false},
		"with a later end":               {one.state, text + ".99999999999", 0, false},
		"with a later end, too late":     {one.state, text + ".99999999999", loginLasts, false},
		"without an end":                 {p.derived("state", text), text, 0, false},
		"with an end that is no time":    {p.derived("state", text+".x"), text + ".x", 0, false},
		"of another login":               {one.state, another, 0, false},
		"with the nonce as state":        {one.nonce, ticket, 0, false},
		"of another server":              {other.pendingOf(ticket).state, ticket, 0, false},
		"a browser without a ticket":     {one.state, "", 0, false},
		"neither a state nor a ticket":   {"", "", 0, false},
		"no state":                       {"", ticket, 0, false},
		"the state of an empty ticket":   {p.derived("state", ""), "", 0, false},
		"the ticket itself as the state": {ticket, ticket, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			begun := now
			defer func() { now = begun }()
			now = now.Add(c.after)
			got, is := p.take(c.state, c.ticket)
			if is != c.want || is && got != one {
				t.Errorf("it is taken: %t", is)
			}
		})
	}
	if len(one.verifier) < 43 || one.state == one.nonce || one.nonce == one.verifier || strings.Contains(ticket, one.verifier) {
		t.Errorf("the login of ticket %s is %+v", ticket, one)
	}
}
