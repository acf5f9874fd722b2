package server

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// offline returns a dashboard where ada has logged in at a provider that issues refresh tokens. Her first ID token lasts 30 minutes, the
// next ones 90; later moves the clock that tokens are checked by.
func offline(t *testing.T, change ...func(*identityProvider)) (s *site, p *identityProvider, later func(time.Duration)) {
	t.Helper()
	s, p = openWithProvider(t)
	p.set(func() {
		p.offline = true
		for _, f := range change {
			f(p)
		}
	})
	var ahead atomic.Int64
	s.server.provider.now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	eventually(t, time.Minute, "the API server trusts the provider", func() bool {
		s.browser()
		s.http.Transport = p.Client().Transport
		_, location := s.follow(s.toCallback())
		return location == "/"
	})
	return s, p, func(d time.Duration) { ahead.Store(int64(d)) }
}

// reads sends a request that reads from the API server as the user each time, and returns the status.
func (s *site) reads() int {
	s.Helper()
	u := s.currentUser()
	if u == nil {
		return s.do(http.MethodGet, "/api/v1/overview", "").status
	}
	u.mutex.Lock()
	u.rights, u.memories = nil, nil
	u.mutex.Unlock()
	return s.do(http.MethodGet, "/api/v1/overview", "").status
}

// currentUser returns the logged-in user, nil if there is none.
func (s *site) currentUser() *User {
	s.server.sessions.mutex.Lock()
	defer s.server.sessions.mutex.Unlock()
	for _, one := range s.server.sessions.all {
		return one.user
	}
	return nil
}

func (p *identityProvider) renewals() (n int) {
	p.set(func() { n = p.refreshed })
	return n
}

func (s *site) tellsNothing() {
	s.Helper()
	for _, secret := range []string{"eyJ", dashboardSecret, refreshSecret, "secret details"} {
		if strings.Contains(s.logs.String(), secret) {
			s.Errorf("%q is in the log: %s", secret, s.logs)
		}
	}
}

func TestRenewal_ALoginIsRenewedWhileItLasts(t *testing.T) {
	s, p, later := offline(t)
	if status := s.reads(); status != http.StatusOK || p.renewals() != 0 {
		t.Fatalf("a fresh login: status %d after %d renewals", status, p.renewals())
	}
	later(31 * time.Minute)
	for range 3 {
		if status := s.reads(); status != http.StatusOK {
			t.Fatalf("after the end of the first token: status %d; log: %s", status, s.logs)
		}
	}
	if p.renewals() != 1 {
		t.Errorf("it was renewed %d times", p.renewals())
	}
	later(89*time.Minute + 30*time.Second)
	if status := s.reads(); status != http.StatusOK || p.renewals() != 2 {
		t.Errorf("with the refresh token that came with the second: status %d after %d renewals", status, p.renewals())
	}
	if is := get[sessionAnswer](s, "/api/v1/session"); is.User != "oidc:ada" {
		t.Errorf("logged in as %+v", is)
	}
	s.tellsNothing()
}

func TestRenewal_WithoutARefreshTokenTheSessionEndsWithItsToken(t *testing.T) {
	s, p := openWithProvider(t)
	eventually(t, time.Minute, "the API server trusts the provider", func() bool {
		_, location := s.follow(s.toCallback())
		return location == "/"
	})
	s.server.sessions.mutex.Lock()
	defer s.server.sessions.mutex.Unlock()
	for _, one := range s.server.sessions.all {
		if left := time.Until(one.until); left > 31*time.Minute || left < 25*time.Minute || p.renewals() != 0 {
			t.Errorf("it lasts %s", left)
		}
	}
}

func TestRenewal_ARefusalEndsTheSession(t *testing.T) {
	for sentence, change := range map[string]func(*identityProvider){
		"the provider refuses the renewal":             func(p *identityProvider) { p.trouble = http.StatusBadRequest },
		"the provider no longer knows the dashboard":   func(p *identityProvider) { p.trouble = http.StatusUnauthorized },
		"the answer is of another user":                func(p *identityProvider) { p.twist = func(c map[string]any) { c["sub"] = "eve" } },
		"the answer has no ID token":                   func(p *identityProvider) { p.twist = func(c map[string]any) { c["sub"] = "" } },
		"the answer is for another client, at the end": func(p *identityProvider) { p.twist = func(c map[string]any) { c["aud"] = "other" } },
	} {
		t.Run(sentence, func(t *testing.T) {
			s, p, later := offline(t)
			p.set(func() { change(p) })
			later(31 * time.Minute)
			if status := s.reads(); status != http.StatusUnauthorized {
				t.Errorf("status %d", status)
			}
			if s.currentUser() != nil || get[sessionAnswer](s, "/api/v1/session").LoggedIn {
				t.Error("the session goes on")
			}
			s.tellsNothing()
		})
	}
}

func TestRenewal_AProviderInTroubleEndsNothing(t *testing.T) {
	s, p, later := offline(t)
	p.set(func() { p.trouble = http.StatusServiceUnavailable })
	later(29*time.Minute + 30*time.Second)
	if status := s.reads(); status != http.StatusOK {
		t.Errorf("while the token lasts: status %d", status)
	}
	later(31 * time.Minute)
	if status := s.reads(); status != http.StatusBadGateway {
		t.Errorf("when it is over: status %d", status)
	}
	p.set(func() { p.trouble = 0 })
	later(32 * time.Minute)
	if status := s.reads(); status != http.StatusOK || p.renewals() != 1 {
		t.Errorf("when the provider answers again: status %d after %d renewals", status, p.renewals())
	}
	s.tellsNothing()
}

func TestRenewal_NobodyRenewsForWhoHasLoggedOut(t *testing.T) {
	s, p, later := offline(t)
	u := s.currentUser()
	s.sends(http.MethodDelete, "/api/v1/session", "", http.StatusNoContent)
	later(31 * time.Minute)
	if _, err := s.server.identify(t.Context(), u.Config); problemOf(err).Status != http.StatusUnauthorized || p.renewals() != 0 {
		t.Errorf("got %v after %d renewals", err, p.renewals())
	}
}
